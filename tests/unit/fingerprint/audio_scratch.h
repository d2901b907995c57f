// tests/unit/fingerprint/audio_scratch.h - recordings made on the spot, and what AudioReader makes
// of them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "fingerprint/audio/reader.h"

namespace spintag::fingerprint::audio_test {

/// A folder that goes with the test.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "spintag-audio-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch folder");
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

  /// Runs a shell command in the folder. The commands of these tests make audio; if one fails,
  /// nothing can be tested.
  void shell(const std::string& command) const {
    const std::string line = "cd '" + path_.string() + "' && " + command + " </dev/null";
    if (std::system(line.c_str()) != 0) throw std::runtime_error("failed: " + command);
  }
  void ffmpeg(const std::string& arguments) const {
    shell("ffmpeg -nostdin -hide_banner -loglevel error -y " + arguments);
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline void append_number(std::string& bytes, std::uint32_t value, int size) {
  for (int i = 0; i < size; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xFFU);
}

/// 16-bit PCM; `sample(channel, seconds)` is full scale at 1.
inline std::string wav_bytes(int rate_hz, int channels, double seconds,
                             const std::function<double(int, double)>& sample) {
  const auto samples = static_cast<std::uint32_t>(std::lround(seconds * rate_hz));
  const auto rate = static_cast<std::uint32_t>(rate_hz);
  const auto row = static_cast<std::uint32_t>(2 * channels);
  std::string bytes = "RIFF";
  append_number(bytes, 36 + samples * row, 4);
  bytes += "WAVEfmt ";
  append_number(bytes, 16, 4);
  append_number(bytes, 1, 2);  // PCM
  append_number(bytes, static_cast<std::uint32_t>(channels), 2);
  append_number(bytes, rate, 4);
  append_number(bytes, rate * row, 4);
  append_number(bytes, row, 2);
  append_number(bytes, 16, 2);
  bytes += "data";
  append_number(bytes, samples * row, 4);
  for (std::uint32_t i = 0; i < samples; ++i) {
    for (int channel = 0; channel < channels; ++channel) {
      const double value = sample(channel, static_cast<double>(i) / rate_hz);
      append_number(bytes, static_cast<std::uint16_t>(std::lround(32767 * value)), 2);
    }
  }
  return bytes;
}

inline double sine(double freq_hz, double seconds) {
  return std::sin(2 * std::numbers::pi * freq_hz * seconds);
}

struct Heard {
  std::vector<float> samples;
  AudioCounts counts;
  std::vector<std::string> titles;  ///< as they came, without repetition

  double seconds() const { return static_cast<double>(samples.size()) / 11025; }
};

inline Heard drain(AudioReader& reader) {
  Heard heard;
  while (reader.read(heard.samples)) {
    const std::string title = reader.stream_title();
    const std::string& last = heard.titles.empty() ? "" : heard.titles.back();
    if (title != last) heard.titles.push_back(title);
  }
  heard.counts = reader.counts();
  return heard;
}

inline Heard hear(const std::string& source, const AudioOptions& options = {}) {
  AudioReader reader(source, options);
  return drain(reader);
}

/// The message of the AudioError that reading `source` ends with; a test failure when there is
/// none.
inline std::string error_of(const std::string& source, const AudioOptions& options = {}) {
  try {
    hear(source, options);
  } catch (const AudioError& error) {
    return error.what();
  }
  ADD_FAILURE() << source << " was read without an error";
  return {};
}

/// Root mean square of samples [from_s, to_s).
inline double level(const Heard& heard, double from_s, double to_s) {
  const auto from = static_cast<std::size_t>(from_s * 11025);
  const auto to = static_cast<std::size_t>(to_s * 11025);
  double power = 0;
  for (std::size_t i = from; i < to; ++i) power += double{heard.samples.at(i)} * heard.samples[i];
  return std::sqrt(power / static_cast<double>(to - from));
}

/// Frequency of a lone tone in [from_s, to_s), from its zero crossings.
inline double tone_hz(const Heard& heard, double from_s, double to_s) {
  const auto from = static_cast<std::size_t>(from_s * 11025);
  const auto to = static_cast<std::size_t>(to_s * 11025);
  int crossings = 0;
  for (std::size_t i = from + 1; i < to; ++i) {
    crossings += (heard.samples.at(i - 1) < 0) != (heard.samples.at(i) < 0) ? 1 : 0;
  }
  return crossings / 2.0 / (to_s - from_s);
}

}  // namespace spintag::fingerprint::audio_test
