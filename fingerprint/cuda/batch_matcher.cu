// fingerprint/cuda/batch_matcher.cu - the searches of many windows, stage by stage on the device.
#include "fingerprint/cuda/batch_matcher.h"

namespace spintag::fingerprint::cuda {

std::unique_ptr<BatchMatcher> make_batch_matcher(kernels::Device& device) {
  throw kernels::DeviceError(device.name() + ": matching is not on the device yet");
}

}  // namespace spintag::fingerprint::cuda
