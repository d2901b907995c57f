// fingerprint/lonely_votes.h - votes that stand alone, told from the others before any are sorted.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spintag::fingerprint {

/// Most votes are chance and stand alone. They are told in a table that fits a cache, where places
/// share entries: what is left has enough votes about it, or shares entries with such.
class LonelyVotes {
 public:
  /// Leaves of `votes`, in their order, every one whose place and one neighbouring place have
  /// together at least `fewest` votes, and few others.
  /// @param place_of  the place of a vote, a number of 32 bits
  template <class Vote, class PlaceOf>
  void drop(std::vector<Vote>& votes, std::uint32_t fewest, PlaceOf&& place_of) {
    constexpr std::size_t kSmallest = std::size_t{1} << 12;
    constexpr std::size_t kLargest = std::size_t{1} << 24;
    const std::size_t size = std::clamp(std::bit_ceil(4 * votes.size()), kSmallest, kLargest);
    if (folded_.size() < size) folded_.resize(size);
    const auto mask = static_cast<std::uint32_t>(size - 1);
    for (const Vote& vote : votes) {
      std::uint8_t& count = folded_[place_of(vote) & mask];
      if (count < 255) ++count;
    }
    const std::uint32_t asked = std::min(fewest, 255U);
    std::size_t left = 0;
    for (const Vote& vote : votes) {
      const std::uint32_t place = place_of(vote);
      const std::uint32_t own = folded_[place & mask];
      const bool together =
          own + folded_[(place - 1) & mask] >= asked || own + folded_[(place + 1) & mask] >= asked;
      votes[left] = vote;
      left += together ? 1 : 0;
    }
    votes.resize(left);
    std::fill_n(folded_.begin(), size, std::uint8_t{0});
  }

 private:
  std::vector<std::uint8_t> folded_;  ///< votes of places modulo its size, up to 255; zeros
};

}  // namespace spintag::fingerprint
