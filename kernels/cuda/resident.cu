// kernels/cuda/resident.cu - arrays that stay in the memory of a device.
#include "kernels/resident.h"

#include "kernels/cuda/context.cuh"

namespace spintag::kernels::cuda {

std::shared_ptr<const std::byte> device_copy(Device& device, std::span<const std::byte> bytes) {
  if (bytes.empty()) return nullptr;
  const auto& context = device.shared_context();
  context->make_current();
  const auto copy = std::make_shared<const Array<std::byte>>(context, bytes);
  context->synchronize();  // so that what comes from pageable memory has left it
  return {copy, copy->data()};
}

}  // namespace spintag::kernels::cuda
