// fingerprint/audio/content_hash.cpp - what a recording is, tags aside: a hash of its compressed
// audio.
#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include "fingerprint/audio/av_handles.h"
#include "fingerprint/audio/input.h"
#include "fingerprint/audio/reader.h"

namespace spintag::fingerprint {
namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    check(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }

  void update(const void* data, std::size_t bytes) {
    check(EVP_DigestUpdate(context_.get(), data, bytes) == 1);
  }

  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned bytes = 0;
    check(EVP_DigestFinal_ex(context_.get(), digest.data(), &bytes) == 1);
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (unsigned i = 0; i < bytes; ++i) {
      text += kDigits[digest[i] >> 4U];
      text += kDigits[digest[i] & 0xFU];
    }
    return text;
  }

 private:
  static void check(bool done) {
    if (!done) throw AudioError("SHA-256 is not available from OpenSSL on this machine");
  }

  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

/// Extradata stays out: a Vorbis stream keeps its comments there.
std::string describe(const AVCodecParameters& parameters) {
  return std::string(avcodec_get_name(parameters.codec_id)) + ' ' +
         std::to_string(parameters.sample_rate) + ' ' +
         std::to_string(parameters.ch_layout.nb_channels) + '\n';
}

/// libav hands what stands behind the last frame of an MPEG audio file (tags of several kinds) out
/// as packets too.
bool is_audio(AVCodecID codec, const AVPacket& packet) {
  const bool mpeg =
      codec == AV_CODEC_ID_MP3 || codec == AV_CODEC_ID_MP2 || codec == AV_CODEC_ID_MP1;
  return !mpeg || (packet.size > 2 && packet.data[0] == 0xFF && (packet.data[1] & 0xE0U) == 0xE0);
}

}  // namespace

std::string content_hash(const std::string& file) {
  Interrupt interrupt{std::stop_token()};
  Input input(file, AudioOptions{}, interrupt);
  Sha256 hash;
  const std::string header = describe(*input.stream().codecpar);
  hash.update(header.data(), header.size());
  const AvPacketPtr packet(av_packet_alloc());
  if (packet == nullptr) throw std::bad_alloc();
  std::uint64_t bytes = 0;
  while (input.read(*packet) == Input::Next::kPacket) {
    if (is_audio(input.stream().codecpar->codec_id, *packet)) {
      hash.update(packet->data, static_cast<std::size_t>(packet->size));
      bytes += static_cast<std::uint64_t>(packet->size);
    }
    av_packet_unref(packet.get());
  }
  if (bytes == 0) throw AudioError(input.shown() + ": holds no audio that can be decoded");
  return hash.hex();
}

}  // namespace spintag::fingerprint
