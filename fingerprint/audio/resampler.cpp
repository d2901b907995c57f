// fingerprint/audio/resampler.cpp - decoded audio of any shape to mono float samples at one rate.
#include "fingerprint/audio/resampler.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <string>

extern "C" {
#include <libavutil/opt.h>
}

#include "fingerprint/audio/reader.h"

namespace spintag::fingerprint {
namespace {

constexpr int kLowestRateHz = 1'000;
constexpr int kHighestRateHz = 768'000;
constexpr int kMostChannels = 63;
constexpr float kLoudest = 4.0F;

// Low-pass before decimation: 40 zero crossings under a Kaiser window of beta 7 (about 70 dB).
// From 44.1 to 11.025 kHz that is flat to 4.75 kHz, and what folds back stays above 5.05 kHz,
// outside the landmarks' band. A longer filter costs in proportion: 64 crossings took a fifth of
// the time of reading an Ogg Vorbis file more.
constexpr int kFilterCrossings = 40;
constexpr double kKaiserBeta = 7;
constexpr int kMostPhases = 1024;  // libswresample's own limit; ratios of more are interpolated

AVChannelLayout layout_of(int channels) {
  // Any layout of that many channels will do: the matrix below asks for no names.
  AVChannelLayout layout = {};
  av_channel_layout_from_mask(&layout, (std::uint64_t{1} << static_cast<unsigned>(channels)) - 1);
  return layout;
}

void require(int code, const char* what) {
  if (code < 0) throw AudioError(std::string(what) + ": " + av_error_text(code));
}

}  // namespace

MonoResampler::Taken MonoResampler::push(const AVFrame& av_frame, std::vector<float>& samples) {
  const int channels = av_frame.ch_layout.nb_channels;
  if (av_frame.sample_rate < kLowestRateHz || av_frame.sample_rate > kHighestRateHz ||
      channels < 1 || channels > kMostChannels) {
    return Taken::kRefused;
  }
  const bool same = swr_ != nullptr && av_frame.sample_rate == in_rate_hz_ &&
                    av_frame.format == in_format_ && channels == in_channels_;
  const bool first = swr_ == nullptr;
  if (!same) {
    finish(samples);
    build(av_frame);
  }
  convert(&av_frame, samples);
  return same || first ? Taken::kSameFormat : Taken::kNewFormat;
}

void MonoResampler::finish(std::vector<float>& samples) {
  if (swr_ != nullptr) convert(nullptr, samples);
  swr_.reset();
}

void MonoResampler::build(const AVFrame& av_frame) {
  in_rate_hz_ = av_frame.sample_rate;
  in_format_ = av_frame.format;
  in_channels_ = av_frame.ch_layout.nb_channels;
  AVChannelLayout from = layout_of(in_channels_);
  AVChannelLayout mono = layout_of(1);
  const bool exact_phases = rate_hz_ / std::gcd(rate_hz_, in_rate_hz_) <= kMostPhases;
  SwrContext* swr = nullptr;
  require(swr_alloc_set_opts2(&swr, &mono, AV_SAMPLE_FMT_FLT, rate_hz_, &from,
                              static_cast<AVSampleFormat>(in_format_), in_rate_hz_, 0, nullptr),
          "resampler");
  swr_.reset(swr);
  av_opt_set_int(swr, "internal_sample_fmt", AV_SAMPLE_FMT_FLTP, 0);
  av_opt_set_int(swr, "filter_size", kFilterCrossings, 0);
  av_opt_set_int(swr, "linear_interp", exact_phases ? 0 : 1, 0);
  av_opt_set_double(swr, "kaiser_beta", kKaiserBeta, 0);
  if (in_channels_ > 1) {
    const std::vector<double> average(static_cast<std::size_t>(in_channels_), 1.0 / in_channels_);
    require(swr_set_matrix(swr, average.data(), in_channels_), "resampler: mix");
  }
  require(swr_init(swr), "resampler");
}

void MonoResampler::convert(const AVFrame* av_frame, std::vector<float>& samples) {
  const int in_count = av_frame != nullptr ? av_frame->nb_samples : 0;
  const int room = swr_get_out_samples(swr_.get(), in_count);
  require(room, "resampler");
  const std::size_t before = samples.size();
  samples.resize(before + static_cast<std::size_t>(room));
  auto* out = reinterpret_cast<std::uint8_t*>(samples.data() + before);
  auto** in =
      av_frame != nullptr ? const_cast<const std::uint8_t**>(av_frame->extended_data) : nullptr;
  const int made = swr_convert(swr_.get(), &out, room, in, in_count);
  samples.resize(before + static_cast<std::size_t>(std::max(made, 0)));
  require(made, "resampler");
  for (std::size_t i = before; i < samples.size(); ++i) {
    const float sample = samples[i];
    samples[i] = std::isfinite(sample) ? std::clamp(sample, -kLoudest, kLoudest) : 0.0F;
  }
}

}  // namespace spintag::fingerprint
