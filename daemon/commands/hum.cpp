// daemon/commands/hum.cpp - `spintag hum`: which tune somebody hums.
#include "daemon/commands/hum.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "daemon/device_backends.h"
#include "daemon/json_text.h"
#include "daemon/melody_book.h"
#include "daemon/open_store.h"
#include "daemon/stop_on_signal.h"
#include "daemon/utf8.h"
#include "fingerprint/audio/reader.h"
#include "fingerprint/melody/pitch_track.h"
#include "kernels/device.h"

namespace spintag::daemon {

namespace {

using Json = nlohmann::ordered_json;
using fingerprint::kContourRate;
using fingerprint::MelodyMatcher;

constexpr int kHumRateHz = 8000;      // the highest pitch has six samples a period
constexpr double kLongestHum_s = 60;  // of a file that goes on, or a stream

// The file cannot be answered for, for the reason in what().
class NoHum : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct NamedTrack {
  HummedTrack track;
  std::string source;
  std::string title;
};

struct Answer {
  double elapsed_s = 0;
  std::vector<NamedTrack> results;
  std::string error;  ///< why there are none
};

std::vector<float> read_audio(const std::string& file, const std::stop_token& stop) {
  fingerprint::AudioOptions options;
  options.rate_hz = kHumRateHz;
  options.stop = stop;
  std::vector<float> samples;
  try {
    fingerprint::AudioReader reader(file, options);
    const auto most = static_cast<std::size_t>(kLongestHum_s * kHumRateHz);
    while (samples.size() < most && reader.read(samples)) {
    }
    if (samples.size() > most) samples.resize(most);
  } catch (const fingerprint::AudioError& error) {
    std::string reason = error.what();
    if (reason.starts_with(file + ": ")) reason.erase(0, file.size() + 2);
    throw NoHum(reason);
  }
  if (stop.stop_requested()) throw NoHum("interrupted");
  if (samples.empty()) throw NoHum("no sound could be decoded from it");
  return samples;
}

// @throws NoHum if there is not enough to go by
fingerprint::Contour pitch_of(const std::vector<float>& samples) {
  fingerprint::Contour pitches = fingerprint::track_pitch(samples, kHumRateHz);
  const auto frames = static_cast<std::size_t>(
      std::count_if(pitches.begin(), pitches.end(), [](float pitch) { return pitch > 0; }));
  if (frames == 0) throw NoHum("nobody hums or sings in it");
  if (frames < MelodyMatcher::kShortestHum) {
    char text[96];
    std::snprintf(text, sizeof text, "too short: %.1f s are hummed (at least %.1f s are needed)",
                  static_cast<double>(frames) / kContourRate,
                  static_cast<double>(MelodyMatcher::kShortestHum) / kContourRate);
    throw NoHum(text);
  }
  return pitches;
}

// Melodies, and the store that names their tracks. Every melody is looked at: for a single hum the
// index of the fast match would take eight times as long to make as all of the search (16 s beside
// 2 s, among 10,034 melodies on 2 busy cores).
class HumDesk {
 public:
  HumDesk(const config::Settings& settings, const std::string& file)
      : device_(kernels::Device::open(
            kernels::DeviceChoice::parse(device_for(settings.device, {&file, 1})))),
        site_(settings),
        store_(site_.open()),
        book_(store_, [](const std::string& fault) { std::cerr << "spintag: " << fault << "\n"; }),
        matcher_(book_.index()) {}

  bool knows_melodies() const { return book_.index().size() > 0; }

  std::vector<NamedTrack> answer(const std::vector<float>& samples, std::size_t top) {
    const auto found = matcher_.match(device_, pitch_of(samples));
    std::vector<NamedTrack> results;
    for (const HummedTrack& track : book_.tracks(found, top)) {
      // Removed since the melodies were read: no answer.
      const auto known = store_.find_track(track.track_id);
      if (known) results.push_back({track, to_utf8(known->source), known->info.title});
    }
    return results;
  }

 private:
  kernels::Device device_;
  StoreSite site_;
  db::Store store_;
  MelodyBook book_;
  MelodyMatcher matcher_;
};

void print_json(const std::string& file, const Answer& answer) {
  Json results = Json::array();
  for (const NamedTrack& named : answer.results) {
    results.push_back({{"rank", results.size() + 1},
                       {"track_id", named.track.track_id},
                       {"source", named.source},
                       {"title", named.title},
                       {"distance", round_to_ms(named.track.distance)}});
  }
  Json line = {{"file", to_utf8(file)},
               {"elapsed_s", std::round(answer.elapsed_s * 1e6) / 1e6},
               {"results", std::move(results)}};
  if (!answer.error.empty()) line["error"] = answer.error;
  std::cout << json_text(line) << std::endl;
}

void print_rows(const Answer& answer) {
  const bool as_table = ::isatty(STDOUT_FILENO) == 1;
  if (as_table && answer.results.empty() && answer.error.empty()) {
    std::cout << "nothing that is long enough for it\n";
  }
  if (as_table && !answer.results.empty()) {
    std::cout << padded("RANK", 6) << padded("TRACK", 9) << padded("DISTANCE", 10)
              << padded("TITLE", 35) << " SOURCE\n";
  }
  std::size_t rank = 0;
  for (const NamedTrack& named : answer.results) {
    char distance[32];
    std::snprintf(distance, sizeof distance, "%.1f", named.track.distance);
    const std::vector<std::string> cells = {std::to_string(++rank),
                                            std::to_string(named.track.track_id), distance};
    if (as_table) {
      std::cout << padded(cells[0], 6) << padded(cells[1], 9) << padded(cells[2], 10)
                << padded(named.title, 35) << " " << named.source << "\n";
    } else {
      std::cout << cells[0] << "\t" << cells[1] << "\t" << cells[2] << "\t" << named.title << "\t"
                << named.source << "\n";
    }
  }
  std::cout.flush();
}

}  // namespace

int run_hum(const CommonOptions& common, const HumOptions& options) {
  const config::Loaded loaded = load_settings(common);
  HumDesk desk(loaded.settings, options.file);
  StopOnSignal stop;
  const auto began_at = std::chrono::steady_clock::now();
  Answer answer;
  try {
    if (!desk.knows_melodies()) {
      throw NoHum("the catalogue has no melodies (spintag ingest FILE.mid or FILE.notes)");
    }
    answer.results =
        desk.answer(read_audio(options.file, stop.token()), static_cast<std::size_t>(options.top));
  } catch (const NoHum& reason) {
    answer.error = to_utf8(reason.what());
    std::cerr << "spintag: " << to_utf8(options.file) << ": " << answer.error << "\n";
  }
  answer.elapsed_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began_at).count();
  options.json ? print_json(options.file, answer) : print_rows(answer);
  return answer.error.empty() ? kDone : kSomeFailed;
}

}  // namespace spintag::daemon
