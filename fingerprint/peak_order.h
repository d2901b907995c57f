// fingerprint/peak_order.h - the orders that peaks are ranked and listed in. Both are total, so
// that what is kept does not depend on who sorted.
#pragma once

#include "fingerprint/peak.h"
#include "kernels/host_device.h"

namespace spintag::fingerprint {

/// By salience, the highest first; of equals the earlier, then the lower. Only peaks that are equal
/// in all three are not told apart.
SPINTAG_HOST_DEVICE inline bool is_stronger(const Peak& a, const Peak& b) {
  if (a.salience_db != b.salience_db) return a.salience_db > b.salience_db;
  return a.time_s != b.time_s ? a.time_s < b.time_s : a.freq_hz < b.freq_hz;
}

/// By time, then frequency, then salience, the highest first.
SPINTAG_HOST_DEVICE inline bool is_earlier(const Peak& a, const Peak& b) {
  if (a.time_s != b.time_s) return a.time_s < b.time_s;
  return a.freq_hz != b.freq_hz ? a.freq_hz < b.freq_hz : a.salience_db > b.salience_db;
}

}  // namespace spintag::fingerprint
