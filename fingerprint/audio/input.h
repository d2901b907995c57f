// fingerprint/audio/input.h - an opened source and the packets of its best audio stream.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "fingerprint/audio/av_handles.h"
#include "fingerprint/audio/fd_input.h"
#include "fingerprint/audio/interrupt.h"
#include "fingerprint/audio/reader.h"

namespace spintag::fingerprint {

/// Demuxes only. What it may reach is decided here: local input opens one descriptor and nothing
/// else, whatever a playlist or a container asks for; network input speaks http, https and HLS' AES
/// over them, with certificates verified on every connection, and never opens a file.
class Input {
 public:
  /// @param interrupt  armed by this class for the opening and for each packet; must outlive it
  /// @throws AudioError when it cannot be opened in time or has no audio stream
  Input(const std::string& source, const AudioOptions& options, Interrupt& interrupt);
  ~Input();

  enum class Next { kPacket, kEnd, kStopped };

  /// The next packet of the audio stream. Containers that announce a new audio stream midway and
  /// let the old one fall silent (a changed programme table) are followed to the new one.
  /// @throws AudioError when the stream breaks or the read deadline passes
  Next read(AVPacket& packet);

  const AVStream& stream() const { return *format_->streams[stream_index_]; }
  bool is_network() const { return network_ != nullptr; }
  std::uint64_t damaged_packets() const {
    return damaged_;
  }  ///< those that the container itself could not cut
  std::optional<double> header_duration_s() const;
  const std::string& shown() const { return shown_; }

  /// The stream title when it has changed since the last call.
  std::optional<std::string> take_new_title();

 private:
  struct NetworkDeleter {
    void operator()(AVIOContext* context) const { avio_closep(&context); }
  };

  void open_network(const std::string& source);
  void open_format(const std::string& source);
  const AVInputFormat* probe(const std::string& url) const;
  void choose_stream();
  void discard_others();
  bool belongs_to_audio(const AVPacket& packet);
  Next explain_end(int code);
  [[noreturn]] void fail_open(int code) const;
  void network_options(AvDictionary& options) const;
  static int open_nested(AVFormatContext* format, AVIOContext** context, const char* url, int flags,
                         AVDictionary** options);

  AudioOptions options_;
  Interrupt& interrupt_;
  std::string shown_;
  std::unique_ptr<FdInput> local_;
  std::unique_ptr<AVIOContext, NetworkDeleter> network_;
  int (*open_default_)(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) = nullptr;
  AvFormatPtr format_;  ///< reads from local_ or network_, so it goes first
  int stream_index_ = -1;
  unsigned known_streams_ = 0;
  int packets_elsewhere_ = 0;  ///< of newer audio streams since the chosen one last spoke
  std::uint64_t damaged_ = 0;
  std::string refused_url_;  ///< what a playlist asked for in vain
  std::string title_;
  bool title_from_icy_ = false;
};

}  // namespace spintag::fingerprint
