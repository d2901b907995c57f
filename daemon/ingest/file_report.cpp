// daemon/ingest/file_report.cpp - what became of a file, and what is done with one that is known.
#include "daemon/ingest/file_report.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "daemon/utf8.h"

namespace spintag::daemon {

namespace {

bool same_info(const db::TrackInfo& a, const db::TrackInfo& b) {
  return a.title == b.title && a.artist == b.artist && a.album == b.album && a.label == b.label &&
         a.composer == b.composer && a.isrcs == b.isrcs && a.recording_mbid == b.recording_mbid &&
         a.extra_json == b.extra_json;
}

}  // namespace

db::NewTrack track_of_file(const std::string& file) {
  struct stat about {};
  if (::stat(file.c_str(), &about) != 0) throw Refused(std::strerror(errno));
  if (about.st_size == 0) throw Refused("the file is empty");
  if (::access(file.c_str(), R_OK) != 0) throw Refused(std::strerror(errno));
  db::NewTrack track;
  track.source = file;
  track.source_size = about.st_size;
  track.source_mtime_ns = about.st_mtim.tv_sec * 1'000'000'000LL + about.st_mtim.tv_nsec;
  return track;
}

bool is_unchanged(const std::optional<db::Track>& known, const db::NewTrack& file) {
  return known && known->source_size == file.source_size &&
         known->source_mtime_ns == file.source_mtime_ns;
}

FileReport skip_known(PatientStore& store, const MetadataSidecar* sidecar, const db::Track& known,
                      const std::string& file, const std::string& reason) {
  FileReport report;
  report.source = to_utf8(file);
  report.what = FileReport::What::skipped;
  report.track_id = known.track_id;
  report.duration_s = known.duration_s;
  report.landmarks = known.landmarks;
  report.reason = reason;
  db::TrackInfo info = known.info;
  if (sidecar != nullptr && sidecar->apply(file, info) && !same_info(info, known.info)) {
    store([&](db::Store& open) { return open.edit_track(known.track_id, info); });
    report.reason += "; its metadata was brought up to date";
  }
  return report;
}

}  // namespace spintag::daemon
