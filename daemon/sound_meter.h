// daemon/sound_meter.h - what kind of sound each second is, from its loudness alone: silence,
// speech or music. Source: E. Scheirer, M. Slaney, "Construction and Evaluation of a Robust
// Multifeature Speech/Music Discriminator", ICASSP 1997 (4 Hz modulation energy, share of
// low-energy frames).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spintag::daemon {

enum class Sound { silence, speech, music };

/// "silence", "speech" or "music".
const char* to_string(Sound sound) noexcept;

struct SoundParams {
  /// Louder is not silence: dead air of a digital chain lies below -60 dBFS, a quiet passage of a
  /// processed programme above -40.
  double silence_dbfs = -50;
  /// Speech pauses between syllables, so that many 20 ms frames hold under half of their second's
  /// mean level, and its loudness swings 2-8 times a second. Both must be above these; measured on
  /// espeak-ng voices and game music behind a broadcast compressor, 10 s each: speech at least 0.14
  /// and 0.26 (99 %), music at most 0.04 and 0.20 (95 %).
  double speech_quiet_share = 0.12;
  double speech_modulation = 0.22;
};

struct SoundSecond {
  double start_s = 0;  ///< since the first sample after reset()
  double level_dbfs = 0;
  Sound sound = Sound::music;  ///< silence is said of this second, speech and music of the last ten
};

/// Streaming stage at 11,025 Hz; how the caller cuts its input changes nothing. Single-threaded.
class SoundMeter {
 public:
  static constexpr int kRateHz = 11025;
  static constexpr int kFramesPerSecond = 50;
  static constexpr int kMemorySeconds = 10;

  explicit SoundMeter(const SoundParams& params = {}) : params_(params) {}

  /// @param seconds  receives the seconds that are now whole, appended
  void push(std::span<const float> samples, std::vector<SoundSecond>& seconds);
  void reset();

 private:
  void end_frame(std::vector<SoundSecond>& seconds);
  Sound judge() const;

  static constexpr std::size_t kMemoryFrames =
      static_cast<std::size_t>(kFramesPerSecond) * kMemorySeconds;

  SoundParams params_;
  std::array<float, kMemoryFrames> levels_{};  ///< ring: RMS of each 20 ms frame
  std::int64_t frames_ = 0;                    ///< whole frames since the start
  std::int64_t samples_ = 0;                   ///< since the start
  std::int64_t frame_end_ = 0;                 ///< sample at which the open frame ends
  std::int64_t frame_begin_ = 0;
  double frame_power_ = 0;   ///< of the open frame, sum of squares
  double second_power_ = 0;  ///< of the open second, sum of squares
};

}  // namespace spintag::daemon
