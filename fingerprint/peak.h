// fingerprint/peak.h - one spectral peak on the clock of its recording.
#pragma once

namespace spintag::fingerprint {

/// A local maximum of a whitened spectrogram, located to a fraction of a frame and a bin.
struct Peak {
  double time_s = 0;      ///< centre of its frame, seconds from the first sample that was pushed
  float freq_hz = 0;      ///< hertz, interpolated
  float salience_db = 0;  ///< level above the local mean of the spectrogram, dB
};

/// Tempo and pitch of a query against a reference.
struct Hypothesis {
  double tempo = 1;  ///< reference seconds that pass in one query second
  double pitch = 1;  ///< query frequency over reference frequency
};

}  // namespace spintag::fingerprint
