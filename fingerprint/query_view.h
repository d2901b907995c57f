// fingerprint/query_view.h - the peaks of one query window, arranged so that a reference's peaks
// find their counterparts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fingerprint/level_map.h"
#include "fingerprint/peak.h"
#include "fingerprint/query_arrays.h"

namespace spintag::fingerprint {

/// Peaks within [start_s, end_s), the strongest of each second first. In time order.
/// @param per_second  how many of each second are kept
/// @param out         replaced
void select_strongest(std::span<const Peak> peaks, double start_s, double end_s, int per_second,
                      std::vector<Peak>& out);

/// One window of a query. Times count from the window's start.
class QueryView {
 public:
  /// @param peaks   in time order; the densest set that verification uses
  /// @param levels  null if not known; stays with the caller
  void assign(std::span<const Peak> peaks, double start_s, double end_s,
              const LevelMap* levels = nullptr);

  std::span<const QueryPoint> points() const { return points_; }
  double length_s() const { return length_s_; }
  const LevelMap* levels() const { return levels_; }
  double start_s() const { return start_s_; }  ///< on the clock of the levels
  /// Valid until the next assign().
  QueryArrays arrays() const;

 private:
  std::vector<QueryPoint> points_;
  std::vector<float> salience_db_;
  std::vector<std::uint32_t> time_cells_ = {0, 0};
  std::vector<float> u_;
  std::vector<std::uint32_t> u_cells_ = std::vector<std::uint32_t>(QueryArrays::kUCells + 1);
  double start_s_ = 0;
  double length_s_ = 0;
  const LevelMap* levels_ = nullptr;
};

}  // namespace spintag::fingerprint
