// fingerprint/profile.h - every number that decides a `broadcast` hash.
// Where the values come from: measurements on real music through radio's degradations (README.md,
// "Accuracy").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace spintag::fingerprint {

/// The `broadcast` profile. A change of any number that alters what is stored is a new `version`;
/// the store keeps the version beside the packed peaks and refuses to mix.
struct BroadcastProfile {
  static constexpr std::string_view name = "broadcast";
  static constexpr std::uint16_t version = 1;

  // Spectrogram: Hann window, full-scale sine = 0 dB, L = 10 log10(power + 10^-7.5).
  static constexpr int rate_hz = 11025;
  static constexpr int frame_samples = 2048;  ///< 186 ms
  static constexpr int hop_samples = 256;     ///< 23.2 ms
  static constexpr float power_offset = 3.16227766e-8F;

  // Whitening: V = L - mean of L over +-100 frames and +-24 bins.
  static constexpr int whiten_frames = 100;
  static constexpr int whiten_bins = 24;

  // Dense peaks: V is the maximum of a box, over both floors, at most so many a second.
  static constexpr int box_frames = 2;
  static constexpr int box_bins = 3;
  static constexpr float floor_salience_db = 2.0F;
  static constexpr float floor_level_db = -69.0F;
  static constexpr double low_hz = 200;
  static constexpr double high_hz = 5000;
  static constexpr int dense_peaks_per_s = 150;

  // Which of them a query uses.
  static constexpr int verify_peaks_per_s = 150;  ///< met by the reference's own peaks

  // Which of them a reference keeps: no stronger peak near it, then the strongest of each second.
  static constexpr double thin_s = 0.120;
  static constexpr double thin_hz = 60;
  static constexpr int reference_peaks_per_s = 12;

  // Pairs: the target zone, and the strongest targets of each anchor (reference only; a query takes
  // all).
  static constexpr double min_dt_s = 0.050;
  static constexpr double max_dt_s = 1.6;
  static constexpr double min_du = 4;  ///< a note that is held or struck again tells no song
  static constexpr double max_du = 180;
  static constexpr int targets_per_anchor = 2;

  // Hash: floor(u1) 11 bits, floor(u2) - floor(u1) + 256 9 bits, floor(dt / 16 ms) 7 bits; u = 600
  // ln(1 + f / 1000 Hz).
  static constexpr double scale = 600;
  static constexpr double scale_corner_hz = 1000;
  static constexpr double dt_unit_s = 0.016;
  static constexpr int u1_bits = 11;
  static constexpr int du_bits = 9;
  static constexpr int dt_bits = 7;
  static constexpr int hash_bits = u1_bits + du_bits + dt_bits;

  static constexpr double frame_s() { return static_cast<double>(hop_samples) / rate_hz; }
};

}  // namespace spintag::fingerprint
