// fingerprint/audio/reader.cpp - demux, decode, mix, resample: the loop behind AudioReader.
#include "fingerprint/audio/reader.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <new>
#include <utility>

#include "fingerprint/audio/av_handles.h"
#include "fingerprint/audio/input.h"
#include "fingerprint/audio/interrupt.h"
#include "fingerprint/audio/resampler.h"

namespace spintag::fingerprint {
namespace {

constexpr std::size_t kFilePortion =
    8192;  // samples per read() of a file; a live stream gives each packet at once
constexpr int kMostUndecodable =
    500;  // packets in a row (about 10 s) after which a live stream is lost, not damaged

}  // namespace

struct AudioReader::State {
  State(const std::string& source, AudioOptions given)
      : options(std::move(given)),
        interrupt(options.stop),
        input(source, options, interrupt),
        packet(av_packet_alloc()),
        av_frame(av_frame_alloc()),
        resampler(options.rate_hz) {
    if (packet == nullptr || av_frame == nullptr) throw std::bad_alloc();
    open_decoder();
  }

  void open_decoder();
  void follow_codec();
  bool step();
  void decode(const AVPacket* compressed);
  void finish();
  void follow_title();
  void drop_handed_out();

  AudioOptions options;
  Interrupt interrupt;
  Input input;
  AvPacketPtr packet;
  AvFramePtr av_frame;
  AvCodecPtr decoder;
  AvParametersPtr decoded_parameters;  ///< what `decoder` was opened with
  MonoResampler resampler;
  AudioCounts counts;
  std::uint64_t damaged_in_decoder = 0;
  int packets_without_sound = 0;  ///< in a row
  std::string title;
  std::vector<float> pending;  ///< resampled, not yet handed out from `pending_from` on
  std::size_t pending_from = 0;
  bool codec_changed = false;  ///< the next frame's new format is already counted
  bool ended = false;
};

void AudioReader::State::open_decoder() {
  const AVCodecParameters& parameters = *input.stream().codecpar;
  const AVCodec* codec = avcodec_find_decoder(parameters.codec_id);
  if (codec == nullptr) {
    throw AudioError(input.shown() + ": no decoder for " + avcodec_get_name(parameters.codec_id));
  }
  decoder.reset(avcodec_alloc_context3(codec));
  decoded_parameters.reset(avcodec_parameters_alloc());
  if (decoder == nullptr || decoded_parameters == nullptr) throw std::bad_alloc();
  int code = avcodec_parameters_copy(decoded_parameters.get(), &parameters);
  if (code >= 0) code = avcodec_parameters_to_context(decoder.get(), &parameters);
  decoder->thread_count = 1;                         // files are read in parallel, not frames
  decoder->pkt_timebase = input.stream().time_base;  // trims encoder delay at start and end
  if (code >= 0) code = avcodec_open2(decoder.get(), codec, nullptr);
  if (code < 0) {
    throw AudioError(input.shown() + ": holds no audio that can be decoded (" + codec->name +
                     " refuses its header)");
  }
}

/// A container may switch to another codec, or to other decoder headers, between two packets.
void AudioReader::State::follow_codec() {
  const AVCodecParameters& now = *input.stream().codecpar;
  const bool same =
      now.codec_id == decoded_parameters->codec_id &&
      now.extradata_size == decoded_parameters->extradata_size &&
      std::equal(now.extradata, now.extradata + now.extradata_size, decoded_parameters->extradata);
  if (same) return;
  decode(nullptr);
  open_decoder();
  ++counts.format_changes;
  codec_changed = true;
}

bool AudioReader::State::step() {
  switch (input.read(*packet)) {
    case Input::Next::kStopped:
      return false;
    case Input::Next::kEnd:
      finish();
      return true;
    case Input::Next::kPacket:
      break;
  }
  ++counts.packets;
  ++packets_without_sound;
  follow_codec();
  follow_title();
  if ((packet->flags & AV_PKT_FLAG_CORRUPT) != 0) {
    ++damaged_in_decoder;
  } else {
    decode(packet.get());
  }
  av_packet_unref(packet.get());
  if (input.is_network() && packets_without_sound >= kMostUndecodable) {
    throw AudioError(input.shown() + ": what comes can no longer be decoded");
  }
  return true;
}

void AudioReader::State::decode(const AVPacket* compressed) {
  int code = avcodec_send_packet(decoder.get(), compressed);
  bool damaged = code < 0 && code != AVERROR_EOF;
  while (code >= 0) {
    code = avcodec_receive_frame(decoder.get(), av_frame.get());
    if (code < 0) {
      damaged = damaged || (code != AVERROR(EAGAIN) && code != AVERROR_EOF);
      break;
    }
    packets_without_sound = 0;
    switch (resampler.push(*av_frame, pending)) {
      case MonoResampler::Taken::kSameFormat:
        break;
      case MonoResampler::Taken::kNewFormat:
        if (!std::exchange(codec_changed, false)) ++counts.format_changes;
        break;
      case MonoResampler::Taken::kRefused:
        damaged = true;
        break;
    }
  }
  if (damaged) ++damaged_in_decoder;
}

void AudioReader::State::finish() {
  decode(nullptr);
  resampler.finish(pending);
  ended = true;
  if (counts.samples == 0 && pending.empty()) {
    throw AudioError(input.shown() + ": holds no audio that can be decoded");
  }
}

void AudioReader::State::drop_handed_out() {
  pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(pending_from));
  pending_from = 0;
}

void AudioReader::State::follow_title() {
  if (auto changed = input.take_new_title()) title = std::move(*changed);
}

AudioReader::AudioReader(std::string source, AudioOptions options)
    : state_(std::make_unique<State>(source, std::move(options))) {}
AudioReader::~AudioReader() = default;
AudioReader::AudioReader(AudioReader&&) noexcept = default;
AudioReader& AudioReader::operator=(AudioReader&&) noexcept = default;

bool AudioReader::read(std::vector<float>& samples) {
  State& state = *state_;
  const std::size_t wanted = state.input.is_network() ? 1 : kFilePortion;
  if (state.interrupt.stopped()) return false;
  if (state.pending.size() - state.pending_from < wanted) state.drop_handed_out();
  while (!state.ended && state.pending.size() < wanted) {
    if (!state.step()) return false;
  }
  state.counts.damaged_packets = state.damaged_in_decoder + state.input.damaged_packets();
  const std::size_t count = std::min(state.pending.size() - state.pending_from,
                                     static_cast<std::size_t>(state.options.rate_hz));
  const auto from = state.pending.begin() + static_cast<std::ptrdiff_t>(state.pending_from);
  samples.insert(samples.end(), from, from + static_cast<std::ptrdiff_t>(count));
  state.counts.samples += count;
  state.pending_from += count;
  return count > 0;
}

const AudioCounts& AudioReader::counts() const { return state_->counts; }

std::string AudioReader::stream_title() const { return state_->title; }

std::optional<double> AudioReader::header_duration_s() const {
  return state_->input.header_duration_s();
}

}  // namespace spintag::fingerprint
