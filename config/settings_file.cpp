// config/settings_file.cpp - the TOML file: which tables and keys there are, and where each value
// goes.
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "config/nearest.h"
#include "config/table_reader.h"

namespace spintag::config {
namespace {

using Keys = std::initializer_list<std::string_view>;

std::span<const std::string_view> span_of(Keys keys) { return {keys.begin(), keys.size()}; }

std::string list_text(const std::vector<std::string>& values, const std::string& when_empty) {
  std::string shown;
  for (const std::string& value : values) shown += (shown.empty() ? "" : ", ") + value;
  return values.empty() ? when_empty : shown;
}

std::string why_unreadable(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) return "is a directory, not a file";
  return std::string("cannot be read: ") + std::strerror(errno);
}

/// Whole text of a file; nothing, and errno, if it cannot be read.
std::optional<std::string> read_text(const std::filesystem::path& file) {
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::error_code ignored;
  if (!stream || std::filesystem::is_directory(file, ignored)) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

/// Words of a secrets file: one a line, '#' begins a comment.
std::vector<std::string> file_words(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(std::min(line.find('#'), line.size()));
    std::istringstream in_line(line);
    for (std::string word; in_line >> word;) words.push_back(word);
  }
  return words;
}

/// The words of the file that `key` names, next to the settings file if the path is relative.
/// Faults are reported.
std::vector<std::string> words_of_file(TableReader& table, std::string_view key,
                                       const TableReader::TextCheck& check) {
  const auto named = table.text(key, nullptr);
  if (!named) return {};
  const auto path = std::filesystem::path(table.file()).parent_path() / *named;
  const auto text = read_text(path);
  if (!text) {
    table.fault(key, path.string() + " " + why_unreadable(path));
    return {};
  }
  std::vector<std::string> words = file_words(*text);
  if (words.empty()) table.fault(key, path.string() + " is empty");
  for (const std::string& word : words) {
    if (const Fault wrong = check(word)) table.fault(key, "in " + path.string() + ": " + *wrong);
  }
  return words;
}

class SettingsFile {
 public:
  SettingsFile(std::string file, const toml::table& root, Draft& draft)
      : file_(std::move(file)), root_(root), draft_(draft) {}

  void read() {
    TableReader root(
        draft_, root_, {file_, "", ""},
        span_of({"database", "recognition", "melody", "web", "log", "station", "sink"}));
    read_database(root);
    read_recognition(root);
    read_melody(root);
    read_web(root);
    read_log(root);
    for_each_table(root, "station", [this](const toml::table& table) { read_station(table); });
    for_each_table(root, "sink", [this](const toml::table& table) { read_sink(table); });
  }

 private:
  std::optional<TableReader> section(TableReader& root, const std::string& name, Keys known) {
    const toml::node* const node = root_.get(name);
    if (node == nullptr) return std::nullopt;
    if (!node->is_table()) {
      root.fault(name, "is a table (write [" + name + "] on a line of its own)");
      return std::nullopt;
    }
    return TableReader(draft_, *node->as_table(), {file_, name, name}, span_of(known));
  }

  template <class Read>
  void for_each_table(TableReader& root, const std::string& name, Read&& read) {
    const toml::node* const node = root_.get(name);
    if (node == nullptr) return;
    if (!node->is_array_of_tables()) {
      root.fault(name, "there may be several (write [[" + name + "]], with two brackets)");
      return;
    }
    for (const toml::node& item : *node->as_array()) read(*item.as_table());
  }

  void text_setting(TableReader& table, std::string_view key, std::string& target,
                    const TableReader::TextCheck& check) {
    if (const auto value = table.text(key, check)) {
      target = *value;
      table.note(key, mask_url(*value));
    }
  }

