// fingerprint/audio/reader.h - anything libav opens, as mono samples at one rate.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

namespace spintag::fingerprint {

/// Audio that cannot be opened or read. The message names the source and what is wrong with it.
class AudioError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct AudioOptions {
  int rate_hz = 11025;
  std::chrono::milliseconds open_deadline{15'000};  ///< connect and probe
  std::chrono::milliseconds read_deadline{
      15'000};           ///< silence of the network that counts as a lost stream
  std::stop_token stop;  ///< a stop ends any blocking call at once
  std::string ca_file;   ///< certificate authorities (PEM) to trust for https; none = the system's
};

/// What went by so far.
struct AudioCounts {
  std::uint64_t samples = 0;  ///< given out, at rate_hz
  std::uint64_t packets = 0;
  std::uint64_t damaged_packets = 0;  ///< skipped, and replaced by nothing
  std::uint64_t format_changes =
      0;  ///< rate, channel layout, sample format or codec changed midway
};

/// Streaming, constant memory: open, decode, mix down, resample. One thread at a time. A network
/// source never opens a local file or another protocol than those it was asked for (explicit
/// whitelist, also through playlists and redirects).
class AudioReader {
 public:
  /// @param source  a path, "-" for standard input, or an http(s):// URL (a plain stream, Icecast
  /// or HLS)
  /// @throws AudioError when it cannot be opened, has no audio, or the deadline passes
  AudioReader(std::string source, AudioOptions options);
  ~AudioReader();
  AudioReader(AudioReader&&) noexcept;
  AudioReader& operator=(AudioReader&&) noexcept;

  /// Appends the next samples (at most about a second).
  /// @return false at the end of the source, or when options.stop was asked for; nothing was
  /// appended then
  /// @throws AudioError when the stream breaks or its deadline passes
  bool read(std::vector<float>& samples);

  const AudioCounts& counts() const;

  /// The newest ICY StreamTitle, a hint from the encoder; empty when there is none.
  std::string stream_title() const;

  /// Length by the container's header, if it says.
  std::optional<double> header_duration_s() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// True for http:// and https:// sources.
bool is_network_source(const std::string& source);

/// SHA-256 (hex) of the codec parameters and compressed audio packets: the same recording with
/// other tags has the same hash. Reads without decoding. @throws AudioError
std::string content_hash(const std::string& file);

}  // namespace spintag::fingerprint
