// kernels/stft.cpp - short-time power spectra and decibels.
#include "kernels/stft.h"

#include <fftw3.h>

#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/multiversion.h"
#include "kernels/stft_tables.h"

namespace spintag::kernels {
namespace {

struct FftwFree {
  void operator()(void* memory) const { fftwf_free(memory); }
};
using FftwBuffer = std::unique_ptr<float[], FftwFree>;

FftwBuffer allocate(std::size_t count) {
  FftwBuffer buffer(fftwf_alloc_real(count));
  if (!buffer) throw std::bad_alloc();
  return buffer;
}

/// FFTW's planner is one global that is not thread-safe; running a plan is.
std::mutex& planner_mutex() {
  static std::mutex mutex;
  return mutex;
}

struct PlanDestroy {
  void operator()(fftwf_plan_s* plan) const {
    const std::lock_guard lock(planner_mutex());
    fftwf_destroy_plan(plan);
  }
};
using Plan = std::unique_ptr<fftwf_plan_s, PlanDestroy>;

/// FFTW_MEASURE would run 10 to 25 % faster, but picks by stopwatch: two runs could differ in their
/// last bits.
Plan make_plan(std::size_t size, float* in, float* out) {
  const std::lock_guard lock(planner_mutex());
  Plan plan(fftwf_plan_dft_1d(static_cast<int>(size), reinterpret_cast<fftwf_complex*>(in),
                              reinterpret_cast<fftwf_complex*>(out), FFTW_FORWARD,
                              FFTW_ESTIMATE | FFTW_DESTROY_INPUT));
  if (!plan) throw std::runtime_error("FFTW made no plan for " + std::to_string(size) + " points");
  return plan;
}

SPINTAG_CLONES void apply_window(const float* samples, const float* window, float* product,
                                 std::size_t count) {
  for (std::size_t n = 0; n < count; ++n) product[n] = samples[n] * window[n];
}

/// Interleaved complex to two arrays, of which the first value comes again at the end (the
/// transform is periodic).
SPINTAG_CLONES void split(const float* __restrict interleaved, float* __restrict re,
                          float* __restrict im, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) {
    re[k] = interleaved[2 * k];
    im[k] = interleaved[2 * k + 1];
  }
  re[count] = re[0];
  im[count] = im[0];
}

/// Powers of bins [first, first + bins) of a real frame from Z, the transform of its even samples
/// plus i times its odd ones. With M the size of Z and W(k) = exp(-i pi k / M) = wr + i wi:
///   X(k) = E + W(k) O,  E = (Z(k) + conj Z(M - k)) / 2,  O = (Z(k) - conj Z(M - k)) / 2i.
/// The halves go into `factor` (a quarter of the power factor).
SPINTAG_CLONES void powers(const float* __restrict re, const float* __restrict im,
                           const float* __restrict wr, const float* __restrict wi, std::size_t size,
                           std::size_t first, std::size_t bins, float factor,
                           float* __restrict power) {
  const float* __restrict re_k = re + first;
  const float* __restrict im_k = im + first;
  const float* __restrict re_mirror = re + (size - first);
  const float* __restrict im_mirror = im + (size - first);
  for (std::ptrdiff_t k = 0; k < static_cast<std::ptrdiff_t>(bins); ++k) {
    const float even_re = re_k[k] + re_mirror[-k];
    const float even_im = im_k[k] - im_mirror[-k];
    const float odd_re = im_k[k] + im_mirror[-k];
    const float odd_im = re_mirror[-k] - re_k[k];
    const float x_re = even_re + (wr[k] * odd_re - wi[k] * odd_im);
    const float x_im = even_im + (wr[k] * odd_im + wi[k] * odd_re);
    power[k] = (x_re * x_re + x_im * x_im) * factor;
  }
}

SPINTAG_CLONES void to_db(const float* power, float offset, float* db, std::size_t count) {
  constexpr float kSmallest = std::numeric_limits<float>::min();
  constexpr float kDbPerOctave = 3.01029995664F;     // 10 log10(2)
  constexpr float kDbPerNeper = 2 * 4.34294481903F;  // 2 * 10 / ln(10)
  constexpr std::uint32_t kSqrtHalf = 0x3F3504F3U;   // bits of sqrt(1/2)
  constexpr std::uint32_t kExponentMask = 0xFF800000U;
#pragma GCC ivdep  // in place is the only overlap allowed, and one value depends on no other
  for (std::size_t i = 0; i < count; ++i) {
    const float sum = power[i] + offset;
    const float value = sum > kSmallest ? sum : kSmallest;
    // value = 2^e m with m in [sqrt(1/2), sqrt(2)), so that ln m = 2 atanh(s), s = (m - 1) / (m +
    // 1), |s| <= 0.1716.
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t exponent = (bits - kSqrtHalf) & kExponentMask;
    const float e = static_cast<float>(static_cast<std::int32_t>(exponent) >> 23);
    const float m = std::bit_cast<float>(bits - exponent);
    const float s = (m - 1.0F) / (m + 1.0F);
    const float s2 = s * s;
    // atanh(s) = s + s^3/3 + s^5/5 + s^7/7; what is left out is below 2e-8 of a neper, 2e-7 dB.
    const float series = 1.0F + s2 * (1.0F / 3 + s2 * (1.0F / 5 + s2 * (1.0F / 7)));
    db[i] = kDbPerOctave * e + kDbPerNeper * s * series;
  }
}

}  // namespace

