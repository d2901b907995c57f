// fingerprint/audio/resampler.h - decoded audio of any shape to mono float samples at one rate.
#pragma once

#include <vector>

#include "fingerprint/audio/av_handles.h"

namespace spintag::fingerprint {

/// Mixes down, then resamples (libswresample). The mix is the plain average of all channels: it
/// cannot clip, and it needs no channel layout, so unknown and unusual ones are as good as stereo.
/// Output sample 0 stands at input sample 0.
class MonoResampler {
 public:
  explicit MonoResampler(int rate_hz) : rate_hz_(rate_hz) {}

  enum class Taken { kSameFormat, kNewFormat, kRefused };

  /// Appends what one decoded frame gives. A frame of another format first flushes what the old one
  /// still holds. Samples that are no numbers become 0, and ones beyond four times full scale are
  /// held there: damaged float PCM must not overflow a spectrum.
  /// @return kRefused for a frame that no sound card made (a rate outside 1 to 768 kHz, over 63
  /// channels)
  Taken push(const AVFrame& av_frame, std::vector<float>& samples);

  /// The tail.
  void finish(std::vector<float>& samples);

 private:
  void build(const AVFrame& av_frame);
  void convert(const AVFrame* av_frame, std::vector<float>& samples);

  int rate_hz_;
  SwrPtr swr_;
  int in_rate_hz_ = 0;
  int in_format_ = -1;
  int in_channels_ = 0;
};

}  // namespace spintag::fingerprint
