// tests/unit/daemon/device_backends_test.cpp - which device does the work.
#include "daemon/device_backends.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "kernels/device.h"

namespace spintag::daemon {
namespace {

TEST(DeviceBackends, ProcessorHasNone) {
  EXPECT_EQ(open_match_backend("cpu"), nullptr);
  EXPECT_EQ(open_extract_backend("cpu", fingerprint::Wanted::peaks), nullptr);
  EXPECT_THROW(open_match_backend("cuda:999"), kernels::DeviceError);
  EXPECT_THROW(open_extract_backend("abacus", fingerprint::Wanted::peaks), kernels::DeviceError);
}

TEST(DeviceBackends, AutoLeavesADeviceAloneForFewSmallFiles) {
  const std::vector<std::string> few(5, "/does/not/exist.mp3");
  const std::vector<std::string> many(500, "/does/not/exist.mp3");
  EXPECT_EQ(device_for("auto", few), "cpu");
  EXPECT_EQ(device_for("auto", many), "auto");
  EXPECT_EQ(device_for("cuda:0", few), "cuda:0") << "it was asked for by name";
  EXPECT_EQ(device_for("cpu", many), "cpu");
}

TEST(DeviceBackends, AutoTakesADeviceForOneLargeFile) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("spintag-large-" + std::to_string(::getpid()) + ".mp3");
  std::ofstream(file) << "x";
  std::filesystem::resize_file(file, 200'000'000);  // a hole: it takes no room
  const std::vector<std::string> files{file};
  EXPECT_EQ(device_for("auto", files), "auto");
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace spintag::daemon
