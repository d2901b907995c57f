// kernels/cuda/stft.cu - power spectra of many signals on a CUDA device.
#include "kernels/cuda/stft.cuh"

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/cuda/stft_kernel.cuh"
#include "kernels/stft_tables.h"

namespace spintag::kernels::cuda {
namespace {

constexpr std::size_t kLeastFrame = 256;
constexpr std::size_t kMostFrame = 8192;

void check_cuda_stft(const StftParams& params) {
  check_stft(params);
  if (!std::has_single_bit(params.frame_samples) || params.frame_samples < kLeastFrame ||
      params.frame_samples > kMostFrame) {
    throw std::invalid_argument("frame_samples " + std::to_string(params.frame_samples) +
                                " is not a power of two from 256 to 8192, which is what a CUDA "
                                "device transforms (try the CPU)");
  }
}

/// exp(-2 pi i k / n)
float2 root(std::size_t k, std::size_t n) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
  return make_float2(static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)));
}

/// Place of point t + lanes * m in a table that is read by table_pair().
std::size_t table_place(std::size_t lanes, std::size_t m, std::size_t t) {
  return (m / 2 * lanes + t) * 2 + m % 2;
}

std::vector<float2> window_table(const StftParams& params) {
  const std::vector<double> window = stft_window(params);
  const std::size_t lanes = params.frame_samples / 2 / kHeld;
  std::vector<float2> table(lanes * kHeld);
  for (std::size_t m = 0; m < kHeld; ++m) {
    for (std::size_t t = 0; t < lanes; ++t) {
      const std::size_t n = 2 * (t + lanes * m);
      table[table_place(lanes, m, t)] =
          make_float2(static_cast<float>(window[n]), static_cast<float>(window[n + 1]));
    }
  }
  return table;
}

/// The factors of a pass: W_(done r)^(j (b mod done)) for input j of butterfly b, which is point
/// b + (points / r) j.
void append_twiddles(std::size_t points, std::size_t r, std::size_t done,
                     std::vector<float2>& table) {
  const std::size_t lanes = points / kHeld;
  const std::size_t begin = table.size();
  table.resize(begin + points);
  for (std::size_t m = 0; m < kHeld; ++m) {
    for (std::size_t t = 0; t < lanes; ++t) {
      const std::size_t point = t + lanes * m;
      const std::size_t b = point % (points / r);
      const std::size_t j = point / (points / r);
      table[begin + table_place(lanes, m, t)] = root(j * (b % done), done * r);
    }
  }
}

template <int kPoints>
std::vector<float2> twiddle_table() {
  using Shape = StftShape<kPoints>;
  std::vector<float2> table;
  append_twiddles(kPoints, Shape::kSecond, kHeld, table);
  if (Shape::kPasses == 3) {
    append_twiddles(kPoints, Shape::kThird, kHeld * Shape::kSecond, table);
  }
  return table;
}

std::vector<float2> untangle_table(std::size_t points) {
  std::vector<float2> table(points / 2);
  for (std::size_t k = 0; k < table.size(); ++k) table[k] = root(k, 2 * points);
  return table;
}

/// Calls with_points(std::integral_constant<int, points>()) for one of the sizes that kernels are
/// made for.
template <class Function>
auto for_size(std::size_t frame_samples, Function&& with_points) {
  switch (frame_samples) {
    case 256:
      return with_points(std::integral_constant<int, 128>());
    case 512:
      return with_points(std::integral_constant<int, 256>());
    case 1024:
      return with_points(std::integral_constant<int, 512>());
    case 2048:
      return with_points(std::integral_constant<int, 1024>());
    case 4096:
      return with_points(std::integral_constant<int, 2048>());
    default:
      return with_points(std::integral_constant<int, 4096>());
  }
}

}  // namespace

