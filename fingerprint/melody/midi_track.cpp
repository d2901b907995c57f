// fingerprint/melody/midi_track.cpp - one track chunk of a Standard MIDI File, in ticks.
#include "fingerprint/melody/midi_track.h"

#include <map>
#include <queue>

namespace spintag::fingerprint {

void MidiBytes::skip(std::size_t count) {
  if (count > rest()) fail("the file ends within an event");
  at_ += count;
}

std::uint8_t MidiBytes::peek() const {
  if (rest() == 0) fail("the file ends within an event");
  return std::to_integer<std::uint8_t>(bytes_[at_]);
}

std::uint8_t MidiBytes::byte() {
  const std::uint8_t value = peek();
  ++at_;
  return value;
}

std::uint32_t MidiBytes::number(std::size_t bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | byte();
  return value;
}

std::uint32_t MidiBytes::variable_number() {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint8_t next = byte();
    value = value << 7 | (next & 0x7FU);
    if (next < 0x80) return value;
  }
  fail("a number of more than four bytes", 4);
}

std::string_view MidiBytes::text(std::size_t bytes) {
  const std::size_t begin = at_;
  skip(bytes);
  return {reinterpret_cast<const char*>(bytes_.data()) + begin, bytes};
}

MidiBytes MidiBytes::cut(std::size_t bytes) {
  const std::size_t begin = at_;
  skip(bytes);
  MidiBytes part(bytes_.subspan(begin, bytes), name_);
  part.base_ = base_ + begin;
  return part;
}

void MidiBytes::fail(const std::string& what, std::size_t back) const {
  throw MelodyError(name_ + ": byte " + std::to_string(base_ + at_ - back) + ": " + what);
}

namespace {

constexpr std::uint8_t kMeta = 0xFF;
constexpr int kAllSoundOff = 120;
constexpr int kAllNotesOff = 123;

class TrackReader {
 public:
  explicit TrackReader(MidiBytes& bytes) : bytes_(bytes) {}

  MidiTrack read() {
    while (!ended_ && bytes_.rest() > 0) {
      track_.end += bytes_.variable_number();
      event();
    }
    for (auto& [key, notes] : sounding_) release_all(notes);
    return std::move(track_);
  }

 private:
  using Sounding = std::queue<std::size_t>;  ///< places in track_.keys, the first struck first

  void event() {
    if (bytes_.peek() < 0x80) {
      if (running_status_ == 0) bytes_.fail("an event without a status");
      return channel_event(running_status_);
    }
    const std::uint8_t status = bytes_.byte();
    if (status < 0xF0) {
      running_status_ = status;
      return channel_event(status);
    }
    // These should end the running status; since some writers rely on its going on, it does.
    if (status == kMeta) return meta_event();
    if (status != 0xF0 && status != 0xF7) bytes_.fail("a status that no file may hold", 1);
    bytes_.skip(bytes_.variable_number());  // system exclusive
  }

  void channel_event(std::uint8_t status) {
    const int channel = status & 0x0F;
    const int kind = status & 0xF0;
    const int first = data();
    if (kind == 0xC0 || kind == 0xD0) return;  // program, pressure: one byte
    const int second = data();
    if (kind == 0x90 && second > 0) {
      sounding_[channel * 128 + first].push(track_.keys.size());
      track_.keys.push_back({track_.end, track_.end, channel, first, second});
    } else if (kind == 0x80 || kind == 0x90) {
      release(channel * 128 + first);
    } else if (kind == 0xB0 && (first == kAllSoundOff || first >= kAllNotesOff)) {
      release_channel(channel);
    }
  }

  int data() {
    if (bytes_.peek() >= 0x80) bytes_.fail("a status where a data byte should be");
    return bytes_.byte();
  }

  void meta_event() {
    const std::uint8_t kind = bytes_.byte();
    const std::uint32_t length = bytes_.variable_number();
    if (kind == 0x51) {
      if (length != 3) bytes_.fail("a tempo of " + std::to_string(length) + " bytes", 1);
      const std::uint32_t us_per_quarter = bytes_.number(3);
      if (us_per_quarter == 0) bytes_.fail("a tempo without time", 3);
      track_.tempos.push_back({track_.end, us_per_quarter});
    } else if (kind == 0x03 && track_.name.empty()) {
      track_.name = bytes_.text(length);
    } else {
      bytes_.skip(length);
      ended_ = kind == 0x2F;
    }
  }

  void release(int key) {
    const auto found = sounding_.find(key);
    if (found == sounding_.end()) return;  // let go without having been struck
    track_.keys[found->second.front()].up = track_.end;
    found->second.pop();
    if (found->second.empty()) sounding_.erase(found);
  }

  void release_channel(int channel) {
    const auto first = sounding_.lower_bound(channel * 128);
    const auto last = sounding_.lower_bound((channel + 1) * 128);
    for (auto key = first; key != last; ++key) release_all(key->second);
    sounding_.erase(first, last);
  }

  void release_all(Sounding& notes) {
    for (; !notes.empty(); notes.pop()) track_.keys[notes.front()].up = track_.end;
  }

  MidiBytes& bytes_;
  MidiTrack track_;
  std::map<int, Sounding> sounding_;  ///< channel * 128 + pitch, while a key is down
  std::uint8_t running_status_ = 0;
  bool ended_ = false;
};

}  // namespace

MidiTrack read_midi_track(MidiBytes& chunk) { return TrackReader(chunk).read(); }

}  // namespace spintag::fingerprint
