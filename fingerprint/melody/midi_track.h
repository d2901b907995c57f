// fingerprint/melody/midi_track.h - one track chunk of a Standard MIDI File, in ticks.
// Source: MIDI Manufacturers Association, "Standard MIDI Files 1.0" (RP-001), 1996.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fingerprint/melody/melody.h"

namespace spintag::fingerprint {

/// Bytes of a file, read from front to back. Whoever reads past their end, or says fail(), throws
/// MelodyError naming the source and the byte.
class MidiBytes {
 public:
  /// Both outlive this.
  MidiBytes(std::span<const std::byte> bytes, const std::string& name)
      : bytes_(bytes), name_(name) {}

  std::size_t rest() const { return bytes_.size() - at_; }
  void rewind() { at_ = 0; }
  void skip(std::size_t count);
  std::uint8_t peek() const;
  std::uint8_t byte();
  std::uint32_t number(std::size_t bytes);  ///< big-endian, of 4 bytes at most
  std::uint32_t variable_number();          ///< 7 bits a byte, of 4 bytes at most
  std::string_view text(std::size_t bytes);
  /// The next bytes by themselves; errors in them still count from the start of the file.
  MidiBytes cut(std::size_t bytes);

  /// @param back  how many bytes before the next one the error is
  [[noreturn]] void fail(const std::string& what, std::size_t back = 0) const;

 private:
  std::span<const std::byte> bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::size_t base_ = 0;  ///< of bytes_ in the file
};

struct MidiKey {
  std::uint64_t down = 0;
  std::uint64_t up = 0;
  int channel = 0;
  int pitch = 0;
  int velocity = 0;
};

struct MidiTempo {
  std::uint64_t tick = 0;
  std::uint32_t us_per_quarter = 0;
};

struct MidiTrack {
  std::string name;
  std::vector<MidiKey> keys;  ///< as they were struck
  std::vector<MidiTempo> tempos;
  std::uint64_t end = 0;
};

/// @param chunk  what follows the chunk's length, to its end
/// @throws MelodyError
MidiTrack read_midi_track(MidiBytes& chunk);

}  // namespace spintag::fingerprint