StftPlan::StftPlan(const std::shared_ptr<Context>& context, const StftParams& params)
    : context_(context), params_(params) {
  check_cuda_stft(params);
  const double factor = 0.25 * stft_power_factor(params);
  factor_ = static_cast<float>(factor);
  edge_factor_ = params.scale == PowerScale::kDensity ? 0.5F * factor_ : factor_;
  window_ = Array<float2>(context, window_table(params));
  twiddle_ = Array<float2>(context, for_size(params.frame_samples, [](auto points) {
                             return twiddle_table<points.value>();
                           }));
  untangle_ = Array<float2>(context, untangle_table(params.frame_samples / 2));
}

StftPlan::Layout StftPlan::lay_out(std::span<const SignalPlace> places) const {
  const std::size_t frames_of_block = for_size(params_.frame_samples, [](auto points) {
    return static_cast<std::size_t>(StftShape<points.value>::kFramesOfBlock);
  });
  Layout layout;
  std::vector<SignalFrames> signals;
  std::size_t row = 0;
  layout.first_row.push_back(0);
  for (const SignalPlace& place : places) {
    const std::size_t frames =
        place.samples < params_.frame_samples
            ? 0
            : (place.samples - params_.frame_samples) / params_.hop_samples + 1;
    if (row + frames > std::numeric_limits<std::int32_t>::max()) {
      throw DeviceError(context_->name() + ": more than 2^31 frames at once (try fewer signals)");
    }
    layout.blocks += static_cast<std::uint32_t>((frames + frames_of_block - 1) / frames_of_block);
    signals.push_back({.begin = place.begin,
                       .frames = static_cast<std::uint32_t>(frames),
                       .first_row = static_cast<std::uint32_t>(row),
                       .blocks_until = layout.blocks});
    row += frames;
    layout.first_row.push_back(static_cast<std::uint32_t>(row));
  }
  layout.signals = Array<SignalFrames>(context_, signals);
  return layout;
}

void StftPlan::run(const float* samples, const Layout& layout, float* rows, std::size_t row_stride,
                   std::optional<float> offset) const {
  if (layout.blocks == 0 || params_.bins == 0) return;
  const StftArguments arguments{.samples = samples,
                                .signals = layout.signals.data(),
                                .signal_count = static_cast<std::uint32_t>(layout.signals.size()),
                                .hop = static_cast<std::uint32_t>(params_.hop_samples),
                                .window = window_.data(),
                                .twiddle = twiddle_.data(),
                                .untangle = untangle_.data(),
                                .factor = factor_,
                                .edge_factor = edge_factor_,
                                .offset = offset.value_or(0.0F),
                                .first_bin = static_cast<int>(params_.first_bin),
                                .bins = static_cast<int>(params_.bins),
                                .rows = rows,
                                .row_stride = row_stride};
  for_size(params_.frame_samples, [&](auto points) {
    constexpr int kPoints = points.value;
    launch(*context_,
           offset ? spectrogram_kernel<kPoints, true> : spectrogram_kernel<kPoints, false>,
           dim3(layout.blocks), dim3(kStftThreads), StftShape<kPoints>::kSharedBytes, arguments);
  });
}

namespace {

std::vector<float> spectrogram(Device& device, const StftParams& params,
                               std::optional<float> offset,
                               std::span<const std::span<const float>> signals) {
  const auto& context = device.shared_context();
  context->make_current();
  const StftPlan plan(context, params);
  std::vector<SignalPlace> places;
  std::vector<float> together;
  for (const auto signal : signals) {
    places.push_back({.begin = together.size(), .samples = signal.size()});
    together.insert(together.end(), signal.begin(), signal.end());
    if (together.size() % 2 != 0) together.push_back(0);
  }
  const Array<float> samples(context, together);
  const auto layout = plan.lay_out(places);
  const Array<float> rows(context, layout.rows() * params.bins);
  plan.run(samples.data(), layout, rows.data(), params.bins, offset);
  return rows.download();
}

}  // namespace

std::vector<float> power_spectrogram(Device& device, const StftParams& params,
                                     std::span<const std::span<const float>> signals) {
  return spectrogram(device, params, std::nullopt, signals);
}

std::vector<float> level_spectrogram(Device& device, const StftParams& params, float offset,
                                     std::span<const std::span<const float>> signals) {
  return spectrogram(device, params, offset, signals);
}

}  // namespace spintag::kernels::cuda
