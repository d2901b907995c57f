// config/settings.cpp - defaults, then file, then environment, then command line.
#include "config/settings.h"

#include <algorithm>
#include <cstdlib>

#include "config/draft.h"
#include "config/value_checks.h"

namespace spintag::config {
namespace {

constexpr const char* kSystemFile = "/etc/spintag/spintag.toml";

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

void note_defaults(Draft& draft) {
  const Settings& settings = draft.settings;
  draft.note("database.url", settings.database_url, "default");
  draft.note("database.state_directory", settings.state_directory.string(), "default");
  draft.note("recognition.device", settings.device, "default");
  draft.note("recognition.threshold", number_text(settings.min_confidence), "default");
  draft.note("melody.from_recordings", truth_text(settings.melodies_of_recordings), "default");
  draft.note("melody.listen", truth_text(settings.listen_for_melodies), "default");
  draft.note("melody.threshold", number_text(settings.min_melody_confidence), "default");
  draft.note("web.listen", settings.web_listen, "default");
  draft.note("web.token", settings.web_token, "default");
  draft.note("log.level", settings.log_level, "default");
}

/// A text setting from outside the file; `shown` is what may be printed of it.
void take(Draft& draft, std::string& target, const std::string& key, const std::string& value,
          const std::string& origin, const Fault& fault, const std::string& shown) {
  if (fault) {
    draft.faults.push_back(origin + ": " + key + ": " + *fault);
    return;
  }
  target = value;
  draft.note(key, shown, origin);
}

void read_environment(Draft& draft) {
  if (const std::string url = environment("SPINTAG_DATABASE_URL"); !url.empty()) {
    take(draft, draft.settings.database_url, "database.url", url,
         "environment SPINTAG_DATABASE_URL", check_database_url(url), mask_url(url));
  }
  if (const std::string token = environment("SPINTAG_TOKEN"); !token.empty()) {
    take(draft, draft.settings.web_token, "web.token", token, "environment SPINTAG_TOKEN",
         check_token(token), "***");
  }
}

void read_overrides(const Overrides& overrides, Draft& draft) {
  const std::string origin = "command line";
  Settings& settings = draft.settings;
  if (const auto& url = overrides.database_url) {
    take(draft, settings.database_url, "database.url", *url, origin, check_database_url(*url),
         mask_url(*url));
  }
  if (const auto& device = overrides.device) {
    take(draft, settings.device, "recognition.device", *device, origin, check_device(*device),
         *device);
  }
  if (const auto& level = overrides.log_level) {
    take(draft, settings.log_level, "log.level", *level, origin, check_log_level(*level), *level);
  }
}

/// What only the finished settings can say.
void check_together(Draft& draft) {
  const Settings& settings = draft.settings;
  if (settings.web_listen.empty() || !settings.web_token.empty()) return;
  if (check_listen(settings.web_listen) || parse_listen(settings.web_listen).loopback) return;
  draft.faults.push_back(draft.origin_of("web.listen") + ": web.listen: " + settings.web_listen +
                         " can be reached from other machines, and there is no token (set "
                         "web.token or web.token_file, or listen on 127.0.0.1)");
}

std::filesystem::path choose_file(const std::filesystem::path& given) {
  if (!given.empty()) return given;
  if (std::string named = environment("SPINTAG_CONFIG"); !named.empty()) return named;
  std::error_code ignored;  // a file that cannot even be looked for is not there
  return std::filesystem::exists(kSystemFile, ignored) ? kSystemFile : std::filesystem::path();
}

}  // namespace

void Draft::note(const std::string& key, const std::string& value, const std::string& origin) {
  const auto found = std::ranges::find(origins, key, &Origin::key);
  if (found == origins.end()) {
    origins.push_back({key, value, origin});
  } else {
    *found = {key, value, origin};
  }
}

std::string Draft::origin_of(const std::string& key) const {
  const auto found = std::ranges::find(origins, key, &Origin::key);
  return found == origins.end() ? std::string() : found->origin;
}

Loaded load(const std::filesystem::path& given, const Overrides& overrides) {
  Draft draft;
  note_defaults(draft);
  const std::filesystem::path file = choose_file(given);
  if (!file.empty()) read_settings_file(file, draft);
  read_environment(draft);
  read_overrides(overrides, draft);
  check_together(draft);
  if (!draft.faults.empty()) {
    std::string message;
    for (const std::string& fault : draft.faults) {
      if (!message.empty()) message += '\n';
      message += fault;
    }
    throw ConfigError(message);
  }
  return {std::move(draft.settings), std::move(draft.origins), file};
}

}  // namespace spintag::config
