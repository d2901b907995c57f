// tests/eval/labelled_clips.cpp - decoding, and what tables and lists say of clips.
#include "tests/eval/labelled_clips.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <fstream>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "daemon/csv.h"
#include "fingerprint/audio/reader.h"
#include "fingerprint/extractor.h"

namespace spintag::eval {
namespace {

namespace fp = spintag::fingerprint;
namespace fs = std::filesystem;

constexpr double kExactS = 0.3;  ///< an offset farther from the truth is not the right place

std::ifstream open(const fs::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file.string() + ": cannot be read");
  return in;
}

/// The files that a list names.
std::vector<fs::path> listed(const fs::path& list) {
  std::ifstream in = open(list);
  std::vector<fs::path> files;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) files.push_back(list.parent_path() / line);
  }
  return files;
}

std::vector<Clip> unknown_clips(const fs::path& list) {
  std::vector<Clip> clips;
  for (const fs::path& path : listed(list)) {
    Clip& clip = clips.emplace_back();
    clip.name = path.filename().string();
    clip.condition = "unknown";
    clip.source = path.stem().string();
    clip.file = path;
  }
  return clips;
}

/// A row of a table by the names of its columns.
class Row {
 public:
  Row(const fs::path& file, const daemon::CsvRecord& head, const daemon::CsvRecord& record)
      : file_(file), head_(head), record_(record) {}

  const std::string& operator[](const char* name) const {
    const auto column = std::find(head_.fields.begin(), head_.fields.end(), name);
    const auto at = static_cast<std::size_t>(column - head_.fields.begin());
    if (at < head_.fields.size() && at < record_.fields.size()) return record_.fields[at];
    throw std::runtime_error(file_.string() + ":" + std::to_string(record_.line) + ": no " + name +
                             " (try a results.csv of evaluate.py)");
  }

 private:
  const fs::path& file_;
  const daemon::CsvRecord& head_;
  const daemon::CsvRecord& record_;
};

}  // namespace

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

void for_all(std::size_t count, unsigned threads,
             const std::function<void(std::size_t, unsigned)>& each) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;  // guards error
  std::exception_ptr error;
  const auto work = [&](unsigned thread) {
    try {
      for (std::size_t i = next++; i < count; i = next++) each(i, thread);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < threads; ++i) workers.emplace_back(work, i);
  }
  if (error) std::rethrow_exception(error);
}

Recording hear(const fs::path& file) {
  Recording recording{.file = file, .duration_s = 0, .sound = {}, .packed = {}};
  const fp::AudioOptions options;
  fp::AudioReader reader(file.string(), options);
  fp::PeakExtractor extractor;
  std::vector<float> samples;
  while (reader.read(samples)) {
    extractor.push(samples, recording.sound.peaks, &recording.sound.levels);
    samples.clear();
  }
  extractor.finish(recording.sound.peaks, &recording.sound.levels);
  recording.duration_s = static_cast<double>(reader.counts().samples) / options.rate_hz;
  return recording;
}

std::vector<Recording> read_recordings(const fs::path& list, unsigned threads) {
  const std::vector<fs::path> files = listed(list);
  std::vector<Recording> recordings(files.size());
  for_all(files.size(), threads, [&](std::size_t i, unsigned) {
    recordings[i] = hear(files[i]);
    recordings[i].packed = fp::make_reference(recordings[i].sound.peaks);
  });
  return recordings;
}

std::vector<Clip> read_clips(const fs::path& file) {
  if (file.extension() != ".csv") return unknown_clips(file);
  std::ifstream in = open(file);
  const auto records = daemon::read_csv(in);
  std::vector<Clip> clips;
  for (std::size_t i = 1; i < records.size(); ++i) {
    const Row row(file, records[0], records[i]);
    Clip& clip = clips.emplace_back();
    clip.name = row["clip"];
    clip.condition = row["condition"];
    clip.source = row["source"];
    clip.truth = row["truth"];
    clip.truth_offset_s = row["truth_offset_s"];
    clip.file = file.parent_path() / "clips" / clip.name;
    clip.length_s = std::stod(row["length_s"]);
  }
  return clips;
}

void add_windows(const Recording& recording, std::span<const Window> windows,
                 std::vector<Clip>& clips) {
  for (const Window& window : windows) {
    for (double at_s = 0; at_s + window.length_s <= recording.duration_s; at_s += window.every_s) {
      std::ostringstream name;
      name << recording.name() << '@' << at_s;
      Clip& clip = clips.emplace_back();
      clip.name = name.str();
      clip.condition = "window";
      clip.source = recording.name();
      clip.recording = &recording;
      clip.start_s = at_s;
      clip.length_s = window.length_s;
    }
  }
}

bool is_right(const Clip& clip, const std::string& track, double offset_s) {
  const auto tracks = split(clip.truth, '|');
  const auto offsets = split(clip.truth_offset_s, '|');
  for (std::size_t i = 0; i < std::min(tracks.size(), offsets.size()); ++i) {
    if (tracks[i] == track && std::abs(std::stod(offsets[i]) - offset_s) < kExactS) return true;
  }
  return false;
}

}  // namespace spintag::eval
