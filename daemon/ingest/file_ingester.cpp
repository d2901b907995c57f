// daemon/ingest/file_ingester.cpp - one file into the catalogue: known, taken or refused.
#include "daemon/ingest/file_ingester.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "daemon/ingest/tags.h"
#include "daemon/utf8.h"
#include "fingerprint/audio/reader.h"
#include "fingerprint/melody/packed_melody.h"
#include "fingerprint/melody/recorded_melody.h"
#include "fingerprint/profile.h"
#include "fingerprint/reference.h"

namespace spintag::daemon {

namespace {

using fingerprint::BroadcastProfile;

constexpr double kMinDurationS = 1.0;  // shorter than that, hardly a pair of peaks fits
// A header that is an estimate from the bit rate is a little off in every other file.
constexpr double kCutShortS = 2.0;
constexpr double kCutShortShare = 0.05;

// Of a longer recording, such as a mix or a talk, the rest is not listened to.
constexpr std::uint64_t kMelodySamples = std::uint64_t{3600} * BroadcastProfile::rate_hz;

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", seconds);
  return text;
}

// libav's messages begin with the source, and a report names the source already.
std::string without_source(std::string message, const std::string& file) {
  if (message.starts_with(file + ": ")) message.erase(0, file.size() + 2);
  return to_utf8(message);
}

// No melody at all is packed too, so that it is not looked for again.
std::vector<std::byte> packed_melody(const fingerprint::Contour& pitch) {
  const fingerprint::Melody melody = fingerprint::recorded_melody(pitch);
  const std::size_t count = melody.notes.empty() ? 0 : 1;
  return fingerprint::pack_melodies({&melody, count});
}

}  // namespace

struct FileIngester::Fingerprinted {
  fingerprint::PackedPeaks packed;
  std::optional<std::vector<std::byte>> melody;  ///< packed, where one is wanted
  double duration_s = 0;
  std::int64_t landmarks = 0;
  std::string oddity;  ///< what is wrong with the file, though it could be taken
};

FileIngester::FileIngester(const StoreSite& site, ExtractionService& extraction,
                           const MetadataSidecar* sidecar, bool melodies, std::stop_token stop)
    : extraction_(extraction),
      sidecar_(sidecar),
      melodies_(melodies),
      stop_(stop),
      patiently_(site, stop) {}

FileIngester::~FileIngester() = default;

std::optional<FileReport> FileIngester::ingest(const std::string& file) {
  FileReport report;
  report.source = to_utf8(file);
  try {
    return ingest_regular(file, report);
  } catch (const Stopped&) {
    return std::nullopt;
  } catch (const Refused& refused) {
    report.reason = refused.what();
  } catch (const fingerprint::AudioError& error) {
    report.reason = without_source(error.what(), file);
  } catch (const db::StoreError& error) {
    if (error.kind() != db::StoreError::Kind::refused) throw;
    report.reason = error.what();
  }
  if (stop_.stop_requested()) return std::nullopt;
  report.what = FileReport::What::failed;
  return report;
}

FileReport FileIngester::ingest_regular(const std::string& file, FileReport report) {
  db::NewTrack track = track_of_file(file);
  const auto same_source =
      patiently_([&](db::Store& store) { return store.find_by_source(track.source); });
  const auto skip = [&](const db::Track& known, const std::string& reason) {
    return skip_known(patiently_, sidecar_, known, file, reason);
  };
  if (is_unchanged(same_source, track) && melody_done(same_source->track_id)) {
    return skip(*same_source, "already in the catalogue");
  }

  track.content_hash = fingerprint::content_hash(file);
  const auto same_content =
      patiently_([&](db::Store& store) { return store.find_by_hash(track.content_hash); });
  if (same_content && same_content->source != file) {
    return skip(*same_content, "the same recording as " + to_utf8(same_content->source));
  }
  if (same_content && melody_done(same_content->track_id) && remember_file(*same_content, track)) {
    return skip(*same_content,
                "already in the catalogue (the file has changed, its audio has not)");
  }

  const Fingerprinted made = fingerprint(file);
  report.decoded_s = made.duration_s;
  track.info = describe(read_tags(file), to_utf8(std::filesystem::path(file).stem().string()));
  if (sidecar_ != nullptr) sidecar_->apply(file, track.info);
  track.duration_s = made.duration_s;
  track.landmarks = made.landmarks;
  track.profile = BroadcastProfile::name;
  track.profile_version = BroadcastProfile::version;
  track.packed = made.packed;
  db::NewMelodies melodies{
      fingerprint::kMelodyFromRecording, fingerprint::kPackedMelodyVersion, {}};
  if (made.melody) {
    melodies.packed = *made.melody;
    track.melodies = {&melodies, 1};
  }
  const db::PutResult put = patiently_([&](db::Store& store) { return store.put_track(track); });
  const bool was_there = put.what == db::PutResult::What::already_there;
  report.what = was_there ? FileReport::What::skipped : FileReport::What::ingested;
  report.track_id = put.track_id;
  report.duration_s = made.duration_s;
  report.landmarks = made.landmarks;
  report.reason = made.oddity;
  if (was_there) report.reason = "already in the catalogue";
  if (put.what == db::PutResult::What::replaced && report.reason.empty()) {
    report.reason = same_content ? "its melody or its fingerprint was brought up to date"
                                 : "took the place of what this file held before";
  }
  return report;
}

