// fingerprint/melody/tune_index.cpp - the melodies that a mix is compared with.
#include "fingerprint/melody/tune_index.h"

#include <stdexcept>

namespace spintag::fingerprint {

std::uint32_t TuneIndex::add(const Melody& melody) {
  if (melody.notes.empty()) throw std::invalid_argument("a melody without notes");
  tunes_.push_back(pitch_classes(melody));
  tunes_.back().shrink_to_fit();
  return static_cast<std::uint32_t>(tunes_.size() - 1);
}

void TuneIndex::remove(std::uint32_t number) {
  if (tunes_[number].empty()) return;
  tunes_[number] = {};
  ++removed_;
}

}  // namespace spintag::fingerprint
