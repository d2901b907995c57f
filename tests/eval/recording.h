// tests/eval/recording.h - the samples of a recording that is measured with.
#pragma once

#include <string>
#include <vector>

namespace spintag::eval {

/// @return mono, full scale 1. A build without FFmpeg reads only mono WAV of 8 bits at that rate,
/// and gives the same samples.
/// @throws std::runtime_error naming the file if it cannot be read
std::vector<float> read_recording(const std::string& file, int rate_hz);

}  // namespace spintag::eval
