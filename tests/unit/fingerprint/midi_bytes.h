// tests/unit/fingerprint/midi_bytes.h - Standard MIDI Files, written byte by byte.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace spintag::test::midi {

inline std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out += static_cast<char>(value);
  return out;
}

inline std::string big_endian(std::uint32_t value, int count) {
  std::string out;
  for (int i = count - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
  return out;
}

/// A number of variable length.
inline std::string length(std::uint32_t value) {
  std::string out = bytes({static_cast<int>(value & 0x7FU)});
  while ((value >>= 7) > 0) out.insert(0, bytes({static_cast<int>(0x80U | (value & 0x7FU))}));
  return out;
}

inline std::string meta(int kind, const std::string& data, std::uint32_t after = 0) {
  return length(after) + bytes({0xFF, kind}) + length(static_cast<std::uint32_t>(data.size())) +
         data;
}

inline std::string name(const std::string& text) { return meta(0x03, text); }
inline std::string tempo(std::uint32_t us_per_quarter, std::uint32_t after = 0) {
  return meta(0x51, big_endian(us_per_quarter, 3), after);
}
inline std::string on(int pitch, std::uint32_t after = 0, int channel = 0, int velocity = 90) {
  return length(after) + bytes({0x90 | channel, pitch, velocity});
}
inline std::string off(int pitch, std::uint32_t after = 0, int channel = 0) {
  return length(after) + bytes({0x80 | channel, pitch, 64});
}
/// Notes one after another, each of `ticks`.
inline std::string line(const std::vector<int>& pitches, std::uint32_t ticks, int channel = 0) {
  std::string out;
  for (const int pitch : pitches) out += on(pitch, 0, channel) + off(pitch, ticks, channel);
  return out;
}

inline std::string chunk(const std::string& kind, const std::string& data) {
  return kind + big_endian(static_cast<std::uint32_t>(data.size()), 4) + data;
}
inline std::string header(int format, int tracks, int division) {
  return chunk("MThd", big_endian(static_cast<std::uint32_t>(format), 2) +
                           big_endian(static_cast<std::uint32_t>(tracks), 2) +
                           big_endian(static_cast<std::uint32_t>(division), 2));
}

/// @param tracks  their events, without the end of track
inline std::string file(int format, int division, const std::vector<std::string>& tracks) {
  std::string out = header(format, static_cast<int>(tracks.size()), division);
  for (const std::string& events : tracks) out += chunk("MTrk", events + meta(0x2F, ""));
  return out;
}

}  // namespace spintag::test::midi
