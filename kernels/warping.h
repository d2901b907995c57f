// kernels/warping.h - dynamic time warping of one query against many stretches of references.
// Sources: C. Xiao et al., "Fast and accurate query by humming with GPU", 2014, Algorithm 1;
// M. Mueller, "Fundamentals of Music Processing" 2015, ch. 3: the recurrence for slopes from a half
// to two, D(i,j) = d(i,j) + min(D(i-2,j-1), D(i-1,j-1), D(i-1,j-2)).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/device.h"
#include "kernels/resident.h"

namespace spintag::kernels {

/// A stretch of a reference, read at any speed. Element j is the sample at `start` + j * `step`, or
/// the sequence's first or last one where that lies outside, plus `level`.
struct WarpingCandidate {
  std::uint32_t first = 0;   ///< the sequence begins here in the array of all references, and
  std::uint32_t count = 1;   ///< has so many samples, at least 1, all of them inside
  std::int32_t start = 0;    ///< in samples from the sequence's first; may be negative
  std::uint32_t step = 0;    ///< in 1/65536 of a sample: 65536 reads it as it is
  std::uint32_t length = 0;  ///< elements, kLongestWarpedCandidate at most
  std::int32_t level = 0;    ///< the transposition
};

inline constexpr std::uint32_t kLongestWarpedCandidate = 65535;

struct WarpingParams {
  /// A cell costs at most that, so that one wrong note does not decide; 8000 at most.
  std::uint16_t cap = 400;
  /// A step that passes over an element of the query pays for it with the cost of its own cell. The
  /// published recurrence does not ask for that: there a path of half as many cells costs half as
  /// much, and of wrong melodies those that can be run through fast come first.
  bool skips_pay = true;
  unsigned threads = 0;  ///< of the processor; 0 = as many as it has cores
};

/// A candidate's distance when no path is cheap enough to be told: it is shorter than half the
/// query, the query is empty, or the sum leaves the range of 16 bits.
inline constexpr std::uint16_t kNoPath = 65535;

/// From here on a sum is as good as no path. So far below the end of 16 bits that a device may add
/// up six rows before it looks whether a sum has got there.
constexpr std::uint16_t warping_far(std::uint16_t cap) {
  return static_cast<std::uint16_t>(65535 - 8 * cap);
}

/// The least sum of costs d(i,j) = min(|query[i] - element[j]|, cap) along a path through all of
/// the query that begins and ends anywhere in the candidate. With far = warping_far(cap),
///
///     D(i,j) = min(d(i,j) + min(D(i-2,j-1) + s, D(i-1,j-1), D(i-1,j-2)), far)
///     D(0,j) = d(0,j), and outside of the table D = far
///
/// where s = d(i,j) if skips pay and 0 if not, and the distance is the least D(last,j), kNoPath if
/// that is `far`. Integers in, integers out: the same from every device and processor.
/// @param references  all sequences, one after another
/// @param query       within 16383 of every element after `level` was added
/// @return a distance for each candidate
/// @throws DeviceError if the device fails, std::invalid_argument for a candidate that is too long.
/// One caller per Device.
std::vector<std::uint16_t> warping_distances(Device& device,
                                             const Resident<std::int16_t>& references,
                                             std::span<const std::int16_t> query,
                                             std::span<const WarpingCandidate> candidates,
                                             const WarpingParams& params = {});

/// warping_distances() as it is defined, one cell after another on one core.
std::vector<std::uint16_t> serial_warping_distances(std::span<const std::int16_t> references,
                                                    std::span<const std::int16_t> query,
                                                    std::span<const WarpingCandidate> candidates,
                                                    const WarpingParams& params = {});

namespace cuda {

/// What the device's kernel takes; the processor does what is more.
inline constexpr std::size_t kMostWarpedRows = 512;
inline constexpr std::uint16_t kLargestCap = 1000;

std::vector<std::uint16_t> warping_distances(Device& device,
                                             const Resident<std::int16_t>& references,
                                             std::span<const std::int16_t> query,
                                             std::span<const WarpingCandidate> candidates,
                                             const WarpingParams& params);

}  // namespace cuda
}  // namespace spintag::kernels
