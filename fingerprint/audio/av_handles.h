// fingerprint/audio/av_handles.h - libav's objects with owners. For the .cpp files of this folder
// only.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/dict.h>
#include <libswresample/swresample.h>
}

#include <memory>
#include <string>

namespace spintag::fingerprint {

struct AvFormatDeleter {
  void operator()(AVFormatContext* format) const { avformat_close_input(&format); }
};
struct AvCodecDeleter {
  void operator()(AVCodecContext* codec) const { avcodec_free_context(&codec); }
};
struct AvPacketDeleter {
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
};
struct AvFrameDeleter {
  void operator()(AVFrame* av_frame) const { av_frame_free(&av_frame); }
};
struct SwrDeleter {
  void operator()(SwrContext* swr) const { swr_free(&swr); }
};
struct AvParametersDeleter {
  void operator()(AVCodecParameters* parameters) const { avcodec_parameters_free(&parameters); }
};

using AvFormatPtr = std::unique_ptr<AVFormatContext, AvFormatDeleter>;
using AvCodecPtr = std::unique_ptr<AVCodecContext, AvCodecDeleter>;
using AvPacketPtr = std::unique_ptr<AVPacket, AvPacketDeleter>;
using AvFramePtr = std::unique_ptr<AVFrame, AvFrameDeleter>;
using SwrPtr = std::unique_ptr<SwrContext, SwrDeleter>;
using AvParametersPtr = std::unique_ptr<AVCodecParameters, AvParametersDeleter>;

/// Options on their way into libav, which takes what it knows and leaves the rest.
class AvDictionary {
 public:
  AvDictionary() = default;
  ~AvDictionary() { av_dict_free(&entries_); }
  AvDictionary(const AvDictionary&) = delete;
  AvDictionary& operator=(const AvDictionary&) = delete;

  void set(const char* key, const std::string& value) {
    av_dict_set(&entries_, key, value.c_str(), 0);
  }
  AVDictionary** out() { return &entries_; }

 private:
  AVDictionary* entries_ = nullptr;
};

/// libav's own words for an error code.
inline std::string av_error_text(int code) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof text);
  return text;
}

}  // namespace spintag::fingerprint
