// tests/unit/kernels/cuda_device_test.cpp - opening a CUDA device.
#include "tests/unit/cuda_test.h"

namespace spintag::kernels {
namespace {

using CudaDevice = CudaTest;

TEST_F(CudaDevice, OpensUnderItsName) {
  EXPECT_TRUE(cuda_.is_cuda());
  EXPECT_EQ(cuda_.name(), "cuda:0");
}

TEST_F(CudaDevice, ManyMayBeOpenAtOnce) {
  const Device other = Device::open({DeviceChoice::Kind::kCuda, 0});
  EXPECT_TRUE(other.is_cuda());
  EXPECT_NE(&other.context(), &cuda_.context());
}

}  // namespace
}  // namespace spintag::kernels