  void read_database(TableReader& root) {
    auto table = section(root, "database", {"url", "state_directory"});
    if (!table) return;
    text_setting(*table, "url", draft_.settings.database_url, check_database_url);
    std::string directory;
    text_setting(*table, "state_directory", directory, [](std::string_view value) -> Fault {
      if (value.empty() || value.starts_with('/')) return std::nullopt;
      return "must be a whole path, from / on";
    });
    if (!directory.empty()) draft_.settings.state_directory = directory;
  }

  void read_recognition(TableReader& root) {
    auto table = section(root, "recognition", {"device", "threshold"});
    if (!table) return;
    text_setting(*table, "device", draft_.settings.device, check_device);
    if (const auto threshold = table->number("threshold", check_threshold)) {
      draft_.settings.min_confidence = *threshold;
      table->note("threshold", number_text(*threshold));
    }
  }

  void truth_setting(TableReader& table, std::string_view key, bool& target) {
    if (const auto value = table.truth(key)) {
      target = *value;
      table.note(key, truth_text(*value));
    }
  }

  void read_melody(TableReader& root) {
    auto table = section(root, "melody", {"from_recordings", "listen", "threshold"});
    if (!table) return;
    truth_setting(*table, "from_recordings", draft_.settings.melodies_of_recordings);
    truth_setting(*table, "listen", draft_.settings.listen_for_melodies);
    if (const auto threshold = table->number("threshold", check_melody_threshold)) {
      draft_.settings.min_melody_confidence = *threshold;
      table->note("threshold", number_text(*threshold));
    }
  }

  void read_web(TableReader& root) {
    auto table = section(root, "web", {"listen", "token", "token_file"});
    if (!table) return;
    text_setting(*table, "listen", draft_.settings.web_listen, check_listen);
    if (const auto token = table->text("token", check_token)) {
      draft_.settings.web_token = *token;
      table->note("token", "***");
    }
    if (table->has("token") && table->has("token_file")) {
      table->fault("token_file", "token is given already (leave one of them out)");
    } else if (const auto words = words_of_file(*table, "token_file", check_token);
               !words.empty()) {
      if (words.size() > 1) table->fault("token_file", "holds more than one word");
      draft_.settings.web_token = words.front();
      table->note("token_file", table->text("token_file", nullptr).value_or(""));
      draft_.note("web.token", "***", draft_.origin_of("web.token_file"));
    }
  }

  void read_log(TableReader& root) {
    auto table = section(root, "log", {"level"});
    if (table) text_setting(*table, "level", draft_.settings.log_level, check_log_level);
  }

  /// "station.wjrh" for origins; a second table of the same name is a fault.
  std::string own_name(TableReader& table, const std::string& kind, std::set<std::string>& taken,
                       const std::string& example) {
    std::string name = table.required("name", check_name, "name = \"" + example + "\"");
    if (!name.empty() && !taken.insert(name).second) {
      table.fault("name", "there is another " + kind + " \"" + name + "\" (names must differ)");
    }
    table.set_named(kind + "." + name);
    return name;
  }

  void read_station(const toml::table& node) {
    TableReader table(draft_, node, {file_, "station", ""}, span_of({"name", "title", "url"}));
    Station station;
    station.name = own_name(table, "station", station_names_, "wjrh");
    station.url = table.required("url", check_http_url, "url = \"https://host/stream\"");
    station.title = table.text("title", nullptr).value_or(station.name);
    table.note("name", station.name);
    table.has("title") ? table.note("title", station.title)
                       : table.note_default("title", station.title);
    table.note("url", mask_url(station.url));
    draft_.settings.stations.push_back(std::move(station));
  }

  void read_sink(const toml::table& node) {
    TableReader table(draft_, node, {file_, "sink", ""},
                      span_of({"name", "type", "url", "secrets", "secret_file", "stations",
                               "events", "max_age_s", "timeout_s"}));
    Sink sink;
    sink.name = own_name(table, "sink", sink_names_, "website");
    sink.type = table.text("type", check_sink_type).value_or(sink.type);
    sink.url = table.required("url", check_http_url, "url = \"https://host/path\"");
    table.note("name", sink.name);
    table.has("type") ? table.note("type", sink.type) : table.note_default("type", sink.type);
    table.note("url", mask_url(sink.url));
    read_secrets(table, sink);
    read_filters(table, sink);
    read_times(table, sink);
    draft_.settings.sinks.push_back(std::move(sink));
  }

