// fingerprint/audio/library.h - what the libav on this machine can do, for people who ask.
#pragma once

#include <string>
#include <vector>

namespace spintag::fingerprint {

struct AudioLibrary {
  std::string version;                ///< FFmpeg's, such as "5.1.6-0+deb12u1"
  bool https = false;                 ///< it can open https streams
  std::vector<std::string> decoders;  ///< of those that radio uses: what there is
  std::vector<std::string> missing;   ///< and what there is not
};

AudioLibrary describe_audio_library();

}  // namespace spintag::fingerprint
