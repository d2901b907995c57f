// daemon/demo/programme.h - what a radio station plays: songs that fade into each other, and an
// announcer who talks over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <span>
#include <string>
#include <vector>

namespace spintag::daemon {

struct Song {
  std::int64_t track_id = 0;
  std::string file;
  std::string title;
  std::string artist;
  double duration_s = 0;
};

struct ProgrammeParams {
  int rate_hz = 44100;
  double opening_s = 6;     ///< the announcer alone, before the first song
  double song_s = 40;       ///< heard of each song, fades included; a shorter one plays whole
  double fade_s = 3;        ///< two songs overlap for so long
  double skip_share = 0.1;  ///< of its length that is left out at a song's beginning, so that it is
                            ///< in full swing when it comes
  double talk_lead_s = 2;   ///< the announcer begins so long before the next song
  double duck_gain = 0.35;  ///< of the music while the announcer talks (-9 dB)
  double duck_ramp_s = 0.3;
  double level = 0.12;  ///< root mean square that a song is brought to (-18 dBFS)
};

/// Gives the announcer's words for the change from `ending` (nullptr: the opening) to `next`, as
/// mono samples at rate_hz. Called on a thread of its own. May be empty.
using Announcer = std::function<std::vector<float>(const Song* ending, const Song& next)>;

/// Endless: begins again after the last song. Decodes one song ahead on a thread of its own.
/// Single-threaded.
class Programme {
 public:
  struct Start {
    std::size_t song = 0;      ///< index into the songs
    std::uint64_t sample = 0;  ///< of the programme at which its first sample is heard
    double track_start_s = 0;  ///< where in the track that is
    double heard_s = 0;
  };

  /// @param songs  at least one
  Programme(std::vector<Song> songs, ProgrammeParams params, Announcer announcer);
  Programme(const Programme&) = delete;  // the thread that decodes ahead reads it
  Programme& operator=(const Programme&) = delete;

  /// The next samples. @throws AudioError when a song cannot be decoded
  void mix(std::span<float> out);

  /// Songs that have begun within what mix() gave out, oldest first.
  const std::vector<Start>& starts() const { return starts_; }
  const std::vector<Song>& songs() const { return songs_; }
  const ProgrammeParams& params() const { return params_; }

 private:
  struct Slot {
    std::size_t song = 0;
    std::uint64_t begin = 0;  ///< programme sample of samples[0]
    double track_start_s = 0;
    std::vector<float> samples;
    std::vector<float> talk;  ///< begins talk_lead_s before `begin`
    std::uint64_t end() const { return begin + samples.size(); }
  };

  Slot load(std::size_t song, const Song* ending) const;
  void load_ahead();
  void advance_to(std::uint64_t sample);
  float music_at(const Slot& slot, std::uint64_t sample) const;
  void add_talk(const Slot& slot, std::uint64_t sample, float& talk, float& duck) const;

  std::vector<Song> songs_;
  ProgrammeParams params_;
  Announcer announcer_;
  std::uint64_t position_ = 0;
  std::uint64_t fade_ = 0;  ///< samples
  Slot current_;
  Slot next_;
  std::future<Slot> ahead_;  ///< the slot after next_
  std::vector<Start> starts_;
};

}  // namespace spintag::daemon
