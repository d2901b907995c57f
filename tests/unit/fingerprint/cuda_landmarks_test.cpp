// tests/unit/fingerprint/cuda_landmarks_test.cpp - selection, references, probes and landmarks are
// the processor's, to the bit and in its order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "fingerprint/dejavu.h"
#include "fingerprint/landmarks.h"
#include "fingerprint/peak_order.h"
#include "fingerprint/query_view.h"
#include "fingerprint/reference.h"
#include "fingerprint/selection.h"
#include "tests/unit/cuda_test.h"
#include "tests/unit/fingerprint/test_music.h"

namespace spintag::fingerprint {

// What gtest needs to compare lists; named by members, as padding may differ.
bool operator==(const Peak& a, const Peak& b) {
  return a.time_s == b.time_s && a.freq_hz == b.freq_hz && a.salience_db == b.salience_db;
}
bool operator==(const Probe& a, const Probe& b) {
  return a.hash == b.hash && a.count == b.count && a.anchor_step == b.anchor_step;
}
bool operator==(const Landmark& a, const Landmark& b) {
  return a.hash == b.hash && a.anchor_time_s == b.anchor_time_s;
}

namespace {

template <class T>
std::vector<std::span<const T>> spans_of(const std::vector<std::vector<T>>& lists) {
  return {lists.begin(), lists.end()};
}

/// EXPECT_EQ would print megabytes.
template <class T>
void expect_same(const std::vector<std::vector<T>>& cuda, const std::vector<std::vector<T>>& cpu) {
  ASSERT_EQ(cuda.size(), cpu.size());
  for (std::size_t list = 0; list < cpu.size(); ++list) {
    ASSERT_EQ(cuda[list].size(), cpu[list].size()) << "list " << list;
    for (std::size_t i = 0; i < cpu[list].size(); ++i) {
      ASSERT_TRUE(cuda[list][i] == cpu[list][i]) << "list " << list << ", place " << i;
    }
  }
}

/// Peaks as an extractor could give them. `coarse`: few different times, frequencies and saliences,
/// so that ties of all three come up.
std::vector<Peak> random_peaks(std::uint32_t seed, double start_s, double seconds,
                               double per_second, bool coarse = false) {
  std::mt19937 random(seed);
  const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
  std::vector<Peak> peaks(static_cast<std::size_t>(seconds * per_second));
  for (Peak& peak : peaks) {
    peak.time_s = start_s + seconds * uniform();
    peak.freq_hz = static_cast<float>(200 + 4800 * uniform() * uniform());
    peak.salience_db = static_cast<float>(2 + 30 * uniform());
    if (!coarse) continue;
    peak.time_s = std::floor(peak.time_s * 32) / 32;
    peak.freq_hz = 220.0F * std::floor(peak.freq_hz / 220.0F + 1);
    peak.salience_db = 4.0F * std::floor(peak.salience_db / 4.0F);
  }
  std::sort(peaks.begin(), peaks.end(), is_earlier);
  return peaks;
}

/// Dense peaks of all kinds: music, random, tied, sparse, crowded, none.
const std::vector<std::vector<Peak>>& all_kinds() {
  static const std::vector<std::vector<Peak>> lists = [] {
    std::vector<std::vector<Peak>> made;
    for (const std::uint32_t seed : {1U, 2U}) {
      auto music = make_music(seed, 10);
      add_noise(music, seed, 0.005);
      made.push_back(peaks_of(music));
    }
    made.push_back({});
    made.push_back(random_peaks(3, 0, 60, 25));
    made.push_back(random_peaks(4, 0, 6, 150, true));
    made.push_back({});
    made.push_back(random_peaks(5, 3.7, 0.3, 150));
    made.push_back(random_peaks(6, 0, 5, 60, true));
    made.push_back(random_peaks(7, 0, 200, 0.5));
    made.push_back(random_peaks(8, 0, 1.5, 400, true));
    made.push_back({{0.25, 440.0F, 9.0F}});
    auto& by_time_alone = made.emplace_back(random_peaks(13, 0, 3, 150, true));
    std::shuffle(by_time_alone.begin(), by_time_alone.end(), std::mt19937(13));
    std::stable_sort(by_time_alone.begin(), by_time_alone.end(),
                     [](const Peak& a, const Peak& b) { return a.time_s < b.time_s; });
    made.push_back(random_peaks(9, 0, 4, 60));
    made.push_back({});
    return made;
  }();
  return lists;
}

class CudaLandmarks : public CudaTest {
 protected:
  /// Both devices on all lists, and the CUDA device on each list alone.
  template <class Make>
  void expect_twins(Make&& make, const std::vector<std::vector<Peak>>& lists = all_kinds()) {
    const auto spans = spans_of(lists);
    const auto together = make(cuda_, std::span(spans));
    expect_same(together, make(cpu_, std::span(spans)));
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const auto alone = make(cuda_, std::span(spans).subspan(i, 1));
      expect_same(alone, decltype(alone)(1, together[i]));
    }
    EXPECT_TRUE(make(cuda_, std::span(spans).first(0)).empty());
  }
};

using Lists = std::span<const std::span<const Peak>>;

TEST_F(CudaLandmarks, StrongestPeaksOfWindowsAreTheProcessors) {
  for (const double length_s : {0.3, 1.0, 5.0, 10.0, 60.0}) {
    for (const double start_s : {0.0, 1.37, -0.5}) {
      for (const int per_second : {25, 100, 1000, 0}) {
        SCOPED_TRACE(testing::Message()
                     << length_s << " s from " << start_s << ", " << per_second << " a second");
        const std::vector<TimeRange> windows(all_kinds().size(), {start_s, start_s + length_s});
        const auto spans = spans_of(all_kinds());
        expect_same(select_strongest(cuda_, spans, windows, per_second),
                    select_strongest(cpu_, spans, windows, per_second));
      }
    }
  }
}

TEST_F(CudaLandmarks, ManyWindowsOfOneListAreEachTheProcessors) {
  const auto dense = random_peaks(10, 0, 20, 150, true);
  std::vector<std::span<const Peak>> lists;
  std::vector<TimeRange> windows;
  for (double start = -2; start < 22; start += 0.61) {
    lists.emplace_back(dense);
    windows.push_back({start, start + 7.3});
  }
  expect_same(select_strongest(cuda_, lists, windows, 25),
              select_strongest(cpu_, lists, windows, 25));
}

TEST_F(CudaLandmarks, ProbesOfWarpedPeaksAreTheProcessors) {
  const std::vector<Hypothesis> warps{{1, 1},      {0.9, 0.9},  {1.1, 1.1},    {1.06, 1},
                                      {1, 0.9439}, {0.97, 1.1}, {1.031, 1.012}};
  const std::vector<Softness> softness{{0.3, 0.3}, {0.2, 0.4},   {0, 0},    {0.49, 0.01},
                                       {0.4, 0.4}, {0.01, 0.49}, {0.2, 0.3}};
  for (const Hypothesis& warp : warps) {
    SCOPED_TRACE(testing::Message() << "tempo " << warp.tempo << ", pitch " << warp.pitch);
    const Softness& soft = softness[&warp - warps.data()];
    expect_twins([&](kernels::Device& device, Lists lists) {
      const std::vector<double> origins(lists.size(), 0.0);
      return make_query_probes(device, lists, origins, warp, soft);
    });
  }
}

TEST_F(CudaLandmarks, ProbesOfSelectedWindowsCountFromTheirOrigins) {
  const auto dense = random_peaks(11, 100, 60, 150);
  for (const double length_s : {0.3, 5.0, 10.0}) {
    std::vector<std::vector<Peak>> selected;
    std::vector<double> origins;
    for (double start = 100; start < 150; start += 4.7) {
      select_strongest(dense, start, start + length_s, 60, selected.emplace_back());
      origins.push_back(start);
    }
    const auto spans = spans_of(selected);
    const Hypothesis warp{1.023, 0.98};
    const Softness soft{0.2, 0.4};
    const auto probes = make_query_probes(cuda_, spans, origins, warp, soft);
    expect_same(probes, make_query_probes(cpu_, spans, origins, warp, soft));
    EXPECT_FALSE(probes.front().empty());
  }
}

TEST_F(CudaLandmarks, FrequenciesThatFitNoHashAskNothingOnEither) {
  expect_twins(
      [](kernels::Device& device, Lists lists) {
        const std::vector<double> origins(lists.size(), 0.0);
        return make_query_probes(device, lists, origins, {}, {});
      },
      {{{0, 0.1F, 9},
        {0.5, 20, 9},
        {1.0, 0.2F, 9},
        {1.2, 29500, 9},
        {1.5, 29400, 9},
        {1.9, 1e6F, 9}},
       {{0, 30, 1}, {1.6, 31, 1}, {1.6000001, 32, 1}, {1.65, 30, 1}}});
}

TEST_F(CudaLandmarks, PackedReferencesAreTheProcessorsBytes) {
  expect_twins([](kernels::Device& device, Lists lists) { return make_references(device, lists); });
}

TEST_F(CudaLandmarks, LongPausesArePackedAlike) {
  expect_twins([](kernels::Device& device, Lists lists) { return make_references(device, lists); },
               {{{0.5, 440, 20}, {30.25, 880, 20}, {30.5, 300, 10}, {400.0, 4999, 200}},
                {{1.02, 100, -3}, {1.02 + 1.02, 9000, 3}, {3.064, 700, 6.75F}, {4.2, 701, 6.75F}},
                {{7200.0, 1000, 15}}});
}

TEST_F(CudaLandmarks, LandmarksOfReferencesAreTheProcessors) {
  std::vector<std::vector<Peak>> references;
  for (const auto& dense : all_kinds()) {
    references.push_back(unpack_peaks(make_reference(dense)));
  }
  const auto make = [](kernels::Device& device, Lists lists) {
    return make_reference_landmarks(device, lists);
  };
  expect_twins(make, references);
  expect_twins(make);  // dense and tied ones too, which no reference is
}

TEST_F(CudaLandmarks, DejavuPairsAreTheProcessors) {
  std::mt19937 generator(12);
  const auto random = [&] { return static_cast<std::uint32_t>(generator()); };
  std::vector<std::vector<kernels::Peak>> lists;
  for (const std::size_t size : {0, 1, 2, 14, 15, 16, 500, 0, 3000}) {
    auto& peaks = lists.emplace_back();
    std::uint32_t frame = 0;
    for (std::size_t i = 0; i < size; ++i) {
      frame += random() % 40 == 0 ? 190 + random() % 20 : random() % 3;
      kernels::Peak peak;
      peak.frame = frame;
      peak.bin = random() % std::uint32_t{DejavuProfile::bins};
      peaks.push_back(peak);
    }
  }
  const auto spans = spans_of(lists);
  for (const std::size_t fan_out : {0, 1, 2, 15, 40, 100000}) {
    SCOPED_TRACE(testing::Message() << "fan-out " << fan_out);
    DejavuProfile profile;
    profile.fan_out = fan_out;
    expect_same(dejavu_landmarks(cuda_, spans, profile), dejavu_landmarks(cpu_, spans, profile));
  }
  EXPECT_TRUE(dejavu_landmarks(cuda_, std::span(spans).first(0)).empty());
}

}  // namespace
}  // namespace spintag::fingerprint
