// tests/unit/fingerprint/cuda_verification_test.cpp - a CUDA device settles and verifies to the
// last bit of the processor.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <stdexcept>

#include "fingerprint/batch_verification.h"
#include "fingerprint/profile.h"
#include "fingerprint/query_view.h"
#include "fingerprint/reference.h"
#include "tests/unit/cuda_test.h"

namespace spintag::fingerprint {
namespace {

/// A device's doubles are compared by their bits: -0 is not 0, and NaN is NaN.
std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

void expect_same(const Fit& cpu, const Fit& cuda) {
  EXPECT_EQ(bits(cpu.offset_s), bits(cuda.offset_s)) << cpu.offset_s << " " << cuda.offset_s;
  EXPECT_EQ(bits(cpu.tempo), bits(cuda.tempo)) << cpu.tempo << " " << cuda.tempo;
  EXPECT_EQ(bits(cpu.pitch), bits(cuda.pitch)) << cpu.pitch << " " << cuda.pitch;
}

void expect_same(const std::vector<Settled>& cpu, const std::vector<Settled>& cuda) {
  ASSERT_EQ(cpu.size(), cuda.size());
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    SCOPED_TRACE("request " + std::to_string(i));
    expect_same(cpu[i].fit, cuda[i].fit);
    EXPECT_EQ(cpu[i].coincidences, cuda[i].coincidences);
  }
}

void expect_same(const std::vector<Verdict>& cpu, const std::vector<Verdict>& cuda) {
  ASSERT_EQ(cpu.size(), cuda.size());
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    SCOPED_TRACE("request " + std::to_string(i));
    expect_same(cpu[i].fit, cuda[i].fit);
    EXPECT_EQ(bits(cpu[i].score), bits(cuda[i].score)) << cpu[i].score << " " << cuda[i].score;
    EXPECT_EQ(bits(cpu[i].found_share), bits(cuda[i].found_share));
    EXPECT_EQ(bits(cpu[i].masking_db), bits(cuda[i].masking_db));
    EXPECT_EQ(cpu[i].expected, cuda[i].expected);
  }
}

bool earlier(const Peak& a, const Peak& b) { return a.time_s < b.time_s; }

class Music {
 public:
  explicit Music(std::uint32_t seed) : random_(seed) {}

  double uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(random_()) / 4294967296.0);
  }
  std::vector<Peak> dense_peaks(double seconds, double per_second = 60) {
    std::vector<Peak> peaks(static_cast<std::size_t>(seconds * per_second));
    for (Peak& peak : peaks) {
      peak = {uniform(0, seconds),
              static_cast<float>(std::exp(uniform(std::log(210.0), std::log(4900.0)))),
              static_cast<float>(uniform(2, 30))};
    }
    std::sort(peaks.begin(), peaks.end(), earlier);
    return peaks;
  }
  /// What is heard of `track` at `fit` for `seconds` from `start_s` on: two thirds of its peaks,
  /// moved and weakened a little, among others.
  std::vector<Peak> hear(const std::vector<Peak>& track, const Fit& fit, double start_s,
                         double seconds) {
    std::vector<Peak> heard = dense_peaks(seconds, 40);
    for (Peak& peak : heard) peak.time_s += start_s;
    for (const Peak& peak : track) {
      const double time =
          start_s + (peak.time_s - fit.offset_s) / fit.tempo + uniform(-0.004, 0.004);
      if (uniform(0, 1) > 0.67 || time < start_s || time >= start_s + seconds) continue;
      heard.push_back({time, static_cast<float>(peak.freq_hz * fit.pitch),
                       static_cast<float>(peak.salience_db - uniform(-1, 6))});
    }
    std::sort(heard.begin(), heard.end(), earlier);
    std::vector<Peak> strongest;
    select_strongest(heard, start_s, start_s + seconds, BroadcastProfile::verify_peaks_per_s,
                     strongest);
    return strongest;
  }

 private:
  std::mt19937 random_;
};

class CudaVerification : public CudaTest {
 protected:
  void expect_twins_agree(std::span<const VerifyWindow> windows,
                          std::span<const VerifyRequest> requests) {
    expect_same(settle_offsets(cpu_, windows, requests), settle_offsets(cuda_, windows, requests));
    expect_same(verify(cpu_, windows, requests), verify(cuda_, windows, requests));
    expect_same(verify(cpu_, windows, requests, false), verify(cuda_, windows, requests, false));
  }
};

