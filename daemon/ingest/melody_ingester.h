// daemon/ingest/melody_ingester.h - written music into the catalogue: MIDI files and .notes files.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "daemon/ingest/file_report.h"
#include "daemon/ingest/metadata_sidecar.h"
#include "daemon/ingest/patient_store.h"

namespace spintag::daemon {

/// By its name, in any case: .mid, .midi or .notes.
bool is_melody_file(const std::string& file);

/// A worker: one connection, one file at a time. Single-threaded.
///
/// A MIDI file is a track: its tune, no landmarks; the title is that of the song, else the file's
/// name. A .notes file has a track a line, with the source FILE#ID and the id as its title.
class MelodyIngester {
 public:
  /// Is told of each tune, in the order of the file. Lines that are no tune have the source
  /// FILE:LINE.
  using Tell = std::function<void(const FileReport&)>;

  /// @param site     must outlive this
  /// @param sidecar  for MIDI files; may be null; must outlive this
  /// @param stop     ends a file of many tunes between batches of them
  MelodyIngester(const StoreSite& site, const MetadataSidecar* sidecar, std::stop_token stop);

  /// Skips what the catalogue has, by content. What cannot be read is told of and left out; the
  /// lines around it are taken; but a .notes file of more than 64 MiB, or whose first line that is
  /// neither empty nor a comment has no tab, is left out whole. Tunes are stored in batches, each
  /// whole or not at all.
  /// @return false if `stop` came before the file was done
  /// @throws db::StoreError(unreachable) when the database stays away
  bool ingest(const std::string& file, const Tell& tell);

 private:
  struct Tune;

  FileReport ingest_midi(const std::string& file);
  bool has_melodies(std::int64_t track_id);
  void ingest_notes(const std::string& file, const Tell& tell);
  void put(std::vector<Tune>& tunes, const Tell& tell);
  FileReport put_alone(const db::NewTrack& track);

  const MetadataSidecar* sidecar_;
  std::stop_token stop_;
  PatientStore patiently_;
};

}  // namespace spintag::daemon
