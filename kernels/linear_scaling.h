// kernels/linear_scaling.h - where in many sequences a query fits, at which scale, up to a level.
// Source: J.-S. R. Jang, H.-R. Lee, "Hierarchical filtering method for content-based music
// retrieval via acoustic input", ACM Multimedia 2001: the query is stretched by some factors, and
// each is compared point by point.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/device.h"
#include "kernels/resident.h"

namespace spintag::kernels {

/// Longest query, and largest size of a sample of query or sequence: sums of products of so many
/// are below 2^24, exact in 32 bits and in float whatever the order.
inline constexpr std::size_t kLongestScaledQuery = 255;
inline constexpr int kLargestScaledSample = 256;

/// Sequences one after another, each with the samples at which a query may begin. Beyond its end a
/// sequence keeps its last sample.
class ScalingSequences {
 public:
  /// Every sample is a start.
  /// @param samples  integers, at most kLargestScaledSample in size
  /// @throws std::invalid_argument if there is none
  void add(std::span<const float> samples);

  /// @param starts  ascending, each once, all of them samples of this sequence; there may be none
  /// @throws std::invalid_argument if there is no sample, or for starts that are not like that
  void add(std::span<const float> samples, std::span<const std::uint32_t> starts);

  std::size_t size() const { return firsts_.size() - 1; }
  std::span<const float> operator[](std::size_t sequence) const {
    return {samples_.data() + firsts_[sequence], firsts_[sequence + 1] - firsts_[sequence]};
  }
  std::span<const std::uint32_t> starts(std::size_t sequence) const {
    return {starts_.data() + first_starts_[sequence],
            first_starts_[sequence + 1] - first_starts_[sequence]};
  }

  /// All sequences' samples and starts, one sequence after another, and where each begins; there is
  /// one end more.
  std::span<const float> all_samples() const { return samples_; }
  std::span<const std::size_t> firsts() const { return firsts_; }
  std::span<const std::uint32_t> all_starts() const { return starts_; }
  std::span<const std::size_t> first_starts() const { return first_starts_; }

 private:
  std::vector<float> samples_;
  std::vector<std::size_t> firsts_ = {0};
  std::vector<std::uint32_t> starts_;
  std::vector<std::size_t> first_starts_ = {0};
};

/// Sequences where a device reads them, as they were when this was made.
struct ResidentSequences {
  /// @param all  outlives this
  /// @throws DeviceError if the device has no room for them
  ResidentSequences(Device& device, const ScalingSequences& all)
      : sequences(&all),
        samples(device, all.all_samples()),
        firsts(device, all.firsts()),
        starts(device, all.all_starts()),
        first_starts(device, all.first_starts()) {}

  const ScalingSequences* sequences;
  Resident<float> samples;
  Resident<std::size_t> firsts;
  Resident<std::uint32_t> starts;
  Resident<std::size_t> first_starts;
};

struct ScalingHit {
  double distance = 0;
  std::uint32_t sequence = 0;
  std::uint32_t start = 0;  ///< sample of the sequence
  std::uint32_t scale = 0;  ///< which query

  friend bool operator==(const ScalingHit&, const ScalingHit&) = default;
};

struct ScalingParams {
  std::size_t hits_per_sequence = 3;
  /// Share of a query that may lie beyond the sequence's end: a singer slows down.
  double overhang = 0.1;
  unsigned threads = 0;  ///< of the processor; 0 = as many as it has cores

  /// How many samples of a query have to lie in the sequence.
  std::size_t inside(std::size_t query) const {
    return static_cast<std::size_t>(std::ceil(static_cast<double>(query) * (1 - overhang)));
  }
};

/// For every start the least over all queries of the mean squared difference less its mean,
///
///     distance = (N sum((q - r)^2) - (sum(q - r))^2) / N^2,
///
/// and of each sequence the starts whose distance is less than that of the start before and not
/// more than that of the start after. Ties go to the lower query, then to the earlier start.
/// @param queries    one a scale, integers; those that are empty take no part
/// @param sequences  numbers of those to look at
/// @return for each of `sequences` its best hits, best first, one sequence after another. The same
/// from every device.
/// @throws std::invalid_argument for a query that is too long, DeviceError if the device fails
std::vector<ScalingHit> linear_scaling(Device& device, const ResidentSequences& references,
                                       std::span<const std::vector<float>> queries,
                                       std::span<const std::uint32_t> sequences,
                                       const ScalingParams& params = {});

/// linear_scaling() as it is defined, one start after another on one core.
std::vector<ScalingHit> serial_linear_scaling(const ScalingSequences& references,
                                              std::span<const std::vector<float>> queries,
                                              std::span<const std::uint32_t> sequences,
                                              const ScalingParams& params = {});

/// Of each hit the upper median of what its query is above the sequence there, point by point.
/// @param hits  as linear_scaling() found them with these queries
/// @throws std::invalid_argument for a query that is too long, DeviceError if the device fails
std::vector<float> median_levels(Device& device, const ResidentSequences& references,
                                 std::span<const std::vector<float>> queries,
                                 std::span<const ScalingHit> hits);

namespace cuda {

std::vector<ScalingHit> linear_scaling(Device& device, const ResidentSequences& references,
                                       std::span<const std::vector<float>> queries,
                                       std::span<const std::uint32_t> sequences,
                                       const ScalingParams& params);
std::vector<float> median_levels(Device& device, const ResidentSequences& references,
                                 std::span<const std::vector<float>> queries,
                                 std::span<const ScalingHit> hits);

}  // namespace cuda
}  // namespace spintag::kernels
