// config/settings.h - the TOML file, with its defaults and where each value came from.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace spintag::config {

/// A wrong setting. The message says file:line: key: what is wrong, and the nearest known key or
/// value.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Station {
  std::string name;   ///< short name, [a-z0-9_-]+: key of plays and events
  std::string title;  ///< for people; default = name
  std::string url;    ///< http(s) stream
};

/// Where events go. Type "webhook" is a signed Standard Webhooks POST.
struct Sink {
  std::string name;
  std::string type = "webhook";
  std::string url;
  std::vector<std::string> secrets;   ///< whsec_...; several while one rotates
  std::vector<std::string> stations;  ///< empty = all
  std::vector<std::string> events;    ///< empty = all types
  std::chrono::seconds max_age{60};   ///< state events older than this are dropped
  std::chrono::milliseconds timeout{10'000};
};

struct Settings {
  std::string database_url;               ///< empty = the private cluster
  std::filesystem::path state_directory;  ///< empty = db::default_state_directory()
  std::string device = "auto";
  double min_confidence = 0.999;              ///< [recognition] threshold
  bool melodies_of_recordings = true;         ///< [melody] from_recordings
  bool listen_for_melodies = true;            ///< [melody] listen
  double min_melody_confidence = 0.9;         ///< [melody] threshold
  std::string web_listen = "127.0.0.1:8750";  ///< empty = no web server
  std::string web_token;                      ///< needed for anything but loopback
  std::string log_level = "info";
  std::vector<Station> stations;
  std::vector<Sink> sinks;
};

/// One effective setting and its origin: "default", "file.toml:12", "environment
/// SPINTAG_DATABASE_URL", "command line".
struct Origin {
  std::string key;
  std::string value;  ///< secrets masked
  std::string origin;
};

struct Loaded {
  Settings settings;
  std::vector<Origin> origins;
  std::filesystem::path file;  ///< empty when no file was read
};

/// Values that the command line gives; they win over environment and file.
struct Overrides {
  std::optional<std::string> database_url;
  std::optional<std::string> device;
  std::optional<std::string> log_level;
};

/// @param file  as --config gave it; empty = $SPINTAG_CONFIG, else /etc/spintag/spintag.toml if it
/// exists, else defaults
/// @throws ConfigError for a missing or unreadable file, a syntax error, an unknown key (nearest
/// known key named), a
///         wrong type or a value out of range; every fault found is in the message, one a line
Loaded load(const std::filesystem::path& file, const Overrides& overrides = {});

/// A URL or libpq connection string as it may be shown and logged: the password and the values of
/// secret parameters (token, key, password, ...) become "***".
std::string mask_url(const std::string& url);

/// Splits "127.0.0.1:8750" or "[::1]:8750". @throws ConfigError if it is neither
struct ListenAddress {
  std::string host;  ///< numeric, without brackets
  std::uint16_t port = 0;
  bool loopback = false;
};
ListenAddress parse_listen(const std::string& text);

}  // namespace spintag::config
