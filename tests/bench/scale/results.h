// tests/bench/scale/results.h - what a matcher said of every window: judged, written, compared.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "fingerprint/matcher.h"
#include "tests/bench/scale/windows.h"

namespace spintag::bench {

/// By window.
using Results = std::vector<std::vector<fingerprint::Alignment>>;

struct Score {
  std::size_t planted = 0;
  std::size_t found = 0;       ///< planted, and named first at the right place (within 0.1 s)
  std::size_t wrong = 0;       ///< planted, and another song named first
  std::size_t also_named = 0;  ///< other songs named beside the right one
  std::size_t unknown = 0;
  std::size_t unknown_named = 0;  ///< unknown windows that got a name
};
/// Songs have their number + 1 as track_id.
Score judge(std::span<const Window> windows, const Results& results);

/// One line a match, numbers to their last bit:
/// window track start_s end_s track_start_s tempo pitch score confidence found_share
void write_results(const std::filesystem::path& file, const Results& results);

/// Prints the first lines that differ. @return the number of lines that differ
std::size_t compare_results(const std::filesystem::path& left, const std::filesystem::path& right);

/// @return windows whose matches differ in any bit
std::size_t count_different(const Results& left, const Results& right);

}  // namespace spintag::bench