  void read_secrets(TableReader& table, Sink& sink) {
    if (table.has("secrets") && table.has("secret_file")) {
      table.fault("secret_file", "secrets are given already (leave one of them out)");
    } else if (table.has("secret_file")) {
      sink.secrets = words_of_file(table, "secret_file", check_secret);
      table.note("secret_file", table.text("secret_file", nullptr).value_or(""));
    } else if (auto secrets = table.texts("secrets", check_secret)) {
      if (secrets->empty()) table.fault("secrets", "is empty, and a webhook is always signed");
      sink.secrets = std::move(*secrets);
      table.note("secrets", list_text(std::vector<std::string>(sink.secrets.size(), "***"), ""));
    } else if (!table.has("secrets")) {
      table.fault("secrets",
                  "is missing, and a webhook is always signed (make one: "
                  "echo \"whsec_$(openssl rand -base64 32)\")");
    }
  }

  void read_filters(TableReader& table, Sink& sink) {
    const auto known_station = [this](std::string_view name) -> Fault {
      if (station_names_.contains(std::string(name))) return std::nullopt;
      const std::vector<std::string_view> names(station_names_.begin(), station_names_.end());
      return "no station is named \"" + std::string(name) + "\" (" + suggest(name, names) + ")";
    };
    sink.stations = table.texts("stations", known_station).value_or(sink.stations);
    sink.events = table.texts("events", check_event_type).value_or(sink.events);
    table.has("stations") ? table.note("stations", list_text(sink.stations, "all"))
                          : table.note_default("stations", "all");
    table.has("events") ? table.note("events", list_text(sink.events, "all"))
                        : table.note_default("events", "all");
  }

  void read_times(TableReader& table, Sink& sink) {
    const auto between = [](double low, double high) {
      return [low, high](double value) -> Fault {
        if (value >= low && value <= high) return std::nullopt;
        return "must lie between " + number_text(low) + " and " + number_text(high) + " seconds";
      };
    };
    if (const auto age = table.number("max_age_s", between(1, 86'400))) {
      sink.max_age = std::chrono::seconds(std::llround(*age));
      table.note("max_age_s", number_text(*age));
    } else if (!table.has("max_age_s")) {
      table.note_default("max_age_s", std::to_string(sink.max_age.count()));
    }
    if (const auto timeout = table.number("timeout_s", between(0.1, 60))) {
      sink.timeout = std::chrono::milliseconds(std::llround(*timeout * 1000));
      table.note("timeout_s", number_text(*timeout));
    } else if (!table.has("timeout_s")) {
      table.note_default("timeout_s",
                         number_text(static_cast<double>(sink.timeout.count()) / 1000));
    }
  }

  std::string file_;
  const toml::table& root_;
  Draft& draft_;
  std::set<std::string> station_names_;
  std::set<std::string> sink_names_;
};

}  // namespace

std::string number_text(double value) {
  char text[32];
  const auto result = std::to_chars(text, text + sizeof text, value);
  return {text, result.ptr};
}

void read_settings_file(const std::filesystem::path& file, Draft& draft) {
  const auto text = read_text(file);
  if (!text) {
    draft.faults.push_back(file.string() + ": " + why_unreadable(file));
    return;
  }
  try {
    const toml::table root = toml::parse(*text, file.string());
    SettingsFile(file.string(), root, draft).read();
  } catch (const toml::parse_error& error) {
    draft.faults.push_back(file.string() + ":" + std::to_string(error.source().begin.line) +
                           ": not valid TOML: " + std::string(error.description()));
  }
}

}  // namespace spintag::config
