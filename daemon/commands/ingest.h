// daemon/commands/ingest.h - `spintag ingest`: recordings into the catalogue.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "daemon/cli.h"

namespace spintag::daemon {

struct IngestOptions {
  std::vector<std::string> paths;  ///< files, folders and playlists
  int jobs = 0;                    ///< files at a time; 0 = one for each core
  bool json = false;
  bool no_melodies = false;        ///< whatever the settings say
  std::filesystem::path metadata;  ///< CSV sidecar; empty = none
};

/// @return exit status
int run_ingest(const CommonOptions& common, const IngestOptions& options);

}  // namespace spintag::daemon
