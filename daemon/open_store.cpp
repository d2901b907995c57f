// daemon/open_store.cpp - the store that the settings name: a server, or the private cluster.
#include "daemon/open_store.h"

namespace spintag::daemon {

std::filesystem::path state_directory(const config::Settings& settings) {
  return settings.state_directory.empty() ? db::default_state_directory()
                                          : settings.state_directory;
}

StoreSite::StoreSite(const config::Settings& settings) : url_(settings.database_url) {
  if (!url_.empty()) return;
  cluster_.emplace(state_directory(settings));
  url_ = cluster_->url();
}

}  // namespace spintag::daemon
