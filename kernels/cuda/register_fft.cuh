// kernels/cuda/register_fft.cuh - discrete Fourier transforms of 2 to 32 complex numbers that one
// thread holds in registers.
// Source: J. W. Cooley, J. W. Tukey, "An Algorithm for the Machine Calculation of Complex Fourier
// Series", Math. Comp. 19 (1965): with n = B n1 + n2 and k = k1 + A k2,
//   X(k) = sum_n2 W_B^(n2 k2) W_AB^(n2 k1) sum_n1 W_A^(n1 k1) x(n),  W_N = exp(-2 pi i / N).
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

namespace spintag::kernels::cuda {

/// cos(2 pi k / n); sums up the series from its smallest term.
constexpr double cosine_of_turn(int k, int n) {
  const double angle = 6.283185307179586476925 * k / n;
  double sum = 1;
  for (int term = 40; term > 0; term -= 2) sum = 1 - angle * angle / (term * (term - 1)) * sum;
  return sum;
}

__device__ __forceinline__ float2 operator+(float2 a, float2 b) {
  return make_float2(a.x + b.x, a.y + b.y);
}
__device__ __forceinline__ float2 operator-(float2 a, float2 b) {
  return make_float2(a.x - b.x, a.y - b.y);
}
__device__ __forceinline__ float2 multiply(float2 a, float2 b) {
  return make_float2(fmaf(a.x, b.x, -a.y * b.y), fmaf(a.x, b.y, a.y * b.x));
}

/// a * exp(-2 pi i k / n)
template <int k, int n>
__device__ __forceinline__ float2 rotate(float2 a) {
  if constexpr (k % n == 0) return a;
  if constexpr (4 * k == n) return make_float2(a.y, -a.x);
  constexpr float kCos = static_cast<float>(cosine_of_turn(k % n, n));
  constexpr float kSin = static_cast<float>(cosine_of_turn((4 * k + 3 * n) % (4 * n), 4 * n));
  return multiply(a, make_float2(kCos, -kSin));
}

/// rotate<k n2, n>(a[k]) for all k of the array
template <int n2, int n, int... k>
__device__ __forceinline__ void rotate_all(float2 (&a)[sizeof...(k)],
                                           std::integer_sequence<int, k...>) {
  ((a[k] = rotate<k * n2, n>(a[k])), ...);
}

template <int N>
__device__ __forceinline__ void transform(float2 (&v)[N]);

template <int N, int A, int B, int n2>
__device__ __forceinline__ void column(float2 (&v)[N]) {
  float2 a[A];
#pragma unroll
  for (int n1 = 0; n1 < A; ++n1) a[n1] = v[B * n1 + n2];
  transform(a);
  rotate_all<n2, N>(a, std::make_integer_sequence<int, A>());
#pragma unroll
  for (int k1 = 0; k1 < A; ++k1) v[B * k1 + n2] = a[k1];
}

template <int N, int A, int B, int... n2>
__device__ __forceinline__ void columns(float2 (&v)[N], std::integer_sequence<int, n2...>) {
  (column<N, A, B, n2>(v), ...);
}

/// v(k) = sum_n v(n) exp(-2 pi i k n / N), N = 1, 2, 4, 8, 16 or 32
template <int N>
__device__ __forceinline__ void transform(float2 (&v)[N]) {
  if constexpr (N == 2) {
    const float2 difference = v[0] - v[1];
    v[0] = v[0] + v[1];
    v[1] = difference;
  } else if constexpr (N == 4) {
    const float2 even = v[0] + v[2];
    const float2 even_difference = v[0] - v[2];
    const float2 odd = v[1] + v[3];
    const float2 odd_difference = rotate<1, 4>(v[1] - v[3]);
    v[0] = even + odd;
    v[1] = even_difference + odd_difference;
    v[2] = even - odd;
    v[3] = even_difference - odd_difference;
  } else if constexpr (N > 4) {
    constexpr int A = N == 8 ? 2 : 4;
    constexpr int B = N / A;
    columns<N, A, B>(v, std::make_integer_sequence<int, B>());
    float2 result[N];
#pragma unroll
    for (int k1 = 0; k1 < A; ++k1) {
      float2 row[B];
#pragma unroll
      for (int n2 = 0; n2 < B; ++n2) row[n2] = v[B * k1 + n2];
      transform(row);
#pragma unroll
      for (int k2 = 0; k2 < B; ++k2) result[k1 + A * k2] = row[k2];
    }
#pragma unroll
    for (int k = 0; k < N; ++k) v[k] = result[k];
  }
}

}  // namespace spintag::kernels::cuda
