// tests/unit/daemon/progress_test.cpp - daemon/progress.h: what the line says.
#include "daemon/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace spintag::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Progress, SaysShareRateAndTimeLeft) {
  const std::string line = progress_line({25, 100, 2, 6000, 10}, 200);
  EXPECT_THAT(line, HasSubstr("[######..................] 25/100 files, 2 failed"));
  EXPECT_THAT(line, HasSubstr("600x real time"));
  EXPECT_THAT(line, HasSubstr("30.0 s left")) << "10 s for a quarter";
}

TEST(Progress, FirstAndLastLineFindNoTimeLeft) {
  EXPECT_THAT(progress_line({0, 100, 0, 0, 0}, 200), Not(HasSubstr("left")));
  EXPECT_THAT(progress_line({100, 100, 0, 600, 10}, 200), Not(HasSubstr("left")));
  EXPECT_THAT(progress_line({3, 100, 3, 0, 0.1}, 200), Not(HasSubstr("left"))) << "too early";
  EXPECT_THAT(progress_line({0, 0, 0, 0, 0}, 200), HasSubstr("0/0 files"));
}

TEST(Progress, NeverWrapsTheTerminal) {
  EXPECT_LE(progress_line({25, 100, 2, 6000, 10}, 40).size(), 39U + 2U);  // the dots are 3 bytes
}

}  // namespace
}  // namespace spintag::daemon
