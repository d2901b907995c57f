// daemon/commands/identify.cpp - `spintag identify`: which songs are in a file or on a stream.
#include "daemon/commands/identify.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>
#include <unordered_map>

#include "daemon/device_backends.h"
#include "daemon/extraction_service.h"
#include "daemon/identify_source.h"
#include "daemon/json_text.h"
#include "daemon/live_index.h"
#include "daemon/match_service.h"
#include "daemon/open_store.h"
#include "daemon/stop_on_signal.h"
#include "daemon/utf8.h"

namespace spintag::daemon {

namespace {

using Json = nlohmann::ordered_json;
using fingerprint::Alignment;
using fingerprint::TrackId;

// What an answer says about a track.
struct TrackName {
  std::string source;
  std::string title;
  std::string artist;
};

// An index and the names of its tracks: the catalogue's, or a snapshot's alone.
class Catalogue {
 public:
  Catalogue(const config::Settings& settings, const std::filesystem::path& snapshot) {
    if (!snapshot.empty()) {
      index_ = fingerprint::Index::load(snapshot).index;
      return;
    }
    site_.emplace(settings);
    store_.emplace(site_->open());
    std::error_code ignored;  // without the folder there is no cache, and the answers are the same
    std::filesystem::create_directories(state_directory(settings), ignored);
    live_ = std::make_unique<LiveIndex>(*store_, index_snapshot_file(settings));
    live_->refresh(*store_);
    index_ = live_->current();
  }

  const std::shared_ptr<const fingerprint::Index>& index() const { return index_; }

  /// @return null for a track that was removed since the index was loaded
  const TrackName* name(TrackId track_id) {
    const auto known = names_.find(track_id);
    if (known != names_.end()) return &known->second;
    std::optional<TrackName> found = store_ ? from_store(track_id) : from_snapshot(track_id);
    if (!found) return nullptr;
    return &names_.emplace(track_id, std::move(*found)).first->second;
  }

  void keep_for_next_time() {
    if (live_) live_->save_if_worthwhile();
  }

 private:
  std::optional<TrackName> from_store(TrackId track_id) {
    const std::optional<db::Track> track = store_->find_track(track_id);
    if (!track) return std::nullopt;
    return TrackName{to_utf8(track->source), track->info.title, track->info.artist};
  }

  std::optional<TrackName> from_snapshot(TrackId track_id) const {
    const auto json = nlohmann::json::parse(index_->metadata(track_id), nullptr, false);
    if (!json.is_object()) return TrackName{};
    return TrackName{json.value("source", ""), json.value("title", ""), json.value("artist", "")};
  }

  std::optional<StoreSite> site_;
  std::optional<db::Store> store_;
  std::unique_ptr<LiveIndex> live_;
  std::shared_ptr<const fingerprint::Index> index_;
  std::unordered_map<TrackId, TrackName> names_;
};

double round_to(double value, double unit) { return std::round(value / unit) * unit; }

// Speed and pitch carry six decimals, more than a fit over minutes can tell.
double round_ratio(double ratio) { return std::round(ratio * 1e6) / 1e6; }

Json match_json(const Alignment& match, const TrackName& name) {
  return {{"track_id", match.track_id},
          {"source", name.source},
          {"title", name.title},
          {"artist", name.artist},
          {"start_s", round_to_ms(match.start_s)},
          {"end_s", round_to_ms(match.end_s)},
          {"track_start_s", round_to_ms(match.track_start_s)},
          {"speed", round_ratio(match.tempo)},
          {"pitch", round_ratio(match.pitch)},
          {"score", round_to_ms(match.score)},
          {"confidence", match.confidence},
          {"method", "landmark"}};
}

void print_json(const Identified& heard, Catalogue& catalogue) {
  Json matches = Json::array();
  for (const Alignment& match : heard.matches) {
    if (const TrackName* name = catalogue.name(match.track_id)) {
      matches.push_back(match_json(match, *name));
    }
  }
  Json line = {{"file", to_utf8(heard.file)},
               {"duration_s", round_to_ms(heard.duration_s)},
               {"elapsed_s", std::round(heard.elapsed_s * 1e6) / 1e6},
               {"matches", std::move(matches)}};
  if (!heard.error.empty()) line["error"] = to_utf8(heard.error);
  std::cout << json_text(line) << std::endl;
}

// "1:02:03.4" within the file.
std::string at_text(double seconds) {
  const double tenths = round_to(std::max(0.0, seconds), 0.1);
  const auto whole = static_cast<long long>(tenths + 1e-6);
  char text[48];
  std::snprintf(text, sizeof text, "%lld:%02lld:%04.1f", whole / 3600, whole / 60 % 60,
                std::max(0.0, tenths - static_cast<double>(whole / 60 * 60)));
  return text;
}

void print_cue_sheet(const Identified& heard, Catalogue& catalogue) {
  std::cout << to_utf8(heard.file) << " (" << duration_text(heard.duration_s) << ")\n";
  bool known = false;
  for (const Alignment& match : heard.matches) {
    const TrackName* name = catalogue.name(match.track_id);
    if (name == nullptr) continue;
    known = true;
    const std::string who = name->artist.empty() ? "" : name->artist + " - ";
    char numbers[96];
    std::snprintf(numbers, sizeof numbers, "track %lld from %s, speed %.3f, confidence %.6g",
                  static_cast<long long>(match.track_id), at_text(match.track_start_s).c_str(),
                  match.tempo, match.confidence);
    std::cout << "  " << at_text(match.start_s) << " to " << at_text(match.end_s) << "  " << who
              << name->title << "  [" << numbers << "]\n";
  }
  if (!known && heard.error.empty()) std::cout << "  nothing that is known\n";
  std::cout.flush();
}

}  // namespace

int run_identify(const CommonOptions& common, const IdentifyOptions& options) {
  const config::Loaded loaded = load_settings(common);
  const std::string device = device_for(loaded.settings.device, options.sources);
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const auto wanted = fingerprint::Wanted::peaks_and_levels;
  ExtractionService extraction(wanted, open_extract_backend(device, wanted));
  MatchService matching(cores, open_match_backend(device));
  Catalogue catalogue(loaded.settings, options.index);
  matching.load(catalogue.index());
  StopOnSignal stop;
  IdentifyTools tools{extraction, matching, catalogue.index(), {}};
  tools.options.min_confidence = options.threshold.value_or(loaded.settings.min_confidence);
  int status = kDone;
  const auto tell = [&](const Identified& heard) {
    if (!heard.error.empty()) {
      std::cerr << "spintag: " << to_utf8(heard.file) << ": " << to_utf8(heard.error) << "\n";
      status = kSomeFailed;
    }
    options.json ? print_json(heard, catalogue) : print_cue_sheet(heard, catalogue);
  };
  if (!identify_sources(options.sources, {options.seconds, stop.token()}, cores, tools, tell)) {
    std::cerr << "spintag: interrupted; not all files were looked at\n";
    status = kSomeFailed;
  }
  catalogue.keep_for_next_time();
  return status;
}

}  // namespace spintag::daemon
