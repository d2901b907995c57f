// kernels/scaling_starts.h - what the definition of linear scaling and its faster forms share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "kernels/linear_scaling.h"

namespace spintag::kernels::scaling {

inline constexpr double kNowhere = std::numeric_limits<double>::infinity();

/// Least distance at every start of one sequence, and the query that has it.
struct Starts {
  std::vector<double> distances;
  std::vector<std::uint32_t> scales;

  /// So many, and no query has been compared with any.
  void reset(std::size_t count);
};

/// Samples of a sequence at which a query may begin, counted from the first.
/// @param query, length  in samples
std::size_t room_for(std::size_t query, std::size_t length, const ScalingParams& params);

/// The hits of one sequence, best first.
/// @param positions  of the starts
std::vector<ScalingHit> best_hits(const Starts& starts, std::span<const std::uint32_t> positions,
                                  std::uint32_t sequence, std::size_t count);

std::vector<ScalingHit> joined(const std::vector<std::vector<ScalingHit>>& lists);

/// @return samples of the longest query
/// @throws std::invalid_argument if that is more than kLongestScaledQuery
std::size_t longest_of(std::span<const std::vector<float>> queries);

}  // namespace spintag::kernels::scaling
