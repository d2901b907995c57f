// daemon/ingest/input_files.h - which files the arguments of `spintag ingest` stand for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace spintag::daemon {

/// A path that stands for nothing that could be ingested.
struct BadInput {
  std::string source;
  std::string reason;
};

struct InputFiles {
  std::vector<std::string> files;  ///< each once, as given: a folder's files are the folder joined
                                   ///< with the path inside it
  std::vector<BadInput>
      bad;  ///< missing paths, folders without music, playlist entries that are not files
};

/// Files that are named are taken whatever they are called. Folders are walked in order of name,
/// links followed (each folder once, so that a loop of links ends); only files with the
/// extension of audio, MIDI or .notes files are taken, hidden ones are not. Playlists
/// (.m3u, .m3u8, .pls) are read, relative entries starting at the playlist's folder.
InputFiles find_input_files(const std::vector<std::string>& arguments);

}  // namespace spintag::daemon
