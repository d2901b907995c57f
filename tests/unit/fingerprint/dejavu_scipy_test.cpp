// tests/unit/fingerprint/dejavu_scipy_test.cpp - sliding maxima and peaks equal SciPy's, cell for
// cell. Needs /usr/bin/python3 with SciPy and the ffmpeg, sox and espeak-ng programs; fails without
// them. The music is $SPINTAG_TEST_MUSIC, an audio file or a folder of them, or else speech, tones
// and noise made on the spot.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "fingerprint/dejavu.h"
#include "kernels/peaks.h"
#include "kernels/sliding_max.h"

namespace spintag::fingerprint {
namespace {

using kernels::Footprint;
using kernels::Peak;

static_assert(std::endian::native == std::endian::little, "the job file is little-endian");

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "spintag-scipy-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;  // what is left over lies in the temporary folder
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

void run(const std::string& command) {
  if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// The first audio file of $SPINTAG_TEST_MUSIC, or a recording made here.
std::string music_file(const ScratchFolder& scratch) {
  const char* named = std::getenv("SPINTAG_TEST_MUSIC");
  if (named != nullptr && *named != '\0') {
    if (!std::filesystem::is_directory(named)) return named;
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(named)) {
      const std::string extension = entry.path().extension().string();
      const std::set<std::string> audio{".ogg", ".oga", ".opus", ".mp3", ".flac", ".wav", ".m4a"};
      if (entry.is_regular_file() && audio.contains(extension)) files.insert(entry.path().string());
    }
    if (files.empty()) throw std::runtime_error(std::string("no audio file in ") + named);
    return *files.begin();
  }
  const std::string speech = scratch.file("speech.wav");
  const std::string tones = scratch.file("tones.wav");
  const std::string mix = scratch.file("mix.wav");
  run("espeak-ng -w " + speech +
      " 'This is the news at noon, with the weather after the next song.'");
  run("sox -n -r 44100 -c 1 " + tones +
      " synth 3 pluck C4 synth 3 sawtooth mix E3 synth 3 triangle mix G4 tremolo 5 repeat 8");
  run("ffmpeg -nostdin -v error -i " + speech + " -i " + tones +
      " -f lavfi -i anoisesrc=color=pink:amplitude=0.05:duration=27:seed=1 -filter_complex " +
      "'[0]adelay=8000:all=1[s];[s][1][2]amix=inputs=3:duration=longest:normalize=0' -ac 1 " + mix);
  return mix;
}

/// Up to 20 s, from the middle of the first 40 s or what there is of them.
std::vector<float> music(const ScratchFolder& scratch) {
  const std::string file = music_file(scratch);
  const std::string raw = scratch.file("music.f32");
  std::cout << "music: " << file << '\n';
  run("ffmpeg -nostdin -v error -i " + quoted(file) + " -t 40 -ac 1 -ar 44100 -f f32le " + raw);
  std::vector<float> samples(std::filesystem::file_size(raw) / sizeof(float));
  std::ifstream(raw, std::ios::binary)
      .read(reinterpret_cast<char*>(samples.data()),
            static_cast<std::streamsize>(samples.size() * sizeof(float)));
  const std::size_t length = std::min<std::size_t>(samples.size(), 20 * 44100);
  const auto begin = samples.begin() + static_cast<std::ptrdiff_t>((samples.size() - length) / 2);
  return {begin, begin + static_cast<std::ptrdiff_t>(length)};
}

struct Job {
  std::string name;
  std::vector<float> cells;
  std::uint32_t frames = 0;
  std::uint32_t bins = 0;
  Footprint footprint = Footprint::diamond(1);  ///< a diamond or a mask
  float floor_db = 0;
};

struct Answer {
  std::vector<float> maxima;
  std::vector<std::uint32_t> peaks;  ///< frame, bin, frame, bin, ...
};

template <class T>
void write(std::ofstream& out, const T* values, std::size_t count) {
  out.write(reinterpret_cast<const char*>(values), static_cast<std::streamsize>(count * sizeof(T)));
}

template <class T>
std::vector<T> read(std::ifstream& in, std::size_t count) {
  std::vector<T> values(count);
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
  if (!in) throw std::runtime_error("SciPy's answer is too short");
  return values;
}

void write(std::ofstream& out, const Job& job) {
  const bool masked = job.footprint.shape() == Footprint::Shape::kMask;
  const auto mask_frames = static_cast<std::uint32_t>(masked ? job.footprint.frames() : 0);
  const auto mask_bins = static_cast<std::uint32_t>(masked ? job.footprint.bins() : 0);
  const auto radius = static_cast<std::uint32_t>(job.footprint.anchor_frame());
  const std::uint32_t head[] = {job.frames, job.bins, radius, mask_frames, mask_bins};
  write(out, head, 5);
  write(out, &job.floor_db, 1);
  for (std::uint32_t f = 0; f < mask_frames; ++f) {
    for (std::uint32_t b = 0; b < mask_bins; ++b) out.put(job.footprint.contains(f, b) ? 1 : 0);
  }
  write(out, job.cells.data(), job.cells.size());
}

std::vector<Answer> ask_scipy(const ScratchFolder& scratch, const std::vector<Job>& jobs) {
  const std::string questions = scratch.file("jobs");
  const std::string answers = scratch.file("answers");
  {
    std::ofstream out(questions, std::ios::binary);
    for (const Job& job : jobs) write(out, job);
  }
  run("/usr/bin/python3 " + quoted(SPINTAG_SOURCE_DIR "/tests/unit/fingerprint/scipy_peaks.py") +
      " " + questions + " " + answers);
  std::ifstream in(answers, std::ios::binary);
  std::vector<Answer> result;
  for (const Job& job : jobs) {
    Answer answer;
    answer.maxima = read<float>(in, job.cells.size());
    const std::uint32_t count = read<std::uint32_t>(in, 1)[0];
    answer.peaks = read<std::uint32_t>(in, std::size_t{2} * count);
    result.push_back(std::move(answer));
  }
  return result;
}

void expect_equal(const std::vector<Job>& jobs, const std::vector<Answer>& answers) {
  ASSERT_EQ(jobs.size(), answers.size());
  kernels::Device device = kernels::Device::cpu();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Job& job = jobs[i];
    const kernels::SpectrogramView view{job.cells.data(), job.frames, job.bins};
    std::vector<float> maxima(job.cells.size());
    kernels::sliding_max(device, view, job.footprint, maxima);
    EXPECT_TRUE(maxima == answers[i].maxima) << job.name << ": maxima differ";
    std::vector<std::uint32_t> peaks;
    for (const Peak& peak : kernels::find_peaks(
             device, view, {.footprint = job.footprint, .floor_db = job.floor_db})) {
      peaks.insert(peaks.end(), {peak.frame, peak.bin});
    }
    EXPECT_TRUE(peaks == answers[i].peaks)
        << job.name << ": " << peaks.size() / 2 << " peaks, SciPy " << answers[i].peaks.size() / 2;
  }
}

std::vector<float> random_cells(std::size_t count, unsigned seed, float step) {
  std::mt19937 random(seed);
  std::normal_distribution<float> value(-20, 15);
  std::vector<float> cells(count);
  for (float& cell : cells) {
    cell = value(random);
    if (step > 0) cell = step * std::round(cell / step);
  }
  return cells;
}

Footprint random_mask(std::size_t frames, std::size_t bins, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> cells(frames * bins);
  for (auto& cell : cells) cell = random() % 3 == 0;
  cells[cells.size() / 2] = 1;
  return Footprint::mask(cells, frames, bins);
}

constexpr float kNoFloor = -std::numeric_limits<float>::max();

TEST(DejavuEqualsSciPy, OnMusicForEveryRadius) {
  const ScratchFolder scratch;
  const std::vector<float> samples = music(scratch);
  ASSERT_GE(samples.size(), 5U * 44100U);
  Job job;
  job.bins = DejavuProfile::bins;
  DejavuSpectrogram spectrogram;
  const auto keep = [&job](std::span<const float> frame) {
    job.cells.insert(job.cells.end(), frame.begin(), frame.end());
    ++job.frames;
  };
  spectrogram.push(samples, keep);
  spectrogram.finish(keep);
  EXPECT_LT(*std::min_element(job.cells.begin(), job.cells.end()), 0) << "no negative decibels";

  std::vector<Job> jobs;
  for (const std::size_t radius : {1U, 5U, 10U, 20U}) {
    for (const float floor_db : {10.0F, kNoFloor}) {
      if (floor_db != 10.0F && radius != 5) continue;
      job.name = "radius " + std::to_string(radius);
      job.footprint = Footprint::diamond(radius);
      job.floor_db = floor_db;
      jobs.push_back(job);
    }
  }
  const std::vector<Answer> answers = ask_scipy(scratch, jobs);
  expect_equal(jobs, answers);

  for (std::size_t i = 0; i < jobs.size(); ++i) {  // the profile's own stage, from samples
    if (jobs[i].floor_db != 10.0F) continue;
    DejavuPeakFinder finder({.radius = jobs[i].footprint.anchor_frame()});
    std::vector<Peak> found;
    finder.push(samples, found);
    finder.finish(found);
    std::vector<std::uint32_t> peaks;
    for (const Peak& peak : found) peaks.insert(peaks.end(), {peak.frame, peak.bin});
    EXPECT_TRUE(peaks == answers[i].peaks) << jobs[i].name << " from samples";
    EXPECT_FALSE(peaks.empty());
    std::cout << jobs[i].name << ": " << peaks.size() / 2 << " peaks in " << jobs[i].frames << " x "
              << jobs[i].bins << " cells\n";
  }
}

TEST(DejavuEqualsSciPy, OnArraysSmallerThanTheFootprint) {
  std::vector<Job> jobs;
  for (const std::uint32_t radius : {1U, 5U, 10U, 20U}) {
    for (std::uint32_t frames = 1; frames <= 7; ++frames) {
      for (const std::uint32_t bins : {1U, 2U, 3U, 4U, 7U, 12U, 33U}) {
        jobs.push_back({std::to_string(frames) + " x " + std::to_string(bins) + ", radius " +
                            std::to_string(radius),
                        random_cells(std::size_t{frames} * bins, radius * frames + bins, 0), frames,
                        bins, Footprint::diamond(radius), kNoFloor});
      }
    }
  }
  const ScratchFolder scratch;
  expect_equal(jobs, ask_scipy(scratch, jobs));
}

TEST(DejavuEqualsSciPy, OnNoisePlateausAndConstants) {
  std::vector<Job> jobs;
  for (const std::uint32_t radius : {1U, 5U, 10U, 20U}) {
    const std::string name = ", radius " + std::to_string(radius);
    const Footprint diamond = Footprint::diamond(radius);
    jobs.push_back({"noise" + name, random_cells(90 * 130, radius, 0), 90, 130, diamond, -30});
    jobs.push_back({"steps" + name, random_cells(90 * 130, radius, 9), 90, 130, diamond, kNoFloor});
    jobs.push_back({"constant" + name, std::vector<float>(50 * 64, -7), 50, 64, diamond, kNoFloor});
  }
  const ScratchFolder scratch;
  expect_equal(jobs, ask_scipy(scratch, jobs));
}

TEST(DejavuEqualsSciPy, OnGeneralFootprints) {
  std::vector<Job> jobs;
  unsigned seed = 0;
  for (const std::size_t frames : {1U, 2U, 5U, 8U}) {
    for (const std::size_t bins : {1U, 4U, 7U, 30U}) {
      const Footprint mask = random_mask(frames, bins, ++seed);
      const std::string name = std::to_string(frames) + " x " + std::to_string(bins);
      jobs.push_back({name + " on 40 x 50", random_cells(2000, seed, 3), 40, 50, mask, kNoFloor});
      jobs.push_back({name + " on 3 x 5", random_cells(15, seed, 0), 3, 5, mask, kNoFloor});
    }
  }
  const ScratchFolder scratch;
  expect_equal(jobs, ask_scipy(scratch, jobs));
}

}  // namespace
}  // namespace spintag::fingerprint
