// fingerprint/audio/input_open.cpp - opening a source: what may be reached, and why it could not
// be.
#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <string_view>

extern "C" {
#include <libavutil/opt.h>
}

#include "fingerprint/audio/input.h"
#include "fingerprint/audio/libav_log.h"
#include "fingerprint/audio/name_lookup.h"
#include "fingerprint/audio/source.h"

namespace spintag::fingerprint {
namespace {

constexpr const char* kNetworkProtocols = "http,https,tcp,tls,crypto";
constexpr const char* kLocalProtocols = "none";  // the one descriptor is opened by FdInput
constexpr const char* kSystemCaFile = "/etc/ssl/certs/ca-certificates.crt";
constexpr std::int64_t kNetworkAnalyzeUs =
    3'000'000;  // a live stream delivers no faster than it plays

// Formats that are lists of other sources or that open sockets of their own. HLS is welcome from
// the network only.
constexpr std::array<std::string_view, 9> kRefusedFormats = {
    "concat", "dash", "imf", "sdp", "rtsp", "rtp", "sap", "webm_dash_manifest", "vobsub"};

bool is_http_url(std::string_view url) {
  for (const std::string_view prefix : {"crypto+", "crypto:"}) {
    if (url.starts_with(prefix)) url.remove_prefix(prefix.size());
  }
  return is_network_source(std::string(url));
}

bool is_playlist_name(const std::string& shown) {
  constexpr std::array<std::string_view, 4> kEndings = {".m3u", ".pls", ".xspf", ".asx"};
  return std::ranges::any_of(kEndings, [&](auto ending) { return shown.ends_with(ending); });
}

std::string http_status_text(int code) {
  switch (code) {
    case AVERROR_HTTP_BAD_REQUEST:
      return "the server answers 400 (bad request)";
    case AVERROR_HTTP_UNAUTHORIZED:
      return "the server answers 401 (user or password missing or wrong)";
    case AVERROR_HTTP_FORBIDDEN:
      return "the server answers 403 (forbidden)";
    case AVERROR_HTTP_NOT_FOUND:
      return "the server answers 404 (no such stream or mount point)";
    case AVERROR_HTTP_OTHER_4XX:
      return "the server refuses the request (4xx)";
    case AVERROR_HTTP_SERVER_ERROR:
      return "the server reports an error of its own (5xx)";
    default:
      return {};
  }
}

/// The cases that libav's codes do not tell apart, by what it logged.
std::string logged_reason(const std::string& lines) {
  const auto has = [&](std::string_view words) { return lines.find(words) != std::string::npos; };
  if (has("failed verification") || has("Unable to verify peer")) {
    return "the server's certificate is not trusted (signed by an unknown authority, expired, or "
           "not yet valid)";
  }
  if (has("does not match hostname")) {
    return "the server's certificate is made out for another host name";
  }
  if (has("Failed to resolve hostname")) return "the host name cannot be resolved";
  if (has("TLS") || has("handshake")) return "no secure connection (TLS) can be made";
  return {};
}

}  // namespace

Input::Input(const std::string& source, const AudioOptions& options, Interrupt& interrupt)
    : options_(options), interrupt_(interrupt), shown_(shown_source(source)) {
  capture_libav_log();
  clear_libav_lines();
  const SourceKind kind = classify_source(source);
  interrupt_.arm(options_.open_deadline);
  if (kind == SourceKind::kNetwork) {
    open_network(source);
  } else {
    local_ = std::make_unique<FdInput>(source, interrupt_);
  }
  open_format(kind == SourceKind::kFile ? "file:" + source : source);
  choose_stream();
}

Input::~Input() = default;

void Input::network_options(AvDictionary& options) const {
  options.set("tls_verify", "1");
  options.set("ca_file", options_.ca_file.empty() ? kSystemCaFile : options_.ca_file);
  // The interrupt is what keeps the deadlines; this is the net below it.
  const auto longest = std::max(options_.open_deadline, options_.read_deadline);
  options.set("rw_timeout", std::to_string(std::chrono::microseconds(longest).count()));
}

void Input::open_network(const std::string& source) {
  AvDictionary options;
  network_options(options);
  options.set("icy", "1");
  options.set("user_agent", "spintag");
  options.set("protocol_whitelist", kNetworkProtocols);
  char host[256] = {};
  av_url_split(nullptr, 0, nullptr, 0, host, sizeof host, nullptr, nullptr, 0, source.c_str());
  if (!wait_for_name(host, interrupt_)) fail_open(AVERROR_EXIT);
  const AVIOInterruptCB ask{&Interrupt::ask, &interrupt_};
  AVIOContext* context = nullptr;
  const int code = avio_open2(&context, source.c_str(), AVIO_FLAG_READ, &ask, options.out());
  if (code < 0) fail_open(code);
  network_.reset(context);
}

const AVInputFormat* Input::probe(const std::string& url) const {
  AVIOContext* bytes = network_ ? network_.get() : local_->context();
  const AVInputFormat* found = nullptr;
  const int code = av_probe_input_buffer2(bytes, &found, url.c_str(), nullptr, 0, 0);
  if (code < 0 || found == nullptr) fail_open(code < 0 ? code : AVERROR_INVALIDDATA);
  const std::string_view name = found->name;
  const bool refused = (found->flags & AVFMT_NOFILE) != 0 ||
                       std::ranges::find(kRefusedFormats, name) != kRefusedFormats.end() ||
                       (name == "hls" && !network_);
  if (refused) {
    throw AudioError(shown_ + ": is a list of other sources (" + found->name +
                     "), which is not followed; name the audio itself");
  }
  return found;
}

void Input::open_format(const std::string& url) {
  const AVInputFormat* found = probe(url);
  AVFormatContext* format = avformat_alloc_context();
  if (format == nullptr) throw std::bad_alloc();
  format_.reset(format);
  format->pb = network_ ? network_.get() : local_->context();
  format->interrupt_callback = {&Interrupt::ask, &interrupt_};
  format->opaque = this;
  open_default_ = format->io_open;
  format->io_open = &Input::open_nested;
  av_opt_set(format, "protocol_whitelist", network_ ? kNetworkProtocols : kLocalProtocols, 0);
  if (network_) format->max_analyze_duration = kNetworkAnalyzeUs;
  format_.release();  // freed by avformat_open_input when it fails
  int code = avformat_open_input(&format, url.c_str(), found, nullptr);
  if (code < 0) fail_open(code);
  format_.reset(format);
  // Streams that are not audio need no finding out (cover art would be decoded).
  for (unsigned i = 0; i < format->nb_streams; ++i) {
    AVStream& stream = *format->streams[i];
    if (stream.codecpar->codec_type != AVMEDIA_TYPE_AUDIO) stream.discard = AVDISCARD_ALL;
  }
  code = avformat_find_stream_info(format, nullptr);
  if (code < 0 || interrupt_.expired() || interrupt_.stopped()) fail_open(code);
}

void Input::choose_stream() {
  stream_index_ = av_find_best_stream(format_.get(), AVMEDIA_TYPE_AUDIO, -1, -1, nullptr, 0);
  if (stream_index_ < 0) fail_open(stream_index_);
  known_streams_ = format_->nb_streams;
  discard_others();
  if (!network_) {  // a file's own tags are read elsewhere; only what a later link of a chain says
                    // is news
    format_->event_flags = 0;
    format_->streams[stream_index_]->event_flags = 0;
  }
}

void Input::discard_others() {
  for (unsigned i = 0; i < format_->nb_streams; ++i) {
    const bool chosen = static_cast<int>(i) == stream_index_;
    format_->streams[i]->discard = chosen ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
  }
}

/// Every connection that a playlist asks for comes through here.
int Input::open_nested(AVFormatContext* format, AVIOContext** context, const char* url, int flags,
                       AVDictionary** options) {
  auto* self = static_cast<Input*>(format->opaque);
  if (!self->network_ || !is_http_url(url) || (flags & AVIO_FLAG_WRITE) != 0) {
    self->refused_url_ = shown_source(url);
    return AVERROR(EPERM);
  }
  AvDictionary secured;
  if (options != nullptr) av_dict_copy(secured.out(), *options, 0);
  self->network_options(secured);
  return self->open_default_(format, context, url, flags, secured.out());
}

void Input::fail_open(int code) const {
  if (interrupt_.stopped()) throw AudioError(shown_ + ": opening was stopped");
  if (interrupt_.expired()) {
    throw AudioError(shown_ + ": no audio within " + interrupt_.deadline_text());
  }
  std::string why = http_status_text(code);
  if (!refused_url_.empty()) why = "asks for " + refused_url_ + ", which it may not open";
  if (why.empty() && is_network_source(shown_)) why = logged_reason(libav_lines());
  if (why.empty() && is_playlist_name(shown_)) {
    why = "is a playlist, not a stream; name the address that stands in it";
  }
  if (why.empty() && code == AVERROR_INVALIDDATA) why = "is not audio in any format known here";
  if (why.empty() && code == AVERROR_STREAM_NOT_FOUND) why = "has no audio stream";
  if (why.empty() && code == AVERROR_EOF) why = "ends before any audio";
  if (why.empty()) why = "cannot be opened as audio: " + av_error_text(code);
  throw AudioError(shown_ + ": " + why);
}

}  // namespace spintag::fingerprint