bool FileIngester::melody_done(std::int64_t track_id) {
  if (!melodies_) return true;
  const auto stored = patiently_([&](db::Store& store) { return store.melodies({&track_id, 1}); });
  return std::ranges::any_of(stored, [](const db::Melodies& melodies) {
    return melodies.method == fingerprint::kMelodyFromRecording &&
           melodies.method_version == fingerprint::kPackedMelodyVersion;
  });
}

bool FileIngester::remember_file(const db::Track& known, db::NewTrack track) {
  return patiently_([&](db::Store& store) {
    const std::vector<db::Fingerprint> prints = store.fingerprints(
        std::string(BroadcastProfile::name), BroadcastProfile::version, {&known.track_id, 1});
    if (prints.empty()) return false;
    track.profile = BroadcastProfile::name;
    track.profile_version = BroadcastProfile::version;
    track.duration_s = known.duration_s;
    track.landmarks = known.landmarks;
    track.packed = prints[0].packed;
    store.put_track(track);
    return true;
  });
}

FileIngester::Fingerprinted FileIngester::fingerprint(const std::string& file) {
  fingerprint::AudioOptions options;
  options.rate_hz = BroadcastProfile::rate_hz;
  options.stop = stop_;
  fingerprint::AudioReader reader(file, options);
  FilePeaks file_peaks(extraction_);
  std::optional<fingerprint::PredominantPitch> pitch;
  if (melodies_) pitch.emplace();
  std::vector<float> samples;
  while (reader.read(samples)) {
    file_peaks.push(samples);
    if (pitch && reader.counts().samples < kMelodySamples) pitch->push(samples);
    samples.clear();
  }
  if (stop_.stop_requested()) throw Stopped{};
  const std::vector<fingerprint::Peak> peaks = file_peaks.finish().peaks;

  Fingerprinted made;
  const fingerprint::AudioCounts& counts = reader.counts();
  made.duration_s = static_cast<double>(counts.samples) / BroadcastProfile::rate_hz;
  if (counts.samples == 0) throw Refused("no sound could be decoded from it");
  if (made.duration_s < kMinDurationS) {
    throw Refused("too short: " + seconds_text(made.duration_s) + " (at least " +
                  seconds_text(kMinDurationS) + " is needed)");
  }
  made.packed = fingerprint::make_reference(peaks);
  if (pitch) made.melody = packed_melody(pitch->finish());
  made.landmarks = static_cast<std::int64_t>(fingerprint::count_landmarks(made.packed));
  if (made.landmarks == 0) throw Refused("nothing in it to recognise it by (silence?)");
  const double header_s = reader.header_duration_s().value_or(0);
  if (header_s - made.duration_s > std::max(kCutShortS, kCutShortShare * header_s)) {
    made.oddity = "cut short: its header says " + seconds_text(header_s) + ", there are " +
                  seconds_text(made.duration_s);
  }
  if (counts.damaged_packets > 0) {
    made.oddity += (made.oddity.empty() ? "" : "; ") + std::to_string(counts.damaged_packets) +
                   " damaged packets were left out";
  }
  return made;
}

}  // namespace spintag::daemon
