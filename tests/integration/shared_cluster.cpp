// tests/integration/shared_cluster.cpp - one scratch PostgreSQL for all tests of a program.
#include "tests/integration/shared_cluster.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/unit/db/scratch_cluster.h"

namespace spintag::testing {
namespace {

std::unique_ptr<db::ScratchCluster> cluster;

class StopCluster : public ::testing::Environment {
 public:
  void TearDown() override { cluster.reset(); }
};

const ::testing::Environment* const stop_at_the_end =
    ::testing::AddGlobalTestEnvironment(new StopCluster);  // GoogleTest owns it

}  // namespace

std::string shared_cluster_url() {
  if (!cluster) cluster = std::make_unique<db::ScratchCluster>();
  return cluster->url();
}

}  // namespace spintag::testing
