// fingerprint/melody/permutation_index.h - which melodies are worth a closer look: the fast match.
// Sources: G. Amato, P. Savino, "Approximate similarity search in metric spaces using inverted
// files", InfoScale 2008: what lies close together sees the same permutants in the same order, and
// the order is kept in an inverted file; E. Chavez, K. Figueroa, G. Navarro, "Effective proximity
// retrieval by ordering permutations", PAMI 30 (2008): Spearman's footrule between two orders.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fingerprint/melody/melody.h"
#include "fingerprint/melody/melody_index.h"

namespace spintag::fingerprint {

inline constexpr std::size_t kMostNearest = 16;

struct PermutationParams {
  std::size_t samples = 32;  ///< of a vector, as far apart as those of linear scaling: 4 s
  std::size_t permutants = 512;
  std::size_t nearest = 12;  ///< permutants by which a vector is known, kMostNearest at most
  std::size_t windows = 6;   ///< of a hum, each from the beginning of one of its notes
};

/// Melody vectors from every note of every melody, free of key, found by their nearest permutants.
/// Memory: some 8 KiB a melody. Reading is safe from several threads.
class PermutationIndex {
 public:
  /// @param index  the melodies; what is added to it later is not found. Permutants are drawn from
  /// it by a fixed rule: the same melodies give the same index.
  explicit PermutationIndex(const MelodyIndex& index, const PermutationParams& params = {});

  /// @param pitch_track  of a hum
  /// @param tempi        of the hum over the melody's, that may be
  /// @param share        of the melodies that go on, above 0 and at most 1
  /// @param threads      of the processor; 0 = as many as it has cores
  /// @return numbers of melodies, most promising first
  std::vector<std::uint32_t> candidates(const Contour& pitch_track, std::span<const double> tempi,
                                        double share, unsigned threads = 0) const;

 private:
  using Nearest =
      std::array<std::uint32_t, kMostNearest>;  ///< permutants, the first params_.nearest

  Nearest find_nearest(const float* vector, std::vector<float>& distances) const;
  void find_postings(const MelodyIndex& index);
  std::vector<Nearest> windows_of(const Contour& pitch_track, double tempo) const;
  void vote(const Nearest& nearest, std::vector<std::uint8_t>& votes) const;

  PermutationParams params_;
  std::size_t melodies_ = 0;
  std::size_t stride_ = 0;                      ///< permutants, and some that are near to nothing
  std::vector<float> permutants_;               ///< [samples, stride]
  std::vector<std::uint32_t> vectors_before_;   ///< of melodies with a lower number
  std::vector<std::uint32_t> postings_before_;  ///< of permutants with a lower number
  /// By permutant, then vector: kMostNearest times the vector, and the permutant's place, 0 = the
  /// nearest.
  std::vector<std::uint32_t> postings_;
};

}  // namespace spintag::fingerprint
