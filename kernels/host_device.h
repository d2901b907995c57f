// kernels/host_device.h - functions that the processor and a CUDA device share to the last bit.
#pragma once

/// Put before an inline function that both compile. Neither contracts a * b + c (nvcc:
/// --fmad=false, GCC: -ffp-contract=off), and both divide and take roots as IEEE 754 says, so the
/// results are the same bits as long as the function calls nothing of <cmath> but std::abs, floor,
/// ceil and sqrt.
#ifdef __CUDACC__
#define SPINTAG_HOST_DEVICE __host__ __device__
#else
#define SPINTAG_HOST_DEVICE
#endif
