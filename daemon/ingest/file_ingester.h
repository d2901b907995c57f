// daemon/ingest/file_ingester.h - one file into the catalogue: known, taken or refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "daemon/extraction_service.h"
#include "daemon/ingest/file_report.h"
#include "daemon/ingest/metadata_sidecar.h"
#include "daemon/ingest/patient_store.h"
#include "db/store.h"

namespace spintag::daemon {

/// A worker: one connection, one file at a time. Single-threaded.
class FileIngester {
 public:
  /// @param extraction  shared by all workers; must outlive this
  /// @param sidecar     may be null; must outlive this
  /// @param melodies    take the melody of each recording, too
  /// @param stop        ends the current file within a fraction of a second
  FileIngester(const StoreSite& site, ExtractionService& extraction, const MetadataSidecar* sidecar,
               bool melodies, std::stop_token stop);
  ~FileIngester();

  /// Skips what the catalogue has: by source, size and time of change without reading, then by
  /// content without decoding; but a recording whose melody is wanted and not there is decoded. A
  /// track is stored in one transaction. When the database goes away it is asked again for some ten
  /// seconds.
  /// @return nothing if `stop` came before the file was done
  /// @throws db::StoreError(unreachable) when the database stays away
  std::optional<FileReport> ingest(const std::string& file);

 private:
  struct Fingerprinted;

  FileReport ingest_regular(const std::string& file, FileReport report);
  /// Keeps the new size and time of a file whose audio is known, so that the next ingest need not
  /// read it.
  /// @return false if the store has no fingerprint of this profile's version, so that one has to be
  /// made
  bool remember_file(const db::Track& known, db::NewTrack track);
  /// False if one is wanted and missing. A recording without one has a row that says so.
  bool melody_done(std::int64_t track_id);
  Fingerprinted fingerprint(const std::string& file);

  ExtractionService& extraction_;
  const MetadataSidecar* sidecar_;
  bool melodies_;
  std::stop_token stop_;
  PatientStore patiently_;
};

}  // namespace spintag::daemon
