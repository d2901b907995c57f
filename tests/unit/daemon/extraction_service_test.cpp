// tests/unit/daemon/extraction_service_test.cpp - peaks of whole files, by a device or without.
#include "daemon/extraction_service.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "fingerprint/profile.h"
#include "tests/unit/fingerprint/test_music.h"

namespace spintag::daemon {
namespace {

using fingerprint::Extraction;
using fingerprint::Peak;
using fingerprint::Wanted;

constexpr std::size_t kMinute = 60 * 11025;  // samples

// Gives one peak a recording, so that it shows whose work it was.
class FakeBackend final : public ExtractBackend {
 public:
  FakeBackend(std::atomic<int>& recordings, bool fails) : recordings_(recordings), fails_(fails) {}
  std::string device() const override { return "cuda:7"; }
  std::vector<Extraction> extract(std::span<const std::span<const float>> recordings) override {
    recordings_ += static_cast<int>(recordings.size());
    if (fails_) throw kernels::DeviceError("cuda:7: it fell off the bus");
    std::vector<Extraction> all;
    for (const auto& samples : recordings) {
      all.emplace_back().peaks = {{static_cast<double>(samples.size()), 1, 1}};
    }
    return all;
  }

 private:
  std::atomic<int>& recordings_;
  bool fails_;
};

void expect_same(const std::vector<Peak>& a, const std::vector<Peak>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].time_s, b[i].time_s) << i;
    ASSERT_EQ(a[i].freq_hz, b[i].freq_hz) << i;
    ASSERT_EQ(a[i].salience_db, b[i].salience_db) << i;
  }
}

Extraction file_extraction(ExtractionService& service, std::span<const float> samples,
                           std::size_t piece, bool on_device = true) {
  FilePeaks peaks(service, on_device);
  for (std::size_t at = 0; at < samples.size(); at += piece) {
    peaks.push(samples.subspan(at, std::min(piece, samples.size() - at)));
  }
  return peaks.finish();
}

std::vector<Peak> file_peaks(ExtractionService& service, std::span<const float> samples,
                             std::size_t piece, bool on_device = true) {
  return file_extraction(service, samples, piece, on_device).peaks;
}

TEST(ExtractionService, WithoutDeviceFilePeaksAreThoseOfTheExtractor) {
  const auto music = fingerprint::make_music(31, 20);
  ExtractionService service(Wanted::peaks);
  EXPECT_FALSE(service.on_device());
  expect_same(file_peaks(service, music, 1000), fingerprint::peaks_of(music));
  EXPECT_TRUE(file_peaks(service, {}, 1).empty());
}

TEST(ExtractionService, LevelsAreThereWhenTheyAreWanted) {
  const auto music = fingerprint::make_music(35, 6);
  ExtractionService of_queries(Wanted::peaks_and_levels);
  EXPECT_EQ(file_extraction(of_queries, music, 1000).levels,
            fingerprint::extraction_of(music).levels);
  EXPECT_EQ(of_queries.extract(music).levels, fingerprint::extraction_of(music).levels);
  ExtractionService of_references(Wanted::peaks);
  EXPECT_EQ(file_extraction(of_references, music, 1000).levels.frames(), 0U);
  EXPECT_EQ(of_references.extract(music).levels.frames(), 0U);
}

TEST(ExtractionService, WhatComesAtItsOwnPaceIsNotKeptForTheDevice) {
  std::atomic<int> recordings = 0;
  ExtractionService service(Wanted::peaks, std::make_unique<FakeBackend>(recordings, false));
  const auto music = fingerprint::make_music(36, 5);
  expect_same(file_peaks(service, music, 1000, false), fingerprint::peaks_of(music));
  EXPECT_EQ(recordings, 0);
}

TEST(ExtractionService, EachCallerGetsThePeaksOfItsOwnRecording) {
  std::atomic<int> recordings = 0;
  ExtractionService service(Wanted::peaks, std::make_unique<FakeBackend>(recordings, false));
  std::vector<std::vector<Peak>> peaks(20);
  {
    std::vector<std::jthread> callers;
    for (std::size_t i = 0; i < peaks.size(); ++i) {
      callers.emplace_back(
          [&, i] { peaks[i] = file_peaks(service, std::vector<float>(1000 * i), 333); });
    }
  }
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    ASSERT_EQ(peaks[i].size(), 1U);
    EXPECT_EQ(peaks[i][0].time_s, 1000.0 * static_cast<double>(i));
  }
  EXPECT_EQ(recordings, 20);
}

TEST(ExtractionService, FileThatIsTooLongToBeKeptIsDoneByTheCpu) {
  std::atomic<int> recordings = 0;
  ExtractionService service(Wanted::peaks, std::make_unique<FakeBackend>(recordings, false));
  auto long_file = fingerprint::make_music(32, 5);
  long_file.resize(20 * kMinute + 1);
  expect_same(file_peaks(service, long_file, kMinute / 2), fingerprint::peaks_of(long_file));
  EXPECT_EQ(recordings, 0);
  long_file.pop_back();
  EXPECT_EQ(file_peaks(service, long_file, kMinute / 2).size(), 1U);
  EXPECT_EQ(recordings, 1);
}

TEST(ExtractionService, FileThatFindsNoRoomIsDoneByTheCpuAndRoomComesBack) {
  std::atomic<int> recordings = 0;
  ExtractionService service(Wanted::peaks, std::make_unique<FakeBackend>(recordings, false));
  const auto music = fingerprint::make_music(33, 5);
  std::size_t taken = 0;
  while (service.take_room(kMinute)) taken += kMinute;
  EXPECT_GT(taken, 60 * kMinute);
  expect_same(file_peaks(service, music, 1000), fingerprint::peaks_of(music));
  EXPECT_EQ(recordings, 0);
  service.give_back_room(taken);
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(file_peaks(service, music, music.size()).size(), 1U) << "room was lost, file " << i;
  }
}

TEST(ExtractionService, DeviceThatFailsLeavesItsWorkToTheCpuForGood) {
  std::atomic<int> recordings = 0;
  ExtractionService service(Wanted::peaks, std::make_unique<FakeBackend>(recordings, true));
  const auto music = fingerprint::make_music(34, 8);
  FilePeaks begun_before(service);
  begun_before.push(music);
  expect_same(file_peaks(service, music, 1000), fingerprint::peaks_of(music));
  EXPECT_FALSE(service.on_device());
  expect_same(file_peaks(service, music, 1000), fingerprint::peaks_of(music));
  expect_same(begun_before.finish().peaks, fingerprint::peaks_of(music));
  EXPECT_EQ(recordings, 1);
}

}  // namespace
}  // namespace spintag::daemon
