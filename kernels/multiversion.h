// kernels/multiversion.h - hot loops compiled for several x86-64 levels, one chosen at start.
#pragma once

/// Put before a function whose loops should use wide vectors where the processor has them:
///
///     SPINTAG_CLONES void scale(const float* in, float* out, std::size_t count) { ... }
///
/// The levels are AVX-512 (x86-64-v4), AVX2 (v3) and the baseline (SSE2); the loader picks one,
/// once. What the function calls must be inlined into it (`inline` with [[gnu::always_inline]], or
/// a lambda) to be compiled for the same level. Results are the same at every level as long as the
/// source fixes the order of its sums: contraction to fused multiply-add is off for the whole tree,
/// and without -ffast-math the compiler never reorders floating point. Elsewhere (arm64, where NEON
/// is the baseline; sanitizers, which start after the choice) it is nothing.
#if defined(SPINTAG_MULTIVERSION) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SPINTAG_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SPINTAG_CLONES
#endif
