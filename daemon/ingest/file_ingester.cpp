// daemon/ingest/file_ingester.cpp - one file into the catalogue: known, taken or refused.
#include "daemon/ingest/file_ingester.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <vector>

#include "daemon/ingest/tags.h"
#include "daemon/utf8.h"
#include "fingerprint/audio/reader.h"
#include "fingerprint/profile.h"
#include "fingerprint/reference.h"

namespace spintag::daemon {

namespace {

using fingerprint::BroadcastProfile;
using std::chrono::steady_clock;

constexpr double kMinDurationS = 1.0;          // shorter than that, hardly a pair of peaks fits
constexpr std::chrono::seconds kPatience{10};  // a restart of PostgreSQL takes about that long
constexpr std::chrono::milliseconds kLongestPause{1000};
// A header that is an estimate from the bit rate is a little off in every other file.
constexpr double kCutShortS = 2.0;
constexpr double kCutShortShare = 0.05;

/// The stop token asked for an end: nothing is wrong with the file.
struct Stopped {};

/// The file cannot be taken, for the reason in what().
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", seconds);
  return text;
}

bool same_info(const db::TrackInfo& a, const db::TrackInfo& b) {
  return a.title == b.title && a.artist == b.artist && a.album == b.album && a.label == b.label &&
         a.composer == b.composer && a.isrcs == b.isrcs && a.recording_mbid == b.recording_mbid &&
         a.extra_json == b.extra_json;
}

// Waits, but not past a stop.
void pause_unless_stopped(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
}

// libav's messages begin with the source, and a report names the source already.
std::string without_source(std::string message, const std::string& file) {
  if (message.starts_with(file + ": ")) message.erase(0, file.size() + 2);
  return to_utf8(message);
}

}  // namespace

struct FileIngester::Fingerprinted {
  fingerprint::PackedPeaks packed;
  double duration_s = 0;
  std::int64_t landmarks = 0;
  std::string oddity;  ///< what is wrong with the file, though it could be taken
};

FileIngester::FileIngester(const StoreSite& site, ExtractionService& extraction,
                           const MetadataSidecar* sidecar, std::stop_token stop)
    : site_(site), extraction_(extraction), sidecar_(sidecar), stop_(std::move(stop)) {}

FileIngester::~FileIngester() = default;

template <class Call>
auto FileIngester::patiently(Call&& call) -> decltype(call(std::declval<db::Store&>())) {
  const auto give_up_at = steady_clock::now() + kPatience;
  for (std::chrono::milliseconds pause{100};; pause = std::min(2 * pause, kLongestPause)) {
    try {
      if (!store_) store_.emplace(site_.open());
      return call(*store_);
    } catch (const db::StoreError& error) {
      if (error.kind() != db::StoreError::Kind::unreachable) throw;
      if (steady_clock::now() + pause > give_up_at) throw;
    }
    pause_unless_stopped(pause, stop_);
    if (stop_.stop_requested()) throw Stopped{};
  }
}

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
  struct stat about {};
  if (::stat(file.c_str(), &about) != 0) throw Refused(std::strerror(errno));
  if (about.st_size == 0) throw Refused("the file is empty");
  if (::access(file.c_str(), R_OK) != 0) throw Refused(std::strerror(errno));

  db::NewTrack track;
  track.source = file;
  track.source_size = about.st_size;
  track.source_mtime_ns = about.st_mtim.tv_sec * 1'000'000'000LL + about.st_mtim.tv_nsec;
  const auto same_source =
      patiently([&](db::Store& store) { return store.find_by_source(track.source); });
  if (same_source && same_source->source_size == track.source_size &&
      same_source->source_mtime_ns == track.source_mtime_ns) {
    return skip(*same_source, file, std::move(report), "already in the catalogue");
  }

  track.content_hash = fingerprint::content_hash(file);
  const auto same_content =
      patiently([&](db::Store& store) { return store.find_by_hash(track.content_hash); });
  if (same_content && same_content->source != file) {
    return skip(*same_content, file, std::move(report),
                "the same recording as " + to_utf8(same_content->source));
  }
  if (same_content && remember_file(*same_content, track)) {
    return skip(*same_content, file, std::move(report),
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
  const db::PutResult put = patiently([&](db::Store& store) { return store.put_track(track); });
  const bool was_there = put.what == db::PutResult::What::already_there;
  report.what = was_there ? FileReport::What::skipped : FileReport::What::ingested;
  report.track_id = put.track_id;
  report.duration_s = made.duration_s;
  report.landmarks = made.landmarks;
  report.reason = made.oddity;
  if (was_there) report.reason = "already in the catalogue";
  if (put.what == db::PutResult::What::replaced && report.reason.empty()) {
    report.reason = "took the place of what this file held before";
  }
  return report;
}

bool FileIngester::remember_file(const db::Track& known, db::NewTrack track) {
  return patiently([&](db::Store& store) {
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

FileReport FileIngester::skip(const db::Track& known, const std::string& file, FileReport report,
                              const std::string& reason) {
  report.what = FileReport::What::skipped;
  report.track_id = known.track_id;
  report.duration_s = known.duration_s;
  report.landmarks = known.landmarks;
  report.reason = reason;
  db::TrackInfo info = known.info;
  if (sidecar_ != nullptr && sidecar_->apply(file, info) && !same_info(info, known.info)) {
    patiently([&](db::Store& store) { return store.edit_track(known.track_id, info); });
    report.reason += "; its metadata was brought up to date";
  }
  return report;
}

FileIngester::Fingerprinted FileIngester::fingerprint(const std::string& file) {
  fingerprint::AudioOptions options;
  options.rate_hz = BroadcastProfile::rate_hz;
  options.stop = stop_;
  fingerprint::AudioReader reader(file, options);
  FilePeaks file_peaks(extraction_);
  std::vector<float> samples;
  while (reader.read(samples)) {
    file_peaks.push(samples);
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
