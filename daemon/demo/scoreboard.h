// daemon/demo/scoreboard.h - what was played against what was recognised.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace spintag::daemon {

/// Times are seconds on one clock, whichever. A song is known by its name, so that two copies of
/// one recording are one song.
class Scoreboard {
 public:
  /// A song shorter than this on air is not held against anybody.
  static constexpr double kFairChance_s = 20;
  /// A tag may come so long after its song has ended.
  static constexpr double kGrace_s = 15;

  struct Result {
    std::size_t played = 0;      ///< songs that had a fair chance, or were recognised without
    std::size_t recognised = 0;  ///< of those
    std::size_t early = 0;       ///< songs that had none
    std::size_t wrong = 0;       ///< tags of what was not on air, or of what had its tag
    std::optional<double> median_delay_s;  ///< from a song's first sound to its tag, all right tags
    std::vector<std::string> missed;
    std::vector<std::string> wrong_names;
  };

  void aired(const std::string& name, double began_s, double heard_s);
  /// @return seconds since the song began, or nothing when the tag is wrong
  std::optional<double> tagged(const std::string& name, double at_s);
  Result result(double now_s) const;

 private:
  struct Airing {
    std::string name;
    double began_s = 0;
    double heard_s = 0;
    std::optional<double> delay_s;
  };
  std::vector<Airing> airings_;
  std::vector<std::string> wrong_names_;
};

}  // namespace spintag::daemon
