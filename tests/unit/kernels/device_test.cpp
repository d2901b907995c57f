// tests/unit/kernels/device_test.cpp - device texts, and what is said of CUDA where there is none.
#include "kernels/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace spintag::kernels {
namespace {

TEST(DeviceChoice, KnowsItsThreeForms) {
  EXPECT_EQ(DeviceChoice::parse("auto").kind, DeviceChoice::Kind::kAuto);
  EXPECT_EQ(DeviceChoice::parse("cpu").kind, DeviceChoice::Kind::kCpu);
  const DeviceChoice choice = DeviceChoice::parse("cuda:12");
  EXPECT_EQ(choice.kind, DeviceChoice::Kind::kCuda);
  EXPECT_EQ(choice.index, 12);
}

TEST(DeviceChoice, RefusesAnythingElseAndQuotesIt) {
  for (const char* text : {"", "CPU", "cpu ", "gpu", "cuda", "cuda:", "cuda:-1", "cuda:x",
                           "cuda:1x", "cuda: 1", "cuda:99999999999"}) {
    try {
      DeviceChoice::parse(text);
      ADD_FAILURE() << text;
    } catch (const DeviceError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr('"' + std::string(text) + '"'));
      EXPECT_THAT(error.what(), testing::HasSubstr("try auto, cpu or cuda:0"));
    }
  }
}

TEST(Device, CpuIsTheProcessor) {
  const Device device = Device::open(DeviceChoice::parse("cpu"));
  EXPECT_FALSE(device.is_cuda());
  EXPECT_EQ(device.name(), "cpu");
}

TEST(Device, AutoTakesACudaDeviceWhereThereIsOne) {
  const Device device = Device::open(DeviceChoice::parse("auto"));
  const bool expected = !list_cuda_devices().devices.empty();
  EXPECT_EQ(device.is_cuda(), expected);
  EXPECT_EQ(device.name(), expected ? "cuda:0" : "cpu");
}

TEST(Device, CudaDeviceThatIsNotThereIsRefusedWithTheReason) {
  try {
    Device::open(DeviceChoice::parse("cuda:99"));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("cuda:99"));
    const std::string reason = list_cuda_devices().none_because;
    EXPECT_THAT(error.what(), testing::HasSubstr(reason.empty() ? "from cuda:0 on" : reason));
  }
}

TEST(CudaDevices, AreListedOrTheirAbsenceIsExplained) {
  const CudaDevices found = list_cuda_devices();
  EXPECT_EQ(found.devices.empty(), !found.none_because.empty());
  for (std::size_t i = 0; i < found.devices.size(); ++i) {
    EXPECT_EQ(found.devices[i].index, static_cast<int>(i));
    EXPECT_FALSE(found.devices[i].name.empty());
    EXPECT_GT(found.devices[i].memory_bytes, 0U);
    EXPECT_GE(found.devices[i].compute_major, 1);
    EXPECT_GT(found.driver_version, 0);
    EXPECT_GT(found.runtime_version, 0);
  }
}

}  // namespace
}  // namespace spintag::kernels
