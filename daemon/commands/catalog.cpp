// daemon/commands/catalog.cpp - `spintag catalog`: what is known, by hand.
#include "daemon/commands/catalog.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "daemon/catalogue_file.h"
#include "daemon/ingest/identifiers.h"
#include "daemon/json_text.h"
#include "daemon/open_store.h"
#include "daemon/rfc3339.h"
#include "daemon/track_melodies.h"
#include "daemon/utf8.h"

namespace spintag::daemon {

namespace {

/// Enough rows for whoever asked: unwinds the store's loop.
struct EnoughRows {};

void print_row(const db::Track& track, bool as_table) {
  const std::string duration = duration_text(track.duration_s);
  if (as_table) {
    std::cout << padded(std::to_string(track.track_id), 9) << padded(duration, 9)
              << padded(track.info.artist, 27) << " " << padded(track.info.title, 35) << " "
              << to_utf8(track.source) << "\n";
  } else {
    std::cout << track.track_id << "\t" << duration << "\t" << track.info.artist << "\t"
              << track.info.title << "\t" << to_utf8(track.source) << "\n";
  }
}

std::string joined(const std::vector<std::string>& list) {
  std::string out;
  for (const std::string& item : list) out += (out.empty() ? "" : " ") + item;
  return out;
}

int no_such_track(std::int64_t track_id) {
  std::cerr << "spintag: there is no track " << track_id << " in the catalogue\n";
  return kSomeFailed;
}

// @throws config::ConfigError (usage) for a value that is not what the option takes
void apply_edit(const CatalogEdit& edit, db::TrackInfo& info) {
  if (edit.title) info.title = tidy(*edit.title);
  if (edit.artist) info.artist = tidy(*edit.artist);
  if (edit.album) info.album = tidy(*edit.album);
  if (edit.label) info.label = tidy(*edit.label);
  if (edit.composer) info.composer = tidy(*edit.composer);
  if (edit.isrc) {
    const auto isrcs = normal_isrcs(*edit.isrc);
    if (!isrcs) {
      throw config::ConfigError("--isrc: \"" + *edit.isrc +
                                "\" is not an ISRC (such as USRC17607839)");
    }
    info.isrcs = *isrcs;
  }
  if (edit.recording_mbid) {
    const auto mbid = normal_mbid(*edit.recording_mbid);
    if (!mbid && !edit.recording_mbid->empty()) {
      throw config::ConfigError("--recording-mbid: \"" + *edit.recording_mbid +
                                "\" is not a MusicBrainz id");
    }
    info.recording_mbid = mbid.value_or("");
  }
  if (edit.extra) {
    if (!nlohmann::json::parse(*edit.extra, nullptr, false).is_object()) {
      throw config::ConfigError("--extra: not a JSON object");
    }
    info.extra_json = *edit.extra;
  }
}

// Whole or not at all: a reader never meets half a file.
std::size_t export_to_file(db::Store& store, const std::filesystem::path& file) {
  const std::filesystem::path part = file.string() + ".part";
  std::ofstream out(part, std::ios::binary | std::ios::trunc);
  const std::size_t tracks = out ? export_tracks(store, out) : 0;
  out.flush();
  if (!out) {
    const std::string why = std::strerror(errno);
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    throw std::runtime_error(file.string() + ": " + why);
  }
  out.close();
  std::filesystem::rename(part, file);
  return tracks;
}

}  // namespace

int run_catalog_list(const CommonOptions& common, const CatalogListOptions& options) {
  const StoreSite site(load_settings(common).settings);
  db::Store store = site.open();
  const bool as_table = ::isatty(STDOUT_FILENO) == 1;
  if (as_table && !options.json) {
    std::cout << padded("TRACK", 9) << padded("LENGTH", 9) << padded("ARTIST", 27) << " "
              << padded("TITLE", 35) << " SOURCE\n";
  }
  std::size_t rows = 0;
  try {
    store.for_each_track([&](const db::Track& track) {
      if (options.json) {
        std::cout << json_text(track_to_json(track)) << "\n";
      } else {
        print_row(track, as_table);
      }
      if (++rows == options.limit || !std::cout) throw EnoughRows{};
    });
  } catch (const EnoughRows&) {
  }
  std::cout.flush();
  return kDone;
}

int run_catalog_show(const CommonOptions& common, std::int64_t track_id, bool json) {
  const StoreSite site(load_settings(common).settings);
  db::Store store = site.open();
  const auto track = store.find_track(track_id);
  if (!track) return no_such_track(track_id);
  const std::vector<db::Melodies> melodies = store.melodies({&track_id, 1});
  if (json) {
    nlohmann::ordered_json shown = track_to_json(*track);
    shown["melodies"] = nlohmann::ordered_json::array();
    for (const db::Melodies& row : melodies) shown["melodies"].push_back(describe_melodies(row));
    std::cout << json_text(shown) << std::endl;
    return kDone;
  }
  const auto line = [](const char* name, const std::string& value) {
    if (!value.empty()) std::cout << padded(name, 16) << value << "\n";
  };
  line("track", std::to_string(track->track_id));
  line("title", track->info.title);
  line("artist", track->info.artist);
  line("album", track->info.album);
  line("label", track->info.label);
  line("composer", track->info.composer);
  line("isrc", joined(track->info.isrcs));
  line("recording_mbid", track->info.recording_mbid);
  line("length", duration_text(track->duration_s));
  line("landmarks", std::to_string(track->landmarks));
  for (const db::Melodies& row : melodies) line("melody", melodies_text(row));
  line("source", to_utf8(track->source));
  line("content", track->content_hash);
  line("ingested", to_rfc3339(track->ingested_at));
  if (track->info.extra_json != "{}") line("extra", track->info.extra_json);
  return kDone;
}

int run_catalog_edit(const CommonOptions& common, const CatalogEdit& edit) {
  const StoreSite site(load_settings(common).settings);
  db::Store store = site.open();
  const auto track = store.find_track(edit.track_id);
  if (!track) return no_such_track(edit.track_id);
  db::TrackInfo info = track->info;
  apply_edit(edit, info);
  return store.edit_track(edit.track_id, info) ? kDone : no_such_track(edit.track_id);
}

int run_catalog_remove(const CommonOptions& common, const std::vector<std::int64_t>& track_ids) {
  const StoreSite site(load_settings(common).settings);
  db::Store store = site.open();
  int status = kDone;
  for (const std::int64_t track_id : track_ids) {
    if (!store.remove_track(track_id)) status = no_such_track(track_id);
  }
  return status;
}

int run_catalog_export(const CommonOptions& common, const CatalogExport& options) {
  const StoreSite site(load_settings(common).settings);
  db::Store store = site.open();
  const auto say = [](std::size_t tracks, const std::string& file) {
    std::cerr << "spintag: " << tracks << " tracks written to " << file << "\n";
  };
  if (!options.index.empty()) say(export_index(store, options.index), options.index.string());
  if (options.json == "-") {
    export_tracks(store, std::cout);
    std::cout.flush();
  } else if (!options.json.empty()) {
    say(export_to_file(store, options.json), options.json);
  }
  return kDone;
}

int run_catalog_import(const CommonOptions& common, const std::string& file) {
  std::ifstream opened;
  if (file != "-") {
    opened.open(file, std::ios::binary);
    if (!opened) throw config::ConfigError(file + ": " + std::strerror(errno));
  }
  const StoreSite site(load_settings(common).settings);
  db::Store store = site.open();
  const ImportCounts counts = import_tracks(
      store, file == "-" ? std::cin : opened, [&](std::size_t line, const std::string& fault) {
        std::cerr << "spintag: " << file << ":" << line << ": " << fault << "\n";
      });
  std::cout << counts.added << " added, " << counts.already_there << " already there, "
            << counts.failed << " failed\n";
  return counts.failed > 0 ? kSomeFailed : kDone;
}

}  // namespace spintag::daemon
