// daemon/commands/config.cpp - `spintag config`: is the configuration right, and what is in force?
#include "daemon/commands/config.h"

#include <algorithm>
#include <iostream>

namespace spintag::daemon {

namespace {

std::string counted(std::size_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

}  // namespace

int run_config_check(const CommonOptions& common) {
  const config::Loaded loaded = load_settings(common);
  const std::string where = loaded.file.empty() ? "no file, defaults only" : loaded.file.string();
  std::cout << where << ": right; " << counted(loaded.settings.stations.size(), "station") << ", "
            << counted(loaded.settings.sinks.size(), "sink") << "\n";
  return kDone;
}

int run_config_print(const CommonOptions& common) {
  const config::Loaded loaded = load_settings(common);
  constexpr std::size_t kWidestColumn = 60;
  std::size_t column = 0;
  for (const config::Origin& setting : loaded.origins) {
    column = std::max(column, setting.key.size() + 3 + setting.value.size());
  }
  column = std::min(column, kWidestColumn);
  for (const config::Origin& setting : loaded.origins) {
    std::string line = setting.key + " = " + setting.value;
    if (line.size() < column) line.append(column - line.size(), ' ');
    std::cout << line << "  # " << setting.origin << "\n";
  }
  return kDone;
}

}  // namespace spintag::daemon
