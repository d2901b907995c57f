// fingerprint/audio/library.cpp - what the libav on this machine can do.
#include "fingerprint/audio/library.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
}

#include <string_view>

namespace spintag::fingerprint {

AudioLibrary describe_audio_library() {
  AudioLibrary library;
  library.version = av_version_info();
  void* cursor = nullptr;
  while (const char* name = avio_enum_protocols(&cursor, 0)) {
    if (std::string_view(name) == "https") library.https = true;
  }
  for (const char* name : {"mp3", "aac", "vorbis", "opus", "flac"}) {
    const bool found = avcodec_find_decoder_by_name(name) != nullptr;
    (found ? library.decoders : library.missing).emplace_back(name);
  }
  return library;
}

}  // namespace spintag::fingerprint
