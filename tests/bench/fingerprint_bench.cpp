// tests/bench/fingerprint_bench.cpp - what a second of audio costs in each stage of recognition, on
// one core.
//
// SPINTAG_BENCH_MUSIC names a folder of recordings; without it, music-like audio is made. The
// catalogue is every recording but the last, queries are cut from the first (known) and the last
// (unknown).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "fingerprint/audio/reader.h"
#include "fingerprint/extractor.h"
#include "fingerprint/index.h"
#include "fingerprint/landmarks.h"
#include "fingerprint/matcher.h"
#include "fingerprint/reference.h"
#include "tests/unit/fingerprint/test_music.h"

namespace spintag::fingerprint {
namespace {

namespace fs = std::filesystem;

std::vector<std::vector<float>> load_recordings() {
  std::vector<std::vector<float>> recordings;
  const char* folder = std::getenv("SPINTAG_BENCH_MUSIC");
  if (folder == nullptr) {
    for (std::uint32_t seed = 1; seed <= 12; ++seed) recordings.push_back(make_music(seed, 120));
    return recordings;
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    try {
      AudioReader reader(file.string(), {});
      std::vector<float> samples;
      while (reader.read(samples)) {
      }
      if (samples.size() > 60 * static_cast<std::size_t>(kTestRateHz))
        recordings.push_back(std::move(samples));
    } catch (const AudioError&) {  // covers, texts: not audio
    }
  }
  return recordings;
}

struct Catalogue {
  Catalogue() : recordings(load_recordings()) {
    std::vector<IndexTrack> tracks;
    for (std::size_t i = 0; i + 1 < recordings.size(); ++i) {
      peaks.push_back(peaks_of(recordings[i]));
      prints.push_back(make_reference(peaks.back()));
    }
    for (std::size_t i = 0; i < prints.size(); ++i) {
      tracks.push_back({static_cast<TrackId>(i), seconds(i), prints[i], ""});
    }
    index = Index::build(tracks);
  }
  double seconds(std::size_t i) const {
    return static_cast<double>(recordings[i].size()) / kTestRateHz;
  }
  static const Catalogue& get() {
    static const Catalogue catalogue;
    return catalogue;
  }
  std::vector<std::vector<float>> recordings;
  std::vector<std::vector<Peak>> peaks;
  std::vector<PackedPeaks> prints;
  std::shared_ptr<const Index> index;
};

void count_real_time(benchmark::State& state, double seconds_each) {
  state.counters["x_realtime"] = benchmark::Counter(
      seconds_each * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void SamplesToPeaks(benchmark::State& state) {
  const Catalogue& catalogue = Catalogue::get();
  for (auto _ : state) benchmark::DoNotOptimize(peaks_of(catalogue.recordings[0]));
  count_real_time(state, catalogue.seconds(0));
}
BENCHMARK(SamplesToPeaks)->Unit(benchmark::kMillisecond);

void SamplesToLandmarks(benchmark::State& state) {
  const Catalogue& catalogue = Catalogue::get();
  std::size_t landmarks = 0;
  for (auto _ : state) {
    std::vector<Landmark> out;
    make_reference_landmarks(unpack_peaks(make_reference(peaks_of(catalogue.recordings[0]))), out);
    landmarks = out.size();
  }
  count_real_time(state, catalogue.seconds(0));
  state.counters["landmarks_per_s_of_audio"] =
      static_cast<double>(landmarks) / catalogue.seconds(0);
}
BENCHMARK(SamplesToLandmarks)->Unit(benchmark::kMillisecond);

void PeaksToReference(benchmark::State& state) {
  const Catalogue& catalogue = Catalogue::get();
  for (auto _ : state) benchmark::DoNotOptimize(make_reference(catalogue.peaks[0]));
  count_real_time(state, catalogue.seconds(0));
}
BENCHMARK(PeaksToReference)->Unit(benchmark::kMicrosecond);

void ReferenceToLandmarks(benchmark::State& state) {
  const Catalogue& catalogue = Catalogue::get();
  const auto peaks = unpack_peaks(catalogue.prints[0]);
  for (auto _ : state) {
    std::vector<Landmark> out;
    make_reference_landmarks(peaks, out);
    benchmark::DoNotOptimize(out.data());
  }
  count_real_time(state, catalogue.seconds(0));
}
BENCHMARK(ReferenceToLandmarks)->Unit(benchmark::kMicrosecond);

void BuildIndex(benchmark::State& state) {
  const Catalogue& catalogue = Catalogue::get();
  std::vector<IndexTrack> tracks;
  double seconds = 0;
  for (std::size_t i = 0; i < catalogue.prints.size(); ++i) {
    tracks.push_back({static_cast<TrackId>(i), catalogue.seconds(i), catalogue.prints[i], ""});
    seconds += catalogue.seconds(i);
  }
  for (auto _ : state) benchmark::DoNotOptimize(Index::build(tracks));
  count_real_time(state, seconds);
  state.counters["bytes_per_4_min"] =
      static_cast<double>(catalogue.index->resident_bytes()) / seconds * 240;
}
BENCHMARK(BuildIndex)->Unit(benchmark::kMillisecond);

/// Windows of `seconds` from all over a recording.
void match_windows(benchmark::State& state, const std::vector<Peak>& peaks, double length_s,
                   double seconds) {
  const Catalogue& catalogue = Catalogue::get();
  Matcher matcher;
  double at = 0;
  std::int64_t named = 0;
  for (auto _ : state) {
    named += matcher.match(*catalogue.index, peaks, at, at + seconds).empty() ? 0 : 1;
    at = at + 2 * seconds + 0.7 < length_s ? at + 0.7 : 0;
  }
  count_real_time(state, seconds);
  state.counters["named"] = static_cast<double>(named) / static_cast<double>(state.iterations());
}

void MatchKnown(benchmark::State& state) {
  const Catalogue& catalogue = Catalogue::get();
  match_windows(state, catalogue.peaks[0], catalogue.seconds(0),
                static_cast<double>(state.range(0)));
}
BENCHMARK(MatchKnown)->Arg(5)->Arg(10)->Unit(benchmark::kMillisecond);

void MatchUnknown(benchmark::State& state) {
  const Catalogue& catalogue = Catalogue::get();
  static const std::vector<Peak> peaks = peaks_of(catalogue.recordings.back());
  match_windows(state, peaks, catalogue.seconds(catalogue.recordings.size() - 1),
                static_cast<double>(state.range(0)));
}
BENCHMARK(MatchUnknown)->Arg(5)->Arg(10)->Unit(benchmark::kMillisecond);

/// A 10 s clip from samples to answer: what `identify` costs without decoding.
void ClipToAnswer(benchmark::State& state) {
  const Catalogue& catalogue = Catalogue::get();
  const bool known = state.range(0) == 1;
  const auto& recording = known ? catalogue.recordings[0] : catalogue.recordings.back();
  const auto clip = excerpt(recording, 20, 10);
  Matcher matcher;
  for (auto _ : state)
    benchmark::DoNotOptimize(matcher.match(*catalogue.index, peaks_of(clip), 0, 10));
  count_real_time(state, 10);
}
BENCHMARK(ClipToAnswer)->ArgName("known")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);

void FollowKnown(benchmark::State& state) {
  const Catalogue& catalogue = Catalogue::get();
  Matcher matcher;
  const auto found = matcher.match(*catalogue.index, catalogue.peaks[0], 10, 20);
  if (found.empty()) {
    state.SkipWithError("the first recording does not recognise itself");
    return;
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        matcher.follow(*catalogue.index, catalogue.peaks[0], 30, 35, found[0]));
  }
  count_real_time(state, 5);
}
BENCHMARK(FollowKnown)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace spintag::fingerprint
