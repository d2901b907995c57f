// kernels/cuda/warping.cu - two alignments in every register, an alignment's rows over some
// threads.
//
// D(i,j) needs nothing of its own column, so all rows of a column are filled at once: a thread
// holds up to 32 rows of two candidates (one in each half of a register), and the threads of a
// group hold all rows. After a column the last two rows of a thread go to the next one. That is
// intra-task parallelism along the column, and inter-task parallelism over groups, warps and
// halves. DPX instructions (W. Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU
// Architecture", 2024) take the least of three, or add and take the less, in one; the cost |q - e|
// is made of one more of them and of half-precision adds, which run beside them: w = min(max(e - q
// + cap, 0), 2 cap) is an integer below 2048, and the bits of an integer below 2048 are a
// half-precision number of as many steps of 2^-24. So |w - cap| in half precision is min(|e - q|,
// cap) as an integer, exactly.
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "kernels/cuda/context.cuh"
#include "kernels/cuda/warping.cuh"

namespace spintag::kernels::cuda {
namespace {

constexpr unsigned kThreads = 128;
constexpr unsigned kFull = 0xFFFFFFFFU;

struct Arguments {
  const std::int16_t* references;
  const std::int16_t* query;
  const WarpingCandidate* candidates;
  std::uint16_t* distances;
  std::uint32_t count;          ///< candidates
  std::uint32_t short_threads;  ///< of a group, the first: they hold a row less
  std::uint16_t cap;
  std::uint16_t far;
  bool skips_pay;
};

__device__ __forceinline__ unsigned both(unsigned half) { return half << 16 | half; }

__device__ __forceinline__ unsigned add_halves(unsigned a, unsigned b) {
  unsigned sum;
  asm("add.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}
__device__ __forceinline__ unsigned size_of_halves(unsigned a) {
  unsigned size;
  asm("abs.f16x2 %0, %1;" : "=r"(size) : "r"(a));
  return size;
}

/// All bits of a half where its highest is set, none where it is not.
__device__ __forceinline__ unsigned signs_of_halves(unsigned a) {
  unsigned signs;
  asm("prmt.b32 %0, %1, 0, 0xBB99;" : "=r"(signs) : "r"(a));
  return signs;
}

/// min(|e - q|, cap) of both halves.
/// @param e     elements
/// @param less  cap - q
struct Cost {
  unsigned twice_cap;
  unsigned minus_cap;  ///< as half-precision numbers
  __device__ explicit Cost(unsigned cap)
      : twice_cap(both(2 * cap)), minus_cap(both(0x8000U | cap)) {}
  __device__ __forceinline__ unsigned operator()(unsigned e, unsigned less) const {
    const unsigned above = __viaddmin_s16x2_relu(e, less, twice_cap);
    return size_of_halves(add_halves(above, minus_cap));
  }
};

__device__ __forceinline__ unsigned element(const Arguments& a, const WarpingCandidate& c,
                                            std::uint32_t j) {
  const auto read = static_cast<long long>(static_cast<unsigned long long>(c.step) * j >> 16);
  const long long at = min(max(c.start + read, 0LL), static_cast<long long>(c.count) - 1);
  return static_cast<std::uint16_t>(a.references[c.first + at] + c.level);
}

/// A group of threads takes two candidates next to each other.
template <int kRows, int kGroup, bool kSkipsPay>
__global__ void __launch_bounds__(kThreads) warping_kernel(Arguments a) {
  constexpr int kAtOnce = kGroup > 2 ? kGroup : 2;  // columns
  const unsigned lane = threadIdx.x % kGroup;
  const unsigned group = (blockIdx.x * kThreads + threadIdx.x) / kGroup;
  const bool shorter = lane < a.short_threads;  // its first row is the last one of the thread above
  const unsigned first_row = lane * kRows - min(lane, a.short_threads) - (shorter ? 1 : 0);
  const unsigned far = both(a.far);
  const Cost cost(a.cap);

  unsigned less[kRows];
#pragma unroll
  for (int s = 0; s < kRows; ++s) {
    const bool real = s > 0 || !shorter;
    less[s] = both(static_cast<std::uint16_t>(real ? a.cap - a.query[first_row + s] : 0));
  }

  WarpingCandidate mine[2];
#pragma unroll
  for (unsigned half = 0; half < 2; ++half)
    mine[half] = a.candidates[min(2 * group + half, a.count - 1)];
  unsigned columns = max(mine[0].length, mine[1].length);
  for (unsigned step = 16; step > 0; step /= 2)
    columns = max(columns, __shfl_xor_sync(kFull, columns, step));

  // Columns j - 1 and j - 2; of the rows above the thread's own, the last two, likewise.
  unsigned one[kRows];
  unsigned two[kRows];
#pragma unroll
  for (int s = 0; s < kRows; ++s) one[s] = two[s] = far;
  // Above row 0 every start is free, but only for row 0.
  const unsigned above_all = lane == 0 ? 0 : far;
  unsigned above_one = above_all;  // row above the first slot, column j - 1
  unsigned above_two = above_all;  // column j - 2
  unsigned second_one = far;       // two rows above, column j - 1
  if (shorter) {
    one[0] = two[0] = above_all;
    above_one = far;
  }
  // Row 1 may not pass over row 0: it is in the second slot or, of a shorter thread, in the third.
  const unsigned passed_by_second = lane == 0 && !shorter ? far : 0;
  const unsigned passed_by_third = lane == 0 && shorter ? far : 0;
  unsigned least = far;

  unsigned left = 0;  // columns of each candidate from the last one on; the sign says: still some
  // New column into `older`, which held column j - 2.
  const auto fill = [&](unsigned e, unsigned(&newer)[kRows], unsigned(&older)[kRows]) {
#pragma unroll
    for (int s = kRows - 1; s >= 0; --s) {
      const unsigned one_one = s > 0 ? newer[s - 1] : above_one;
      const unsigned one_two = s > 0 ? older[s - 1] : above_two;
      unsigned two_one = s > 1 ? newer[s - 2] : s == 1 ? above_one : second_one;
      if (s == 1) two_one = max(two_one, passed_by_second);
      if (s == 2) two_one = max(two_one, passed_by_third);
      const unsigned here = cost(e, less[s]);
      const unsigned best = kSkipsPay ? __viaddmin_u16x2(two_one, here, __vminu2(one_one, one_two))
                                      : __vimin3_u16x2(one_one, one_two, two_one);
      // Every path meets one of two rows next to each other, so that two in eight, the last two of
      // a thread among them, keep sums from wrapping: six rows between add six caps to far at most.
      older[s] = (kRows - 1 - s) % 8 < 2 ? __viaddmin_u16x2(best, here, far) : best + here;
    }
    if constexpr (kGroup > 1) {
      const unsigned last = __shfl_up_sync(kFull, older[kRows - 1], 1, kGroup);
      const unsigned second = __shfl_up_sync(kFull, kRows > 1 ? older[kRows - 2] : far, 1, kGroup);
      // What a shorter thread computes in its first slot is of no meaning: the row above replaces
      // it.
      const unsigned from_above = lane == 0 ? above_all : last;
      const unsigned from_second = lane == 0 ? far : second;
      above_two = above_one;
      second_one = from_second;
      above_one = shorter ? from_second : from_above;
      if (shorter) older[0] = from_above;
    }
    left -= both(1);
    least = __vminu2(least, older[kRows - 1] | ~signs_of_halves(left));
  };
  constexpr unsigned kSign = 0x8000;
  const auto left_from = [](std::uint32_t first, std::uint32_t length) {
    return kSign + (length > first ? min(length - first, 2U * kAtOnce) : 0U);
  };

  for (std::uint32_t first = 0; first < columns; first += kAtOnce) {
    // Each thread reads the elements of one column, and all take it from there.
    const std::uint32_t own = first + lane;
    left = left_from(first, mine[0].length) | left_from(first, mine[1].length) << 16;
    unsigned e = element(a, mine[0], own) | element(a, mine[1], own) << 16;
#pragma unroll(kSkipsPay ? 2 : 1)
    for (int k = 0; k < kAtOnce; k += 2) {
      unsigned even = e;
      unsigned odd = e;
      if constexpr (kGroup > 1) {
        even = __shfl_sync(kFull, e, k, kGroup);
        odd = __shfl_sync(kFull, e, k + 1, kGroup);
      } else {
        odd = element(a, mine[0], first + 1) | element(a, mine[1], first + 1) << 16;
      }
      fill(even, one, two);
      fill(odd, two, one);
    }
  }
  if (lane + 1 != kGroup) return;
#pragma unroll
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned distance = least >> 16 * half & 0xFFFFU;
    if (2 * group + half < a.count)
      a.distances[2 * group + half] =
          static_cast<std::uint16_t>(distance >= a.far ? kNoPath : distance);
  }
}

template <int kRows, int kGroup, bool kSkipsPay>
void launch_with(const Context& context, const Arguments& arguments) {
  const std::size_t threads = (std::size_t{arguments.count} + 1) / 2 * kGroup;
  launch(context, warping_kernel<kRows, kGroup, kSkipsPay>,
         dim3(static_cast<unsigned>((threads + kThreads - 1) / kThreads)), dim3(kThreads), 0,
         arguments);
}

using Launch = void (*)(const Context&, const Arguments&);

/// Launches by the rows of a thread, from kFirst on.
template <int kFirst, int kGroup, bool kSkipsPay, int... kIndex>
constexpr std::array<Launch, sizeof...(kIndex)> launches(std::integer_sequence<int, kIndex...>) {
  return {launch_with<kFirst + kIndex, kGroup, kSkipsPay>...};
}
template <int kFirst, int kLast, int kGroup>
void launch_for(const Context& context, Arguments arguments, std::size_t rows) {
  constexpr std::make_integer_sequence<int, kLast - kFirst + 1> kRows;
  constexpr auto kPaying = launches<kFirst, kGroup, true>(kRows);
  constexpr auto kPublished = launches<kFirst, kGroup, false>(kRows);
  const std::size_t of_thread = (rows + kGroup - 1) / kGroup;
  arguments.short_threads = static_cast<std::uint32_t>(of_thread * kGroup - rows);
  (arguments.skips_pay ? kPaying : kPublished)[of_thread - kFirst](context, arguments);
}

}  // namespace

void queue_warping(const Context& context, const std::int16_t* references,
                   const std::int16_t* query, std::size_t rows, const WarpingCandidate* candidates,
                   std::size_t count, const WarpingParams& params, std::uint16_t* distances) {
  const Arguments arguments{.references = references,
                            .query = query,
                            .candidates = candidates,
                            .distances = distances,
                            .count = static_cast<std::uint32_t>(count),
                            .short_threads = 0,
                            .cap = params.cap,
                            .far = warping_far(params.cap),
                            .skips_pay = params.skips_pay};
  // A shorter thread passes the last two rows of another on: three rows of a thread at least.
  if (rows <= 4) {
    launch_for<1, 4, 1>(context, arguments, rows);
  } else if (rows <= 16) {
    launch_for<3, 8, 2>(context, arguments, rows);
  } else if (rows <= 256) {
    launch_for<3, 32, 8>(context, arguments, rows);
  } else {
    launch_for<17, 32, 16>(context, arguments, rows);
  }
}

std::vector<std::uint16_t> warping_distances(Device& device,
                                             const Resident<std::int16_t>& references,
                                             std::span<const std::int16_t> query,
                                             std::span<const WarpingCandidate> candidates,
                                             const WarpingParams& params) {
  const auto& context = device.shared_context();
  context->make_current();
  const Array<std::int16_t> asked(context, query);
  const Array<WarpingCandidate> to_meet(context, candidates);
  const Array<std::uint16_t> distances(context, candidates.size());
  queue_warping(*context, references.on_device(), asked.data(), query.size(), to_meet.data(),
                candidates.size(), params, distances.data());
  return distances.download();
}

}  // namespace spintag::kernels::cuda