struct Stft::State {
  explicit State(const StftParams& p);

  StftParams params;
  std::size_t half;  ///< complex points of the transform: frame_samples / 2
  float factor = 0;
  std::vector<float> window;
  std::vector<float> twiddle_re;  ///< W(k) of the bins that are given out
  std::vector<float> twiddle_im;
  FftwBuffer input;
  FftwBuffer output;
  FftwBuffer re;
  FftwBuffer im;
  Plan plan;
};

Stft::State::State(const StftParams& p)
    : params(p),
      half(p.frame_samples / 2),
      input(allocate(p.frame_samples)),
      output(allocate(p.frame_samples)),
      re(allocate(half + 1)),
      im(allocate(half + 1)),
      plan(make_plan(half, input.get(), output.get())) {
  const std::vector<double> exact = stft_window(p);
  window.assign(exact.begin(), exact.end());
  factor = static_cast<float>(0.25 * stft_power_factor(p));
  for (std::size_t k = 0; k < p.bins; ++k) {
    const double angle =
        -std::numbers::pi * static_cast<double>(p.first_bin + k) / static_cast<double>(half);
    twiddle_re.push_back(static_cast<float>(std::cos(angle)));
    twiddle_im.push_back(static_cast<float>(std::sin(angle)));
  }
}

Stft::Stft(const StftParams& params) {
  check_stft(params);
  state_ = std::make_unique<State>(params);
}

Stft::~Stft() = default;
Stft::Stft(Stft&&) noexcept = default;
Stft& Stft::operator=(Stft&&) noexcept = default;

const StftParams& Stft::params() const { return state_->params; }

std::size_t Stft::frame_count(std::size_t samples) const {
  const StftParams& p = state_->params;
  return samples < p.frame_samples ? 0 : (samples - p.frame_samples) / p.hop_samples + 1;
}

void Stft::power_spectrum(const float* frame, float* power) {
  State& s = *state_;
  const StftParams& p = s.params;
  // A real frame read as complex numbers is half as many points: even samples real, odd ones
  // imaginary.
  apply_window(frame, s.window.data(), s.input.get(), p.frame_samples);
  fftwf_execute(s.plan.get());
  split(s.output.get(), s.re.get(), s.im.get(), s.half);
  powers(s.re.get(), s.im.get(), s.twiddle_re.data(), s.twiddle_im.data(), s.half, p.first_bin,
         p.bins, s.factor, power);
  if (p.scale == PowerScale::kDensity && p.bins > 0) {
    if (p.first_bin == 0) power[0] *= 0.5F;
    if (p.first_bin + p.bins == s.half + 1) power[p.bins - 1] *= 0.5F;
  }
}

std::size_t Stft::frames(std::span<const float> samples, std::span<float> power) {
  const StftParams& p = state_->params;
  const std::size_t count = frame_count(samples.size());
  if (power.size() < count * p.bins) {
    throw std::invalid_argument("room for " + std::to_string(power.size()) + " powers, but " +
                                std::to_string(count) + " frames have " +
                                std::to_string(count * p.bins));
  }
  for (std::size_t i = 0; i < count; ++i) {
    power_spectrum(samples.data() + i * p.hop_samples, power.data() + i * p.bins);
  }
  return count;
}

void power_to_db(std::span<const float> power, float offset, std::span<float> db) {
  assert(db.size() >= power.size());
  to_db(power.data(), offset, db.data(), power.size());
}

namespace {

std::vector<float> power_spectrogram_on_cpu(const StftParams& params,
                                            std::span<const std::span<const float>> signals) {
  Stft stft(params);
  std::size_t frames = 0;
  for (const auto signal : signals) frames += stft.frame_count(signal.size());
  std::vector<float> power(frames * params.bins);
  std::size_t row = 0;
  for (const auto signal : signals) {
    row += stft.frames(signal, std::span(power).subspan(row * params.bins));
  }
  return power;
}

}  // namespace

std::vector<float> power_spectrogram(Device& device, const StftParams& params,
                                     std::span<const std::span<const float>> signals) {
  return device.is_cuda() ? cuda::power_spectrogram(device, params, signals)
                          : power_spectrogram_on_cpu(params, signals);
}

std::vector<float> level_spectrogram(Device& device, const StftParams& params, float offset,
                                     std::span<const std::span<const float>> signals) {
  if (device.is_cuda()) return cuda::level_spectrogram(device, params, offset, signals);
  std::vector<float> levels = power_spectrogram_on_cpu(params, signals);
  power_to_db(levels, offset, levels);
  return levels;
}

}  // namespace spintag::kernels
