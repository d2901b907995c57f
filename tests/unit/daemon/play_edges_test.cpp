// tests/unit/daemon/play_edges_test.cpp - tests daemon/play_edges.h.
#include "daemon/play_edges.h"

#include <gtest/gtest.h>

#include <vector>

namespace spintag::daemon {
namespace {

using fingerprint::Evidence;
using fingerprint::kEvidenceStep;

// One step for each number: weight found of 6 expected.
std::vector<Evidence> evidence_of(const std::vector<double>& found, double chance = 0.02) {
  std::vector<Evidence> evidence;
  for (std::size_t i = 0; i < found.size(); ++i) {
    evidence.push_back({static_cast<double>(i) * kEvidenceStep, 6, found[i], chance});
  }
  return evidence;
}

std::vector<double> joined(const std::vector<std::pair<int, double>>& runs) {
  std::vector<double> all;
  for (const auto& [count, value] : runs)
    all.insert(all.end(), static_cast<std::size_t>(count), value);
  return all;
}

fingerprint::Alignment core(double start_s, double end_s) {
  fingerprint::Alignment alignment;
  alignment.start_s = start_s;
  alignment.end_s = end_s;
  return alignment;
}

TEST(PlayEdges, ClearEdgesAreFoundToTheStep) {
  const auto evidence = evidence_of(joined({{20, 0}, {40, 5}, {20, 0}}));
  const auto extent = find_play_edges(evidence, core(15, 16), false, false, {});
  EXPECT_DOUBLE_EQ(extent.start_s, 10);
  EXPECT_DOUBLE_EQ(extent.end_s, 30);
}

TEST(PlayEdges, TracesOfAMaskedIntroReachBackToTheBeginningOfTheSong) {
  // Ten seconds under an announcer: every fourth step shows half a peak.
  std::vector<double> found;
  for (int i = 0; i < 20; ++i) found.push_back(i % 4 == 2 ? 0.5 : 0);
  for (int i = 0; i < 40; ++i) found.push_back(5);
  const auto evidence = evidence_of(found);
  EXPECT_DOUBLE_EQ(find_play_edges(evidence, core(15, 16), true, false, {}).start_s, 0);
}

TEST(PlayEdges, NothingFoundIsNoMaskedIntroEvenAtTheBeginningOfTheSong) {
  // 12 s of 6 peaks a step, none found: a song that was started 12 s in.
  const auto evidence = evidence_of(joined({{24, 0}, {40, 5}}));
  EXPECT_DOUBLE_EQ(find_play_edges(evidence, core(15, 16), true, false, {}).start_s, 12);
}

TEST(PlayEdges, AChanceCoincidenceIsNoMaskedSong) {
  // What chance foresees (0.3 a step) is found, on average, before the song.
  std::vector<double> found;
  for (int i = 0; i < 24; ++i) found.push_back(i % 2 == 0 ? 0.6 : 0);
  for (int i = 0; i < 40; ++i) found.push_back(5);
  const auto extent = find_play_edges(evidence_of(found, 0.3), core(15, 16), false, false, {});
  EXPECT_GE(extent.start_s, 11);
}

TEST(PlayEdges, AShortSilentBeginningBelongsToTheSong) {
  // The first second of the track holds no peaks at all.
  auto evidence = evidence_of(joined({{2, 0}, {40, 5}}));
  evidence[0].expected = evidence[1].expected = 0;
  EXPECT_DOUBLE_EQ(find_play_edges(evidence, core(10, 11), true, false, {}).start_s, 0);
  EXPECT_DOUBLE_EQ(find_play_edges(evidence, core(10, 11), false, false, {}).start_s, 1);
}

TEST(PlayEdges, ALongSilenceInTheTrackDoesNotClaimSilenceOnAir) {
  auto evidence = evidence_of(joined({{20, 0}, {40, 5}}));
  for (std::size_t i = 0; i < 20; ++i) evidence[i].expected = 0;
  EXPECT_DOUBLE_EQ(find_play_edges(evidence, core(15, 16), true, false, {}).start_s, 10);
}

TEST(PlayEdges, ASilentEndBelongsToTheSongWhenItIsTheTracksOwn) {
  auto evidence = evidence_of(joined({{40, 5}, {6, 0}}));
  for (std::size_t i = 40; i < 46; ++i) evidence[i].expected = 0;
  EXPECT_DOUBLE_EQ(find_play_edges(evidence, core(1, 2), false, true, {}).end_s, 23);
  EXPECT_DOUBLE_EQ(find_play_edges(evidence, core(1, 2), false, false, {}).end_s, 20);
}

TEST(PlayEdges, NoEvidenceLeavesWhatIsKnown) {
  const auto extent = find_play_edges({}, core(3, 8), true, true, {});
  EXPECT_DOUBLE_EQ(extent.start_s, 3);
  EXPECT_DOUBLE_EQ(extent.end_s, 8);
}

TEST(Audible, WhatStandsOutIsCountedFromTheStartOfThePlay) {
  const auto evidence = evidence_of(joined({{10, 5}, {10, 0}, {20, 5}}));
  EXPECT_DOUBLE_EQ(find_audible(evidence, 0).seconds, 5 + 10);
  EXPECT_DOUBLE_EQ(find_audible(evidence, 12).seconds, 8);
  EXPECT_DOUBLE_EQ(find_audible(evidence, 12).clear_from_s, 12);
}

TEST(Audible, ItIsClearBackToAGapOfMoreThanTwoSeconds) {
  const auto bridged = evidence_of(joined({{10, 5}, {4, 0}, {20, 5}}));
  EXPECT_DOUBLE_EQ(find_audible(bridged, 0).clear_from_s, 0);
  const auto hidden = evidence_of(joined({{10, 5}, {5, 0}, {20, 5}}));
  EXPECT_DOUBLE_EQ(find_audible(hidden, 0).clear_from_s, 7.5);
}

TEST(Audible, WhatDoesNotStandOutAnyMoreIsClearNowhere) {
  const auto evidence = evidence_of(joined({{10, 5}, {10, 0}}));
  EXPECT_DOUBLE_EQ(find_audible(evidence, 0).clear_from_s, 10);
  EXPECT_DOUBLE_EQ(find_audible({}, 3).clear_from_s, 3);
}

}  // namespace
}  // namespace spintag::daemon
