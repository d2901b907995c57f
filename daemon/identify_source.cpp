// daemon/identify_source.cpp - one file, URL or pipe, listened to and looked up.
#include "daemon/identify_source.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>

#include "fingerprint/audio/reader.h"
#include "fingerprint/extractor.h"
#include "fingerprint/profile.h"

namespace spintag::daemon {

namespace {

using fingerprint::BroadcastProfile;

constexpr double kEndlessStreamS =
    30;  // of a stream whose header names no length: enough to be sure of a song

std::uint64_t most_samples(const std::string& source, const fingerprint::AudioReader& reader,
                           const std::optional<double>& seconds) {
  const bool endless = fingerprint::is_network_source(source) && !reader.header_duration_s();
  if (!seconds && !endless) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(
      std::llround(seconds.value_or(kEndlessStreamS) * BroadcastProfile::rate_hz));
}

// Fills `peaks` and heard.duration_s as far as the source goes, also when it ends with an error.
void listen(const std::string& source, const ListenLimits& limits, Identified& heard,
            std::vector<fingerprint::Peak>& peaks) {
  fingerprint::AudioOptions audio;
  audio.rate_hz = BroadcastProfile::rate_hz;
  audio.stop = limits.stop;
  std::uint64_t samples_heard = 0;
  fingerprint::PeakExtractor extractor;
  try {
    fingerprint::AudioReader reader(source, audio);
    const std::uint64_t most = most_samples(source, reader, limits.seconds);
    std::vector<float> samples;
    while (samples_heard < most && reader.read(samples)) {
      if (samples.size() > most - samples_heard) samples.resize(most - samples_heard);
      extractor.push(samples, peaks);
      samples_heard += samples.size();
      samples.clear();
    }
    if (samples_heard == 0 && !limits.stop.stop_requested()) {
      heard.error = "no sound could be decoded from it";
    }
  } catch (const fingerprint::AudioError& error) {
    heard.error = error.what();
    if (heard.error.starts_with(source + ": ")) heard.error.erase(0, source.size() + 2);
  }
  extractor.finish(peaks);
  heard.duration_s = static_cast<double>(samples_heard) / BroadcastProfile::rate_hz;
}

}  // namespace

Identified identify_source(const std::string& source, const ListenLimits& limits,
                           fingerprint::Matcher& matcher, const fingerprint::Index& index,
                           const fingerprint::MatchOptions& options) {
  const auto began_at = std::chrono::steady_clock::now();
  Identified heard;
  heard.file = source;
  std::vector<fingerprint::Peak> peaks;
  listen(source, limits, heard, peaks);
  if (heard.duration_s > 0) {
    heard.matches = make_cue_sheet(matcher, index, peaks, heard.duration_s, options);
  }
  heard.elapsed_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began_at).count();
  return heard;
}

}  // namespace spintag::daemon
