// daemon/doctor/stream_checks.cpp - whether each station's stream opens and holds audio.
#include "daemon/doctor/stream_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <vector>

#include "fingerprint/audio/reader.h"

namespace spintag::daemon {

using Health = Finding::Health;
using std::chrono::steady_clock;

namespace {

constexpr std::size_t kAtOnce = 16;
constexpr auto kStreamPatience = std::chrono::seconds(5);  ///< to open, and between packets
constexpr double kListen_s = 1;
constexpr float kSilence = 0.001F;  ///< -60 dBFS

Finding listen_to(const config::Station& station) {
  const std::string check = "stream " + station.name;
  try {
    const auto began = steady_clock::now();
    fingerprint::AudioOptions options;
    options.open_deadline = kStreamPatience;
    options.read_deadline = kStreamPatience;
    fingerprint::AudioReader reader(station.url, options);
    std::vector<float> samples;
    while (static_cast<double>(samples.size()) < kListen_s * options.rate_hz &&
           steady_clock::now() - began < 2 * kStreamPatience) {
      if (!reader.read(samples)) break;
    }
    const std::chrono::duration<double> took = steady_clock::now() - began;
    if (samples.empty()) {
      return {Health::fail, check, config::mask_url(station.url) + ": it ended at once",
              "play the address in a media player"};
    }
    const bool silent = std::all_of(samples.begin(), samples.end(),
                                    [](float sample) { return std::abs(sample) < kSilence; });
    std::string message =
        fmt::format("{:.1f} s of audio within {:.1f} s",
                    static_cast<double>(samples.size()) / options.rate_hz, took.count());
    if (!reader.stream_title().empty()) message += ", says \"" + reader.stream_title() + "\"";
    if (silent) {
      return {Health::warn, check, message + ", and it is silent",
              "listen to it in a media player"};
    }
    return {Health::ok, check, message, ""};
  } catch (const fingerprint::AudioError& error) {
    return {Health::fail, check, error.what(),
            "play the address in a media player; correct its url"};
  }
}

}  // namespace

void check_streams(std::span<const config::Station> stations, const Report& report) {
  if (stations.empty()) {
    report({Health::warn, "streams", "the configuration names no station",
            "add a [[station]] with name and url: spintag run has nothing to listen to"});
    return;
  }
  for (; !stations.empty(); stations = stations.subspan(std::min(kAtOnce, stations.size()))) {
    std::vector<std::future<Finding>> findings;
    for (const auto& station : stations.first(std::min(kAtOnce, stations.size()))) {
      findings.push_back(std::async(std::launch::async, listen_to, std::cref(station)));
    }
    for (auto& finding : findings) report(finding.get());
  }
}

}  // namespace spintag::daemon
