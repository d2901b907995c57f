// config/table_reader.cpp - typed reading of one TOML table.
#include "config/table_reader.h"

#include <algorithm>
#include <sstream>

#include "config/nearest.h"

namespace spintag::config {
namespace {

std::string type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return "text";
    case toml::node_type::integer:
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "true or false";
    case toml::node_type::array:
      return node.is_array_of_tables() ? "tables" : "a list";
    case toml::node_type::table:
      return "a table";
    default:
      return "a date or time";
  }
}

/// What the user may have meant: the same value as text.
std::string as_text(const toml::node& node) {
  std::ostringstream shown;
  if (const auto* const integer = node.as_integer()) shown << integer->get();
  if (const auto* const real = node.as_floating_point()) shown << number_text(real->get());
  if (const auto* const boolean = node.as_boolean()) shown << (boolean->get() ? "true" : "false");
  return shown.str();
}

}  // namespace

TableReader::TableReader(Draft& draft, const toml::table& table, TablePlace place,
                         std::span<const std::string_view> known)
    : draft_(draft), table_(table), place_(std::move(place)) {
  for (const auto& [key, value] : table_) {
    if (std::ranges::find(known, key.str()) != known.end()) continue;
    const auto line = std::to_string(key.source().begin.line);
    draft_.faults.push_back(place_.file + ":" + line + ": " + joined(place_.path, key.str()) +
                            ": unknown key (" + suggest(key.str(), known) + ")");
  }
}

std::optional<std::string> TableReader::text(std::string_view key, const TextCheck& check) {
  const toml::node* const node = table_.get(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_string()) {
    wrong_type(key, *node, "text");
    return std::nullopt;
  }
  const std::string& value = node->as_string()->get();
  if (const Fault wrong = check ? check(value) : std::nullopt) {
    fault(key, *wrong);
    return std::nullopt;
  }
  return value;
}

std::optional<double> TableReader::number(std::string_view key, const NumberCheck& check) {
  const toml::node* const node = table_.get(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_number()) {
    wrong_type(key, *node, "a number");
    return std::nullopt;
  }
  const double value = *node->value<double>();
  if (const Fault wrong = check(value)) {
    fault(key, *wrong);
    return std::nullopt;
  }
  return value;
}

std::optional<bool> TableReader::truth(std::string_view key) {
  const toml::node* const node = table_.get(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_boolean()) {
    wrong_type(key, *node, "true or false");
    return std::nullopt;
  }
  return node->as_boolean()->get();
}

std::optional<std::vector<std::string>> TableReader::texts(std::string_view key,
                                                           const TextCheck& check) {
  const toml::node* const node = table_.get(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_array()) {
    wrong_type(key, *node, "a list of texts");
    return std::nullopt;
  }
  std::vector<std::string> values;
  bool good = true;
  for (const toml::node& item : *node->as_array()) {
    if (!item.is_string()) {
      wrong_type(key, item, "text as each item");
      good = false;
      continue;
    }
    const std::string& value = item.as_string()->get();
    if (const Fault wrong = check ? check(value) : std::nullopt) {
      fault(key, *wrong);
      good = false;
      continue;
    }
    values.push_back(value);
  }
  return good ? std::optional(values) : std::nullopt;
}

std::string TableReader::required(std::string_view key, const TextCheck& check,
                                  std::string_view example) {
  if (!has(key)) fault(key, "is missing (write " + std::string(example) + ")");
  return text(key, check).value_or(std::string());
}

void TableReader::note(std::string_view key, const std::string& shown) {
  draft_.note(joined(place_.named, key), shown, place_of(key));
}

void TableReader::note_default(std::string_view key, const std::string& shown) {
  draft_.note(joined(place_.named, key), shown, "default");
}

void TableReader::fault(std::string_view key, const std::string& what) {
  draft_.faults.push_back(place_of(key) + ": " + joined(place_.path, key) + ": " + what);
}

std::string TableReader::place_of(std::string_view key) const {
  const toml::node* const node = table_.get(key);
  const auto line = (node == nullptr ? table_.source() : node->source()).begin.line;
  return line == 0 ? place_.file : place_.file + ":" + std::to_string(line);
}

std::string TableReader::joined(const std::string& path, std::string_view key) const {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

void TableReader::wrong_type(std::string_view key, const toml::node& node,
                             std::string_view wanted) {
  std::string what = "wants " + std::string(wanted) + ", not " + type_name(node);
  const bool text_wanted = wanted.starts_with("text");
  if (text_wanted && !as_text(node).empty()) what += " (write \"" + as_text(node) + "\")";
  if (wanted.starts_with("a list") && node.is_string()) {
    what += " (write [\"" + node.as_string()->get() + "\"])";
  }
  if (wanted == "a number" && node.is_string()) what += " (leave out the quotes)";
  fault(key, what);
}

}  // namespace spintag::config
