// fingerprint/no_cuda.cpp - the CUDA functions of a program that was built without CUDA. Nobody
// gets as far as calling one, because no CUDA device can be opened.
#include "kernels/device.h"

namespace spintag::fingerprint::cuda {}  // namespace spintag::fingerprint::cuda
