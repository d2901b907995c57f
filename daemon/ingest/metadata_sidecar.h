// daemon/ingest/metadata_sidecar.h - a CSV file that says what the tags do not.
#pragma once

#include <cstddef>
#include <filesystem>
#include <istream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "db/store.h"

namespace spintag::daemon {

/// A sidecar that cannot be used. Every fault is in the message, one a line, as file:line: fault.
class SidecarError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Header row; one of the columns `source`, `file` or `path` says which recording a row is about:
/// by the whole path as it is given to ingest, by the path from the sidecar's own folder, or by
/// file name alone. The columns title, artist, album, label, composer, isrc (several: blank, comma
/// or semicolon between) and recording_mbid win over the tags; a column of any other name goes to
/// the extra JSON. An empty field changes nothing.
class MetadataSidecar {
 public:
  /// @throws SidecarError
  static MetadataSidecar read(const std::filesystem::path& file);
  /// @param name  for messages  @param folder  that relative paths of the rows start from
  static MetadataSidecar parse(std::istream& in, const std::string& name,
                               const std::filesystem::path& folder);

  /// Applies the row about `source`, if there is one. @return true if there is
  bool apply(const std::string& source, db::TrackInfo& info) const;

  /// Lines of the rows that are about none of these files: a name that was mistyped, most likely.
  std::vector<std::size_t> lines_without_file(const std::vector<std::string>& files) const;

 private:
  struct Row {
    std::size_t line = 0;
    std::map<std::string, std::string> values;  ///< column -> text, the empty ones left out
  };

  const Row* row_of(const std::string& source) const;
  void add_row(std::size_t line, const std::string& recording, const std::filesystem::path& folder,
               std::map<std::string, std::string> values, std::string& faults,
               const std::string& name);

  std::vector<Row> rows_;
  std::map<std::string, std::size_t> by_path_;  ///< path in normal form -> row
  std::map<std::string, std::size_t>
      by_name_;  ///< file name -> row; only rows that give a name alone
};

}  // namespace spintag::daemon
