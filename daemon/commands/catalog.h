// daemon/commands/catalog.h - `spintag catalog`: what is known, by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "daemon/cli.h"

namespace spintag::daemon {

struct CatalogListOptions {
  bool json = false;
  std::size_t limit = 0;  ///< 0 = all
};

/// What is given replaces what is stored; an empty text clears it.
struct CatalogEdit {
  std::int64_t track_id = 0;
  std::optional<std::string> title;
  std::optional<std::string> artist;
  std::optional<std::string> album;
  std::optional<std::string> label;
  std::optional<std::string> composer;
  std::optional<std::string> isrc;  ///< several: blank or comma between
  std::optional<std::string> recording_mbid;
  std::optional<std::string> extra;  ///< a JSON object
};

struct CatalogExport {
  std::filesystem::path index;  ///< index snapshot; empty = none
  std::string json;             ///< NDJSON file or "-"; empty = none
};

/// Each returns the exit status.
int run_catalog_list(const CommonOptions& common, const CatalogListOptions& options);
int run_catalog_show(const CommonOptions& common, std::int64_t track_id, bool json);
int run_catalog_edit(const CommonOptions& common, const CatalogEdit& edit);
int run_catalog_remove(const CommonOptions& common, const std::vector<std::int64_t>& track_ids);
int run_catalog_export(const CommonOptions& common, const CatalogExport& options);
int run_catalog_import(const CommonOptions& common, const std::string& file);

}  // namespace spintag::daemon
