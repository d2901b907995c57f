// daemon/open_store.cpp - the store that the settings name: a server, or the private cluster.
#include "daemon/open_store.h"

#include <cstdint>
#include <cstdio>
#include <string_view>

namespace spintag::daemon {

namespace {

// FNV-1a, 64 bits: h = (h xor byte) * 0x100000001b3. Names a file; nothing depends on its strength.
std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char byte : text) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  }
  return hash;
}

}  // namespace

std::filesystem::path state_directory(const config::Settings& settings) {
  return settings.state_directory.empty() ? db::default_state_directory()
                                          : settings.state_directory;
}

std::filesystem::path index_snapshot_file(const config::Settings& settings) {
  if (settings.database_url.empty()) return state_directory(settings) / "index.snapshot";
  char name[48];
  std::snprintf(name, sizeof name, "index-%016llx.snapshot",
                static_cast<unsigned long long>(fnv1a(settings.database_url)));
  return state_directory(settings) / name;
}

StoreSite::StoreSite(const config::Settings& settings) : url_(settings.database_url) {
  if (!url_.empty()) return;
  cluster_.emplace(state_directory(settings));
  url_ = cluster_->url();
}

void StoreSite::ensure_running() {
  if (cluster_) cluster_->ensure_running();
}

}  // namespace spintag::daemon
