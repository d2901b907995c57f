// tests/eval/labelled_clips.h - recordings, and clips of which it is known what they are of.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fingerprint/heard.h"
#include "fingerprint/reference.h"

namespace spintag::eval {

struct Recording {
  std::filesystem::path file;
  double duration_s = 0;
  fingerprint::Extraction sound;
  fingerprint::PackedPeaks packed;

  std::string name() const { return file.stem().string(); }
};

struct Clip {
  std::string name;
  std::string condition;
  std::string source;                    ///< recordings that it was cut from, a|b
  std::string truth;                     ///< recordings that are right, a|b; empty: none
  std::string truth_offset_s;            ///< as many
  std::filesystem::path file;            ///< where to read it ...
  const Recording* recording = nullptr;  ///< ... unless it is a window of this one
  double start_s = 0;
  double length_s = 0;  ///< 0 = all of the file
};

struct Window {
  double length_s;
  double every_s;
};

/// The recordings that a text file names, one a line, relative to itself; decoded by so many
/// threads.
/// @throws std::runtime_error naming the file that cannot be read
std::vector<Recording> read_recordings(const std::filesystem::path& list, unsigned threads);

/// Decodes one file, without a print.
Recording hear(const std::filesystem::path& file);

/// @param file  a results.csv of evaluate.py, its clips in clips/ beside it; or a text file, one
/// clip a line, of which none is of a recording in the catalogue
std::vector<Clip> read_clips(const std::filesystem::path& file);

/// Every window of a recording that is not in the catalogue.
void add_windows(const Recording& recording, std::span<const Window> windows,
                 std::vector<Clip>& clips);

/// Whether the clip begins there in that track, to 0.3 s.
bool is_right(const Clip& clip, const std::string& track, double offset_s);

std::vector<std::string> split(const std::string& text, char separator);

/// Calls each(i, thread) for every i < count; the first error of any thread ends it all.
void for_all(std::size_t count, unsigned threads,
             const std::function<void(std::size_t, unsigned)>& each);

}  // namespace spintag::eval
