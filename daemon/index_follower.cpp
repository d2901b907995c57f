// daemon/index_follower.cpp - keeps a LiveIndex equal to the store while the daemon runs.
#include "daemon/index_follower.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace spintag::daemon {

IndexFollower::IndexFollower(LiveIndex& index, db::Store store, StatusBoard& board,
                             std::function<void()> revive_database, IndexFollowerParams params)
    : index_(index),
      store_(std::move(store)),
      board_(board),
      revive_database_(std::move(revive_database)),
      params_(params) {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    pthread_setname_np(pthread_self(), "index");
    work(stop);
  });
}

IndexFollower::~IndexFollower() {
  thread_.request_stop();
  thread_.join();
}

void IndexFollower::work(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  auto wait = params_.poll;
  auto last_save = std::chrono::steady_clock::now() - params_.save;
  bool away = false;
  while (!stop.stop_requested()) {
    try {
      const std::size_t changed = index_.refresh(store_);
      if (changed > 0) {
        const std::size_t tracks = index_.current()->track_count();
        board_.set_index(tracks);
        spdlog::info("the catalogue changed: {} tracks, {} known now", changed, tracks);
      }
      if (away) spdlog::info("following the catalogue again");
      away = false;
      wait = params_.poll;
    } catch (const std::exception& error) {
      // A database that is away comes back; a damaged print must not stop what is known.
      const auto* store_error = dynamic_cast<const db::StoreError*>(&error);
      if (store_error != nullptr && store_error->kind() == db::StoreError::Kind::unreachable)
        revive();
      if (!away) spdlog::warn("cannot follow the catalogue, trying again: {}", error.what());
      away = true;
      wait = std::min(2 * wait, params_.longest_wait);
    }
    if (std::chrono::steady_clock::now() - last_save >= params_.save) {
      save();
      last_save = std::chrono::steady_clock::now();
    }
    never.wait_for(lock, stop, wait, [] { return false; });
  }
  save();
}

void IndexFollower::revive() {
  try {
    revive_database_();
  } catch (const std::exception& error) {
    spdlog::warn("cannot start the database again: {}", error.what());
  }
}

void IndexFollower::save() {
  try {
    index_.save_if_worthwhile();
  } catch (const std::exception& error) {
    spdlog::warn("cannot write the index cache (the next start will take longer): {}",
                 error.what());
  }
}

}  // namespace spintag::daemon
