// daemon/ingest/file_report.h - what became of a file, and what is done with one that is known.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "daemon/ingest/metadata_sidecar.h"
#include "daemon/ingest/patient_store.h"
#include "db/store.h"

namespace spintag::daemon {

/// What became of one file, or of one tune of a file of tunes.
struct FileReport {
  enum class What { ingested, skipped, failed };
  What what = What::failed;
  std::string source;  ///< as the user gave it; bytes that are not UTF-8 escaped
  std::optional<std::int64_t> track_id;
  std::optional<double> duration_s;
  std::optional<std::int64_t> landmarks;
  std::string reason;    ///< why it failed or was skipped, or what is odd about it; may be empty
  double decoded_s = 0;  ///< recorded time that was gone through
};

/// The file cannot be taken, for the reason in what().
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Source, size and time of change; the rest is left to fill in.
/// @throws Refused if there is nothing that could be read
db::NewTrack track_of_file(const std::string& file);

/// True if the track has this source, and the file has not changed since.
bool is_unchanged(const std::optional<db::Track>& known, const db::NewTrack& file);

/// The report of a file whose content is known. What the sidecar says about it reaches the store.
/// @param sidecar  may be null
FileReport skip_known(PatientStore& store, const MetadataSidecar* sidecar, const db::Track& known,
                      const std::string& file, const std::string& reason);

}  // namespace spintag::daemon
