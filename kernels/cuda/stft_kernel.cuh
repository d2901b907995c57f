// kernels/cuda/stft_kernel.cuh - power spectra of real frames: the transform of a frame by one warp
// or a few, in registers but for what the threads exchange.
// Source: G. D. Stockham, "High-Speed Convolution and Correlation", AFIPS 1966 (the self-sorting
// transform); N. K. Govindaraju et al., "High Performance Discrete Fourier Transforms on Graphics
// Processors", SC 2008 (one radix a thread and pass, exchange through shared memory).
#pragma once

#include "kernels/cuda/register_fft.cuh"
#include "kernels/cuda/stft.cuh"
#include "kernels/decibels.h"

namespace spintag::kernels::cuda {

constexpr int kStftThreads = 128;
constexpr int kHeld = 32;  ///< complex numbers that a thread holds

/// How a real frame of 2 * kPoints samples is shared out. Thread t of a frame holds the points
/// t + kLanes * m, m = 0 .. 31, before the first pass, between any two, and after the last.
template <int kPoints>
struct StftShape {
  static constexpr int kLanes = kPoints / kHeld;  ///< threads of a frame
  static constexpr int kAtOnce = kStftThreads / kLanes;
  static constexpr int kRounds = kLanes <= 32 ? 8 : 16;
  static constexpr int kFramesOfBlock = kAtOnce * kRounds;
  static constexpr int kPasses = kLanes <= 32 ? 2 : 3;
  static constexpr int kBlocksAtLeast =
      kPasses == 2 ? 4 : 3;  ///< of a multiprocessor: 128 or 168 registers
  static constexpr int kSecond = kPoints == 2048 ? 8 : kPoints == 4096 ? 16 : kLanes;  ///< radix
  static constexpr int kThird = kPoints / kHeld / kSecond;
  static constexpr int kPadded = kPoints + kPoints / 32;  ///< of a frame's exchange
  static constexpr std::size_t kSharedBytes = sizeof(float2) * kPadded * kAtOnce;
};

/// Arguments of spectrogram_kernel.
struct StftArguments {
  const float* samples;
  const SignalFrames* signals;
  std::uint32_t signal_count;
  std::uint32_t hop;
  const float2* window;    ///< [16, kLanes, 2]
  const float2* twiddle;   ///< [passes - 1, 16, kLanes, 2]
  const float2* untangle;  ///< [16, kLanes]: exp(-i pi k / kPoints), k = t + kLanes m
  float factor;
  float edge_factor;
  float offset;
  int first_bin;
  int bins;
  float* rows;
  std::size_t row_stride;
};

/// One space in 32, so that threads which write 32 places apart meet different banks.
__device__ __forceinline__ int padded(int place) { return place + (place >> 5); }

/// The threads of a frame wait for each other.
template <int kLanes>
__device__ __forceinline__ void sync_frame() {
  if constexpr (kLanes <= 32) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

/// A table's two numbers for m = 2 i and 2 i + 1.
template <int kLanes>
__device__ __forceinline__ float4 table_pair(const float2* table, int i, int t) {
  return __ldg(reinterpret_cast<const float4*>(table) + i * kLanes + t);
}

template <int kPoints>
__device__ __forceinline__ void load_windowed(const StftArguments& a, const float* frame, int t,
                                              float2 (&v)[kHeld]) {
  constexpr int kLanes = StftShape<kPoints>::kLanes;
  if ((reinterpret_cast<std::uintptr_t>(frame) & 7) == 0) {
    const auto* const pairs = reinterpret_cast<const float2*>(frame);
#pragma unroll
    for (int m = 0; m < kHeld; ++m) v[m] = __ldg(pairs + t + kLanes * m);
  } else {
#pragma unroll
    for (int m = 0; m < kHeld; ++m) {
      v[m].x = __ldg(frame + 2 * (t + kLanes * m));
      v[m].y = __ldg(frame + 2 * (t + kLanes * m) + 1);
    }
  }
#pragma unroll
  for (int i = 0; i < kHeld / 2; ++i) {
    const float4 w = table_pair<kLanes>(a.window, i, t);
    v[2 * i].x *= w.x;
    v[2 * i].y *= w.y;
    v[2 * i + 1].x *= w.z;
    v[2 * i + 1].y *= w.w;
  }
}

/// One Stockham pass: butterfly b = t + kLanes i of radix r takes the points b + (kPoints / r) j.
/// `done` is the product of the radices before.
template <int kPoints, int r, int done>
__device__ __forceinline__ void butterflies(const float2* twiddle, int t, float2 (&v)[kHeld]) {
  constexpr int kLanes = StftShape<kPoints>::kLanes;
  constexpr int kEach = kHeld / r;  // butterflies of a thread
  if constexpr (done > 1) {
#pragma unroll
    for (int i = 0; i < kHeld / 2; ++i) {
      const float4 w = table_pair<kLanes>(twiddle, i, t);
      if (2 * i >= kEach) v[2 * i] = multiply(v[2 * i], make_float2(w.x, w.y));
      if (2 * i + 1 >= kEach) v[2 * i + 1] = multiply(v[2 * i + 1], make_float2(w.z, w.w));
    }
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    float2 u[r];
#pragma unroll
    for (int j = 0; j < r; ++j) u[j] = v[i + j * kEach];
    transform(u);
#pragma unroll
    for (int j = 0; j < r; ++j) v[i + j * kEach] = u[j];
  }
}

/// Result j of butterfly b goes to (b / done) done r + b mod done + j done.
template <int kPoints, int r, int done>
__device__ __forceinline__ void exchange(float2* shared, int t, float2 (&v)[kHeld]) {
  using Shape = StftShape<kPoints>;
  constexpr int kEach = kHeld / r;
  sync_frame<Shape::kLanes>();  // what was there before has been read
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int b = t + Shape::kLanes * i;
    const int place = b / done * (done * r) + b % done;
#pragma unroll
    for (int j = 0; j < r; ++j) shared[padded(place + j * done)] = v[i + j * kEach];
  }
  sync_frame<Shape::kLanes>();
#pragma unroll
  for (int m = 0; m < kHeld; ++m) v[m] = shared[padded(t + Shape::kLanes * m)];
}

template <int kPoints>
__device__ __forceinline__ void transform_frame(const StftArguments& a, float2* shared, int t,
                                                float2 (&v)[kHeld]) {
  using Shape = StftShape<kPoints>;
  butterflies<kPoints, kHeld, 1>(nullptr, t, v);
  exchange<kPoints, kHeld, 1>(shared, t, v);
  butterflies<kPoints, Shape::kSecond, kHeld>(a.twiddle, t, v);
  if constexpr (Shape::kPasses == 3) {
    exchange<kPoints, Shape::kSecond, kHeld>(shared, t, v);
    butterflies<kPoints, Shape::kThird, kHeld * Shape::kSecond>(a.twiddle + kPoints, t, v);
  }
}

template <bool kDecibels>
__device__ __forceinline__ void store_power(const StftArguments& a, float* row, int k, float re,
                                            float im, float factor) {
  const int column = k - a.first_bin;
  if (column < 0 || column >= a.bins) return;
  const float power = fmaf(re, re, im * im) * factor;
  row[column] = kDecibels ? decibels(power, a.offset) : power;
}

/// Bins k and kPoints - k from Z(k) and Z(kPoints - k), as kernels/stft.cpp has it: with E and O as
/// there, X(k) = E + W(k) O and X(kPoints - k) = conj(E - W(k) O). A thread holds k = t + kLanes m;
/// those of the upper half come through shared memory.
template <int kPoints, bool kDecibels>
__device__ __forceinline__ void store_bins(const StftArguments& a, float2* shared, int t,
                                           const float2 (&v)[kHeld], float* row) {
  constexpr int kLanes = StftShape<kPoints>::kLanes;
  constexpr int kHalf = kPoints / 2;
  sync_frame<kLanes>();
#pragma unroll
  for (int m = kHeld / 2; m < kHeld; ++m) shared[t + kLanes * (m - kHeld / 2)] = v[m];
  sync_frame<kLanes>();
  if (row == nullptr) return;
#pragma unroll
  for (int m = 0; m < kHeld / 2; ++m) {
    const int k = t + kLanes * m;
    const float2 z = v[m];
    const float2 mirror = k == 0 ? z : shared[kHalf - (k == 0 ? 1 : k)];
    const float2 even = make_float2(z.x + mirror.x, z.y - mirror.y);
    const float2 odd = make_float2(z.y + mirror.y, mirror.x - z.x);
    const float2 turned = multiply(__ldg(a.untangle + k), odd);
    const float factor = k == 0 ? a.edge_factor : a.factor;
    store_power<kDecibels>(a, row, k, even.x + turned.x, even.y + turned.y, factor);
    store_power<kDecibels>(a, row, kPoints - k, even.x - turned.x, even.y - turned.y, factor);
  }
  if (t == 0) {  // k = kPoints / 2 is its own mirror: X = 2 conj Z
    store_power<kDecibels>(a, row, kHalf, 2 * v[kHeld / 2].x, 2 * v[kHeld / 2].y, a.factor);
  }
}

/// The signal that a block works on: the first whose blocks_until is beyond it.
__device__ __forceinline__ std::uint32_t signal_of_block(const StftArguments& a) {
  std::uint32_t first = 0;
  std::uint32_t last = a.signal_count - 1;
  while (first < last) {
    const std::uint32_t middle = (first + last) / 2;
    if (a.signals[middle].blocks_until > blockIdx.x) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return first;
}

/// A block takes kFramesOfBlock frames of one signal, kAtOnce side by side.
template <int kPoints, bool kDecibels>
__global__ void __launch_bounds__(kStftThreads, StftShape<kPoints>::kBlocksAtLeast)
    spectrogram_kernel(StftArguments a) {
  using Shape = StftShape<kPoints>;
  const int t = static_cast<int>(threadIdx.x) % Shape::kLanes;
  const int group = static_cast<int>(threadIdx.x) / Shape::kLanes;
  float2* const shared = dynamic_shared<float2>() + group * Shape::kPadded;
  const std::uint32_t index = signal_of_block(a);
  const SignalFrames signal = a.signals[index];
  const std::uint32_t block = blockIdx.x - (index == 0 ? 0 : a.signals[index - 1].blocks_until);
#pragma unroll 1
  for (int round = 0; round < Shape::kRounds; ++round) {
    // A whole round is past the end for every thread or for none of those that wait for each other.
    const std::uint32_t round_begin = block * Shape::kFramesOfBlock + round * Shape::kAtOnce;
    if (round_begin >= signal.frames) return;
    const std::uint32_t frame = round_begin + group;
    const bool there = frame < signal.frames;
    const std::size_t read = there ? frame : signal.frames - 1;
    float2 v[kHeld];
    load_windowed<kPoints>(a, a.samples + signal.begin + read * a.hop, t, v);
    transform_frame<kPoints>(a, shared, t, v);
    float* const row =
        there ? a.rows + (static_cast<std::size_t>(signal.first_row) + frame) * a.row_stride
              : nullptr;
    store_bins<kPoints, kDecibels>(a, shared, t, v, row);
  }
}

}  // namespace spintag::kernels::cuda