TEST_F(CudaVerification, TrueAlignmentsHaveTheSameBitsAtEverySpeedAndLength) {
  Music music(1);
  const auto track = music.dense_peaks(100);
  const PackedPeaks packed = make_reference(track);
  for (const double seconds : {2.5, 5.0, 10.0, 60.0}) {
    for (const Fit& truth :
         {Fit{17.013, 1, 1}, Fit{9.4, 1.06, 1.06}, Fit{21.7, 0.94, 1.0}, Fit{12.2, 1.0, 0.891}}) {
      SCOPED_TRACE(testing::Message()
                   << seconds << " s at speed " << truth.tempo << ", pitch " << truth.pitch);
      const auto heard = music.hear(track, truth, 3.3, seconds);
      const VerifyWindow window{heard, 3.3, 3.3 + seconds};
      std::vector<VerifyRequest> requests;
      for (const double off : {-0.04, -0.013, 0.0, 0.02, 0.04}) {
        for (const double scale : {0.99, 0.997, 1.0, 1.01}) {
          const Fit fit{truth.offset_s + off, truth.tempo * scale, truth.pitch * (2 - scale)};
          requests.push_back({0, packed, fit});
        }
      }
      expect_twins_agree({&window, 1}, requests);
      const auto verdicts = verify(cuda_, {&window, 1}, requests);
      EXPECT_GT(verdicts[10].score, 2 * seconds);  // the one that begins at the truth
    }
  }
}

TEST_F(CudaVerification, UnrelatedMusicHasTheSameBits) {
  Music music(2);
  std::vector<PackedPeaks> tracks;
  std::vector<std::vector<Peak>> queries;
  for (int i = 0; i < 6; ++i) tracks.push_back(make_reference(music.dense_peaks(40)));
  for (int i = 0; i < 6; ++i) queries.push_back(music.dense_peaks(10, music.uniform(1, 100)));
  std::vector<VerifyWindow> windows;
  for (const auto& query : queries) windows.push_back({query, 0, 10});
  std::vector<VerifyRequest> requests;
  for (std::uint32_t window = 0; window < windows.size(); ++window) {
    for (const auto& packed : tracks)
      requests.push_back({window, packed, {music.uniform(-2, 35), music.uniform(0.9, 1.1), 1.02}});
  }
  expect_twins_agree(windows, requests);
}

TEST_F(CudaVerification, EdgesHaveTheSameBits) {
  Music music(3);
  const auto track = music.dense_peaks(20);
  const PackedPeaks whole = make_reference(track);
  const PackedPeaks empty;
  const PackedPeaks one(whole.begin(), whole.begin() + 3);
  const PackedPeaks shorter = make_reference(music.dense_peaks(3));
  // Before its first peak this one rests for 40 s: records that are no peak.
  const Peak late_peaks[] = {{40, 1000, 20}, {40.5, 2000, 20}, {43, 440, 9}};
  const PackedPeaks late = make_reference(late_peaks);
  const auto heard = music.hear(track, {4, 1, 1}, 0, 10);
  const std::vector<Peak> nothing;
  const std::vector<Peak> point = {{5.0, 1000, 12}};
  const std::vector<Peak> same_time(70, Peak{2.0, 700, 12});
  const std::vector<VerifyWindow> windows = {{heard, 0, 10},      {nothing, 0, 10},
                                             {point, 0, 10},      {same_time, 0, 10},
                                             {point, 5.0, 5.016}, {nothing, 7, 7.01}};
  std::vector<VerifyRequest> requests;
  for (std::uint32_t window = 0; window < windows.size(); ++window) {
    for (const PackedPeaks* packed : {&whole, &empty, &one, &shorter, &late}) {
      for (const double offset : {-300.0, -10.0, -6.0, -0.05, 0.0, 4.0, 13.0, 19.99, 39.96, 1e6})
        requests.push_back({window, *packed, {offset, 1, 1}});
    }
  }
  expect_twins_agree(windows, requests);
  expect_twins_agree(windows, {});
  expect_twins_agree({}, {});
}

