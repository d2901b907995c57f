// tests/eval/wav_recording.cpp - the samples of an 8-bit mono WAV file, where there is no FFmpeg.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/eval/recording.h"

namespace spintag::eval {
namespace {

std::uint32_t little_endian(const std::string& bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    value |= std::uint32_t{static_cast<unsigned char>(bytes.at(at + i))} << (8 * i);
  }
  return value;
}

/// What a chunk of RIFF holds. @return empty if the file has no such chunk
std::string chunk(const std::string& bytes, const std::string& name) {
  for (std::size_t at = 12; at + 8 <= bytes.size();) {
    const std::size_t size = little_endian(bytes, at + 4, 4);
    if (bytes.compare(at, 4, name) == 0) return bytes.substr(at + 8, size);
    at += 8 + size + size % 2;
  }
  return {};
}

}  // namespace

std::vector<float> read_recording(const std::string& file, int rate_hz) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const std::string format = chunk(bytes, "fmt ");
  const bool known = format.size() >= 16 && little_endian(format, 0, 2) == 1 &&
                     little_endian(format, 2, 2) == 1 && little_endian(format, 14, 2) == 8 &&
                     little_endian(format, 4, 4) == static_cast<std::uint32_t>(rate_hz);
  if (!in || !known) {
    throw std::runtime_error(file + ": not a mono WAV file of 8 bits at " +
                             std::to_string(rate_hz) + " Hz (built without FFmpeg)");
  }
  std::vector<float> samples;
  for (const char byte : chunk(bytes, "data")) {
    samples.push_back(static_cast<float>(static_cast<unsigned char>(byte) - 128) / 128);
  }
  return samples;
}

}  // namespace spintag::eval
