// daemon/ingest/metadata_sidecar.cpp - a CSV file that says what the tags do not.
#include "daemon/ingest/metadata_sidecar.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "daemon/csv.h"
#include "daemon/ingest/identifiers.h"
#include "daemon/utf8.h"

namespace spintag::daemon {

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

bool names_recording(const std::string& column) {
  return column == "source" || column == "file" || column == "path";
}

std::string normal_path(const std::filesystem::path& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

// Column names in lower case; which of them says what a row is about.
struct Header {
  std::vector<std::string> columns;
  std::size_t recording = 0;
};

Header read_header(const CsvRecord& record, const std::string& name) {
  Header header;
  const std::string where = name + ":" + std::to_string(record.line) + ": ";
  std::optional<std::size_t> recording;
  for (const std::string& field : record.fields) {
    const std::string column = lower(tidy(field));
    if (column.empty()) throw SidecarError(where + "a column has no name");
    if (std::count(header.columns.begin(), header.columns.end(), column) > 0) {
      throw SidecarError(where + "column " + column + " is there twice");
    }
    if (names_recording(column)) {
      if (recording) throw SidecarError(where + "only one of source, file and path may be there");
      recording = header.columns.size();
    }
    header.columns.push_back(column);
  }
  if (!recording) {
    throw SidecarError(where +
                       "no column named source, file or path says which file a row is about");
  }
  header.recording = *recording;
  return header;
}

// What is wrong with a value; empty if nothing is.
std::string fault_of(const std::string& column, const std::string& value) {
  if (column == "isrc" && !normal_isrcs(value)) {
    return "isrc: \"" + value + "\" is not an ISRC (such as USRC17607839)";
  }
  if (column == "recording_mbid" && !normal_mbid(value)) {
    return "recording_mbid: \"" + value + "\" is not a MusicBrainz id";
  }
  return {};
}

std::string* text_field(db::TrackInfo& info, const std::string& column) {
  if (column == "title") return &info.title;
  if (column == "artist") return &info.artist;
  if (column == "album") return &info.album;
  if (column == "label") return &info.label;
  if (column == "composer") return &info.composer;
  return nullptr;
}

}  // namespace

MetadataSidecar MetadataSidecar::read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw SidecarError(to_utf8(file.string()) + ": " + std::strerror(errno));
  return parse(in, to_utf8(file.string()), file.parent_path());
}

MetadataSidecar MetadataSidecar::parse(std::istream& in, const std::string& name,
                                       const std::filesystem::path& folder) {
  std::vector<CsvRecord> records;
  try {
    records = read_csv(in);
  } catch (const CsvError& error) {
    throw SidecarError(name + ":" + std::to_string(error.line()) + ": " + error.what());
  }
  if (records.empty()) throw SidecarError(name + ":1: no header row");
  const Header header = read_header(records[0], name);
  MetadataSidecar sidecar;
  std::string faults;
  const auto fault = [&](std::size_t line, const std::string& what) {
    faults += (faults.empty() ? "" : "\n") + name + ":" + std::to_string(line) + ": " + what;
  };
  for (std::size_t r = 1; r < records.size(); ++r) {
    const CsvRecord& record = records[r];
    if (record.fields.size() != header.columns.size()) {
      fault(record.line, std::to_string(record.fields.size()) + " fields, but the header has " +
                             std::to_string(header.columns.size()));
      continue;
    }
    std::map<std::string, std::string> values;
    for (std::size_t c = 0; c < record.fields.size(); ++c) {
      const std::string value = tidy(record.fields[c]);
      if (c == header.recording || value.empty()) continue;
      if (const std::string what = fault_of(header.columns[c], value); !what.empty()) {
        fault(record.line, what);
      }
      values[header.columns[c]] = value;
    }
    sidecar.add_row(record.line, record.fields[header.recording], folder, std::move(values), faults,
                    name);
  }
  if (!faults.empty()) throw SidecarError(faults);
  return sidecar;
}

void MetadataSidecar::add_row(std::size_t line, const std::string& recording,
                              const std::filesystem::path& folder,
                              std::map<std::string, std::string> values, std::string& faults,
                              const std::string& name) {
  const auto fault = [&](const std::string& what) {
    faults += (faults.empty() ? "" : "\n") + name + ":" + std::to_string(line) + ": " + what;
  };
  if (recording.empty()) return fault("names no file");
  const std::size_t row = rows_.size();
  rows_.push_back({line, std::move(values)});
  const std::filesystem::path path(recording);
  const bool is_name_alone = !path.has_parent_path();
  auto& table = is_name_alone ? by_name_ : by_path_;
  const std::string key = is_name_alone ? recording : normal_path(path);
  const auto [place, fresh] = table.emplace(key, row);
  if (!fresh) {
    return fault("\"" + recording + "\" was described on line " +
                 std::to_string(rows_[place->second].line) + " already");
  }
  if (!is_name_alone) by_path_.emplace(normal_path(folder / path), row);
}

const MetadataSidecar::Row* MetadataSidecar::row_of(const std::string& source) const {
  const std::filesystem::path path(source);
  auto found = by_path_.find(normal_path(path));
  if (found == by_path_.end()) {
    found = by_name_.find(path.filename().string());
    if (found == by_name_.end()) return nullptr;
  }
  return &rows_[found->second];
}

std::vector<std::size_t> MetadataSidecar::lines_without_file(
    const std::vector<std::string>& files) const {
  std::set<std::size_t> lines;
  for (const Row& row : rows_) lines.insert(row.line);
  for (const std::string& file : files) {
    if (const Row* row = row_of(file)) lines.erase(row->line);
  }
  return {lines.begin(), lines.end()};
}

bool MetadataSidecar::apply(const std::string& source, db::TrackInfo& info) const {
  const Row* row = row_of(source);
  if (row == nullptr) return false;
  auto extra = nlohmann::json::parse(info.extra_json, nullptr, false);
  if (!extra.is_object()) extra = nlohmann::json::object();
  for (const auto& [column, value] : row->values) {
    if (std::string* text = text_field(info, column)) {
      *text = value;
    } else if (column == "isrc") {
      info.isrcs = normal_isrcs(value).value_or(std::vector<std::string>{});
    } else if (column == "recording_mbid") {
      info.recording_mbid = normal_mbid(value).value_or("");
    } else {
      extra[column] = value;
    }
  }
  info.extra_json = extra.dump();
  return true;
}

}  // namespace spintag::daemon
