// daemon/ingest/patient_store.h - a worker's connection, which outlasts a restart of the database.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <stop_token>
#include <utility>

#include "daemon/open_store.h"
#include "db/store.h"

namespace spintag::daemon {

/// The stop token asked for an end: nothing is wrong with the file.
struct Stopped {};

/// Connects when it is first asked. Single-threaded.
class PatientStore {
 public:
  /// @param site  must outlive this
  PatientStore(const StoreSite& site, std::stop_token stop) : site_(site), stop_(std::move(stop)) {}

  /// call(store) and what it returns; called again for some ten seconds while the database is away.
  /// @throws db::StoreError when it stays away or refuses; Stopped
  template <class Call>
  auto operator()(Call&& call) {
    const auto give_up_at = std::chrono::steady_clock::now() + kPatience;
    for (std::chrono::milliseconds pause{100};; pause = std::min(2 * pause, kLongestPause)) {
      try {
        if (!store_) store_.emplace(site_.open());
        return call(*store_);
      } catch (const db::StoreError& error) {
        if (error.kind() != db::StoreError::Kind::unreachable) throw;
        if (std::chrono::steady_clock::now() + pause > give_up_at) throw;
      }
      wait(pause);
    }
  }

 private:
  static constexpr std::chrono::seconds kPatience{10};  // a restart of PostgreSQL takes about that
  static constexpr std::chrono::milliseconds kLongestPause{1000};

  /// Not past a stop. @throws Stopped
  void wait(std::chrono::milliseconds time) const;

  const StoreSite& site_;
  std::stop_token stop_;
  std::optional<db::Store> store_;
};

}  // namespace spintag::daemon
