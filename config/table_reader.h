// config/table_reader.h - typed reading of one TOML table, with faults that name file, line and
// key. For .cpp files of this room only: it shows toml++.
#pragma once

#include <toml++/toml.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/draft.h"
#include "config/value_checks.h"

namespace spintag::config {

/// Where a table stands: [web] or one [[station]].
struct TablePlace {
  std::string file;
  std::string path;   ///< before the key in a fault: "web", "station"; empty for the root
  std::string named;  ///< before the key in an origin: "web", "station.wjrh"
};

class TableReader {
 public:
  using TextCheck = std::function<Fault(std::string_view)>;
  using NumberCheck = std::function<Fault(double)>;

  /// Reports every key that is not among `known`.
  TableReader(Draft& draft, const toml::table& table, TablePlace place,
              std::span<const std::string_view> known);

  bool has(std::string_view key) const { return table_.contains(key); }
  /// Each gives nothing when the key is missing or faulty; a fault is reported.
  std::optional<std::string> text(std::string_view key, const TextCheck& check);
  std::optional<double> number(std::string_view key, const NumberCheck& check);
  std::optional<bool> truth(std::string_view key);
  std::optional<std::vector<std::string>> texts(std::string_view key, const TextCheck& check);
  /// Like text(), but a missing key is a fault too. `example` is a line that would mend it.
  std::string required(std::string_view key, const TextCheck& check, std::string_view example);

  void note(std::string_view key, const std::string& shown);
  void note_default(std::string_view key, const std::string& shown);
  void fault(std::string_view key,
             const std::string& what);  ///< at the key, or at the table if it is missing
  void set_named(std::string named) { place_.named = std::move(named); }
  const std::string& file() const { return place_.file; }

 private:
  std::string place_of(std::string_view key) const;  ///< "file:line"
  std::string joined(const std::string& path, std::string_view key) const;
  void wrong_type(std::string_view key, const toml::node& node, std::string_view wanted);

  Draft& draft_;
  const toml::table& table_;
  TablePlace place_;
};

}  // namespace spintag::config
