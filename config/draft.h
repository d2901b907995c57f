// config/draft.h - settings while they are gathered: values, where each came from, and every fault
// found so far.
#pragma once

#include <string>
#include <vector>

#include "config/settings.h"

namespace spintag::config {

struct Draft {
  Settings settings;
  std::vector<Origin> origins;  ///< in the order in which the keys were first noted
  std::vector<std::string>
      faults;  ///< complete lines: "file:line: key: what is wrong (what to do)"

  /// Says where a value came from; the last word on a key counts.
  void note(const std::string& key, const std::string& value, const std::string& origin);
  /// Origin of a key; empty if it was never noted.
  std::string origin_of(const std::string& key) const;
};

/// Reads a TOML file into the draft. Faults are collected, not thrown.
void read_settings_file(const std::filesystem::path& file, Draft& draft);

/// The shortest text that reads back as the same number.
std::string number_text(double value);

inline std::string truth_text(bool value) { return value ? "true" : "false"; }

}  // namespace spintag::config
