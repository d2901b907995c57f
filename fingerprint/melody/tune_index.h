// fingerprint/melody/tune_index.h - the melodies that a mix is compared with, in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fingerprint/melody/melody.h"
#include "fingerprint/melody/pitch_classes.h"

namespace spintag::fingerprint {

/// Melodies as pitch classes, numbered as they were added: half a KiB a minute. Reading is safe
/// from several threads as long as nobody changes it.
class TuneIndex {
 public:
  /// @return its number
  /// @throws std::invalid_argument for a melody without notes
  std::uint32_t add(const Melody& melody);
  /// It is not found any more; its number stays taken.
  void remove(std::uint32_t number);

  std::size_t size() const { return tunes_.size(); }  ///< numbers given, removed ones too
  std::size_t removed() const { return removed_; }
  /// Empty for one that was removed.
  std::span<const PitchClass> operator[](std::size_t number) const { return tunes_[number]; }

 private:
  std::vector<std::vector<PitchClass>> tunes_;
  std::size_t removed_ = 0;
};

}  // namespace spintag::fingerprint