TEST_F(CudaVerification, DenserTracksThanMadeHaveTheSameBits) {
  // 21 peaks a second, so that the product of a lane's factors has to be scaled on the way.
  Music music(6);
  PackedPeaks packed;
  for (int i = 0; i < 1500; ++i) {
    const auto freq = static_cast<std::uint32_t>(music.uniform(1, 4096));
    const std::uint32_t word = freq | 5U << 12 | 12U << 16;
    for (int shift = 0; shift < 24; shift += 8)
      packed.push_back(static_cast<std::byte>(word >> shift & 0xFF));
  }
  const auto heard = music.hear(unpack_peaks(packed), {5, 1, 1}, 0, 60);
  const VerifyWindow window{heard, 0, 60};
  const std::vector<VerifyRequest> requests = {
      {0, packed, {5.01, 1, 1}}, {0, packed, {5, 1.003, 1}}, {0, packed, {30, 1, 1}}};
  expect_twins_agree({&window, 1}, requests);
  const Verdict verdict = verify(cuda_, {&window, 1}, requests)[0];
  EXPECT_GT(verdict.expected, 1100);
  EXPECT_GT(verdict.score, 300);
}

TEST_F(CudaVerification, ThousandAlignmentsAtOnceAreWhatTheyAreOneByOne) {
  Music music(4);
  std::vector<std::vector<Peak>> dense;
  std::vector<PackedPeaks> tracks;
  for (int i = 0; i < 10; ++i) {
    dense.push_back(music.dense_peaks(30));
    tracks.push_back(make_reference(dense.back()));
  }
  std::vector<std::vector<Peak>> queries;
  std::vector<VerifyWindow> windows;
  for (std::size_t i = 0; i < 50; ++i)
    queries.push_back(music.hear(dense[i % 10], {0.3 * static_cast<double>(i), 1, 1}, 0, 5));
  for (const auto& query : queries) windows.push_back({query, 0, 5});
  std::vector<VerifyRequest> requests;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::uint32_t window = i * 7 % 50;
    requests.push_back(
        {window, tracks[(i / 50) % 10], {0.3 * window + music.uniform(-0.04, 0.04), 1, 1}});
  }
  const auto settled = settle_offsets(cuda_, windows, requests);
  const auto verdicts = verify(cuda_, windows, requests);
  expect_same(settle_offsets(cpu_, windows, requests), settled);
  expect_same(verify(cpu_, windows, requests), verdicts);
  for (std::size_t i = 0; i < requests.size(); i += 37) {
    expect_same({settled[i]}, settle_offsets(cuda_, windows, {&requests[i], 1}));
    expect_same({verdicts[i]}, verify(cuda_, windows, {&requests[i], 1}));
  }
}

TEST_F(CudaVerification, WhatTheDeviceHasNoRoomForIsAnError) {
  Music music(5);
  const auto query = music.dense_peaks(2, 50);
  const VerifyWindow window{query, 0, 2};
  PackedPeaks dense;  // a thousand peaks at one time
  for (int i = 0; i < 1000; ++i) {
    dense.push_back(std::byte{static_cast<unsigned char>(i % 250 + 1)});
    dense.push_back(std::byte{4});  // of its frequency too: in the band
    dense.push_back(std::byte{0});
  }
  const VerifyRequest request{0, dense, {0, 1, 1}};
  EXPECT_THROW(verify(cuda_, {&window, 1}, {&request, 1}), kernels::DeviceError);
  EXPECT_THROW(settle_offsets(cuda_, {&window, 1}, {&request, 1}), kernels::DeviceError);
  const VerifyWindow day{query, 0, 86400};
  EXPECT_THROW(verify(cuda_, {&day, 1}, {&request, 1}), kernels::DeviceError);
  EXPECT_EQ(verify(cpu_, {&window, 1}, {&request, 1})[0].expected, 1000);

  const PackedPeaks packed = make_reference(music.dense_peaks(10));
  const VerifyRequest good{0, packed, {3, 1, 1}};
  expect_twins_agree({&window, 1}, {&good, 1});
}

TEST_F(CudaVerification, WrongRequestsAreRefused) {
  const VerifyWindow window{{}, 0, 2};
  const PackedPeaks broken(4);
  const VerifyRequest not_whole{0, broken, {}};
  const VerifyRequest no_window{1, {}, {}};
  for (kernels::Device* device : {&cpu_, &cuda_}) {
    EXPECT_THROW(verify(*device, {&window, 1}, {&not_whole, 1}), std::invalid_argument);
    EXPECT_THROW(settle_offsets(*device, {&window, 1}, {&no_window, 1}), std::invalid_argument);
  }
}

}  // namespace
}  // namespace spintag::fingerprint
