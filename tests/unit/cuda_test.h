// tests/unit/cuda_test.h - the fixture of tests that need a CUDA device: without one they skip,
// and say why.
#pragma once

#include <gtest/gtest.h>

#include "kernels/device.h"

namespace spintag {

class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto found = kernels::list_cuda_devices();
    if (found.devices.empty()) GTEST_SKIP() << "no CUDA device: " << found.none_because;
    cuda_ = kernels::Device::open({kernels::DeviceChoice::Kind::kCuda, 0});
  }

  kernels::Device cpu_ = kernels::Device::cpu();
  kernels::Device cuda_ = kernels::Device::cpu();  ///< cuda:0 once a test runs
};

}  // namespace spintag
