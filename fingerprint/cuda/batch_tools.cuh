// fingerprint/cuda/batch_tools.cuh - how batches come to the device and back, and how a batch gets
// the places of its lists.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "fingerprint/cuda/batches.cuh"
#include "kernels/cuda/scan.cuh"

namespace spintag::fingerprint::cuda {

using ContextPointer = std::shared_ptr<kernels::cuda::Context>;

inline constexpr unsigned kBlockThreads = 256;

inline unsigned blocks_for(std::size_t threads) {
  return static_cast<unsigned>((threads + kBlockThreads - 1) / kBlockThreads);
}

/// @throws kernels::DeviceError if there are more values than a batch can hold
inline std::uint32_t checked_total(const kernels::cuda::Context& context, unsigned long long total,
                                   const char* what) {
  if (total > std::numeric_limits<std::uint32_t>::max()) {
    throw kernels::DeviceError(context.name() + ": " + std::to_string(total) + " " + what +
                               " are too many for one batch (try a smaller batch)");
  }
  return static_cast<std::uint32_t>(total);
}

template <class T>
Batch<T> upload_lists(const ContextPointer& context, std::span<const std::span<const T>> lists) {
  std::vector<std::uint32_t> begin{0};
  std::size_t total = 0;
  for (const auto& list : lists) {
    total += list.size();
    begin.push_back(checked_total(*context, total, "values"));
  }
  std::vector<T> values;
  values.reserve(total);
  for (const auto& list : lists) values.insert(values.end(), list.begin(), list.end());
  Batch<T> batch;
  batch.values = kernels::cuda::Array<T>(context, values);
  batch.begin = kernels::cuda::Array<std::uint32_t>(context, begin);
  batch.count = static_cast<std::uint32_t>(lists.size());
  batch.total = begin.back();
  return batch;
}

template <class T>
std::vector<std::vector<T>> download_lists(const Batch<T>& batch) {
  const std::vector<std::uint32_t> begin = batch.begin.download(batch.count + std::size_t{1});
  const std::vector<T> values = batch.values.download(batch.total);
  std::vector<std::vector<T>> lists;
  lists.reserve(batch.count);
  for (std::uint32_t i = 0; i < batch.count; ++i) {
    lists.emplace_back(values.begin() + begin[i], values.begin() + begin[i + 1]);
  }
  return lists;
}

/// The places of what the values of a batch are turned into.
struct Places {
  kernels::cuda::Array<std::uint32_t> of_value;  ///< [from.total + 1]
  kernels::cuda::Array<std::uint32_t> begin;     ///< [count + 1] of the lists
  kernels::cuda::Array<unsigned long long> total;

  /// Waits. @throws kernels::DeviceError if there are too many
  std::uint32_t read_total(const kernels::cuda::Context& context, const char* what) const {
    unsigned long long value = 0;
    total.download(std::span(&value, 1));
    return checked_total(context, value, what);
  }
};

/// @param counts      [size + 1] how many each value becomes; the sums are made in its place
/// @param from_begin  [lists + 1] of the batch that the values are of, at most `size`
Places make_places(const ContextPointer& context, kernels::cuda::Array<std::uint32_t> counts,
                   const kernels::cuda::Array<std::uint32_t>& from_begin, std::uint32_t lists);

#ifdef __CUDACC__
/// The list that value i of a batch is of. @param lists  at least 1
__device__ inline std::uint32_t list_of(const std::uint32_t* begin, std::uint32_t lists,
                                        std::uint32_t i) {
  std::uint32_t low = 0;  // begin[low] <= i < begin[high]
  std::uint32_t high = lists;
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (begin[middle] <= i) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}
#endif

}  // namespace spintag::fingerprint::cuda
