// tests/unit/db/main.cpp - runs the tests, then stops the server that they shared.
#include <gtest/gtest.h>

#include "tests/unit/db/store_test.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::AddGlobalTestEnvironment(new spintag::db::SharedCluster);
  return RUN_ALL_TESTS();
}
