// fingerprint/audio/input.cpp - an opened source and the packets of its best audio stream.
#include "fingerprint/audio/input.h"

#include <cerrno>

extern "C" {
#include <libavutil/mem.h>
#include <libavutil/opt.h>
}

#include "fingerprint/audio/stream_title.h"

namespace spintag::fingerprint {
namespace {

constexpr int kMostBadReads = 100;  // in a row, before a container is given up
constexpr int kSilentPackets = 32;  // of a newer stream (about 0.8 s of MP3), before it is followed

std::string metadata_title(const AVDictionary* metadata) {
  const auto value = [&](const char* key) -> std::string {
    const AVDictionaryEntry* entry = av_dict_get(metadata, key, nullptr, 0);
    return entry != nullptr ? entry->value : "";
  };
  return join_title(value("ARTIST"), value("TITLE"));
}

}  // namespace

Input::Next Input::read(AVPacket& packet) {
  interrupt_.arm(options_.read_deadline);
  for (int bad_reads = 0;;) {
    if (interrupt_.stopped() || interrupt_.expired()) return explain_end(AVERROR_EXIT);
    const int code = av_read_frame(format_.get(), &packet);
    if (code >= 0) {
      if (belongs_to_audio(packet)) return Next::kPacket;
      av_packet_unref(&packet);
      continue;
    }
    const bool hopeless = code == AVERROR_EOF || code == AVERROR_EXIT || interrupt_.expired() ||
                          format_->pb == nullptr || format_->pb->error < 0 ||
                          ++bad_reads >= kMostBadReads;
    if (hopeless) return explain_end(code);
    if (code != AVERROR(EAGAIN)) ++damaged_;
  }
}

bool Input::belongs_to_audio(const AVPacket& packet) {
  if (packet.stream_index == stream_index_) {
    packets_elsewhere_ = 0;
    return true;
  }
  const auto index = static_cast<unsigned>(packet.stream_index);
  const bool newer = index >= known_streams_ && index < format_->nb_streams &&
                     format_->streams[index]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
  if (!newer || ++packets_elsewhere_ < kSilentPackets) return false;
  stream_index_ = packet.stream_index;
  known_streams_ = format_->nb_streams;
  packets_elsewhere_ = 0;
  discard_others();
  return true;
}

Input::Next Input::explain_end(int code) {
  if (interrupt_.stopped()) return Next::kStopped;
  if (interrupt_.expired()) {
    throw AudioError(shown_ + ": nothing came for " + interrupt_.deadline_text());
  }
  // Many demuxers call a broken connection or disk the end; the byte source knows better.
  const int broken = format_->pb != nullptr && format_->pb->error < 0 ? format_->pb->error : code;
  if (broken == AVERROR_EOF) return Next::kEnd;
  // A server that announced no length ends a stream by closing it, which libav calls EIO unless it
  // also announced that.
  if (broken == AVERROR(EIO) && network_ && avio_size(network_.get()) < 0) return Next::kEnd;
  // A local file that has become unreadable nonsense ends there; what came before it counts.
  if (broken == AVERROR_INVALIDDATA && !is_network()) return Next::kEnd;
  throw AudioError(shown_ + ": broke off: " + av_error_text(broken));
}

std::optional<double> Input::header_duration_s() const {
  if (format_->duration != AV_NOPTS_VALUE && format_->duration > 0) {
    return static_cast<double>(format_->duration) / AV_TIME_BASE;
  }
  return std::nullopt;
}

std::optional<std::string> Input::take_new_title() {
  AVStream& audio = *format_->streams[stream_index_];
  std::string title = title_;
  if (network_) {
    std::uint8_t* text = nullptr;
    const int code =
        av_opt_get(network_.get(), "icy_metadata_packet", AV_OPT_SEARCH_CHILDREN, &text);
    if (code >= 0 && text != nullptr && *text != 0) {
      title = parse_icy_title(reinterpret_cast<const char*>(text));
      title_from_icy_ = true;
    }
    av_free(text);
  }
  if (!title_from_icy_) {
    const bool begins = network_ && title_.empty();  // a file's tags are read elsewhere
    if (begins || (audio.event_flags & AVSTREAM_EVENT_FLAG_METADATA_UPDATED) != 0) {
      title = metadata_title(audio.metadata);
    }
    if ((begins && title.empty()) ||
        (format_->event_flags & AVFMT_EVENT_FLAG_METADATA_UPDATED) != 0) {
      title = metadata_title(format_->metadata);
    }
  }
  audio.event_flags &= ~AVSTREAM_EVENT_FLAG_METADATA_UPDATED;
  format_->event_flags &= ~AVFMT_EVENT_FLAG_METADATA_UPDATED;
  if (title == title_) return std::nullopt;
  title_ = title;
  return title;
}

}  // namespace spintag::fingerprint
