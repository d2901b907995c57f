// tests/eval/recording.cpp - the samples of anything that libav opens.
#include "tests/eval/recording.h"

#include "fingerprint/audio/reader.h"

namespace spintag::eval {

std::vector<float> read_recording(const std::string& file, int rate_hz) {
  fingerprint::AudioOptions options;
  options.rate_hz = rate_hz;
  fingerprint::AudioReader reader(file, options);
  std::vector<float> samples;
  while (reader.read(samples)) {
  }
  return samples;
}

}  // namespace spintag::eval
