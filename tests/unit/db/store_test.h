// tests/unit/db/store_test.h - what tests of the store share: one server, a clean store for each
// test, made-up tracks.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "db/connection.h"
#include "db/store.h"
#include "tests/unit/db/scratch_cluster.h"

namespace spintag::db {

/// The server of this test program: started by the first test that asks, stopped after the last.
class SharedCluster : public ::testing::Environment {
 public:
  static ScratchCluster& get() {
    if (!instance()) instance() = std::make_unique<ScratchCluster>();
    return *instance();
  }
  void TearDown() override { instance().reset(); }

 private:
  static std::unique_ptr<ScratchCluster>& instance() {
    static std::unique_ptr<ScratchCluster> cluster;
    return cluster;
  }
};

inline std::vector<std::byte> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xFFU);
  return bytes;
}

/// Track number `n`, with `packed` left to the caller's bytes.
inline NewTrack made_up_track(int n, std::span<const std::byte> packed) {
  NewTrack track;
  track.info.title = "Title " + std::to_string(n);
  track.info.artist = "Artist";
  track.source = "/music/" + std::to_string(n) + ".flac";
  track.content_hash = "hash-" + std::to_string(n);
  track.source_size = 1000 + n;
  track.source_mtime_ns = 1'700'000'000'123'456'789 + n;
  track.duration_s = 240.25;
  track.landmarks = 5480;
  track.profile = "broadcast";
  track.profile_version = 3;
  track.packed = packed;
  return track;
}

/// Every test gets empty tables.
class StoreTest : public ::testing::Test {
 protected:
  StoreTest() : url_(SharedCluster::get().url()), store_(url_), direct_(url_) {
    for (const char* table : {"tracks", "fingerprints", "melodies", "signatures", "change_log",
                              "plays", "segments", "stations", "outbox", "outbox_purged"}) {
      direct_.query(std::string("delete from ") + table);  // truncate would make 40 new files
    }
  }

  std::int64_t count(const std::string& table_and_condition) {
    return direct_.query("select count(*) from " + table_and_condition).integer(0, 0);
  }

  std::string url_;
  Store store_;
  Connection direct_;  ///< to look and tamper behind the store's back
};

}  // namespace spintag::db
