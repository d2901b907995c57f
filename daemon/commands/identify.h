// daemon/commands/identify.h - `spintag identify`: which songs are in a file or on a stream.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "daemon/cli.h"

namespace spintag::daemon {

struct IdentifyOptions {
  std::vector<std::string> sources;  ///< files, URLs, "-"
  bool json = false;
  std::filesystem::path
      index;  ///< snapshot to answer from, with no database; empty = the catalogue
  std::optional<double>
      threshold;  ///< least confidence; default: recognition.threshold of the settings
  std::optional<double> seconds;  ///< hear no more than that
};

/// @return exit status
int run_identify(const CommonOptions& common, const IdentifyOptions& options);

}  // namespace spintag::daemon
