// tests/unit/fingerprint/matcher_test.cpp - right track, right place, right end, and nothing where
// nothing is known.
#include "fingerprint/matcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fingerprint/cue_sheet.h"
#include "fingerprint/reference.h"
#include "tests/unit/fingerprint/test_music.h"

namespace spintag::fingerprint {
namespace {

constexpr double kSongSeconds = 60;

/// Eight songs of a minute; song i has track id 100 + i. Made once: the tests only read them.
struct Songs {
  Songs() {
    for (std::uint32_t i = 0; i < 8; ++i) {
      audio.push_back(make_music(50 + i, kSongSeconds));
      prints.push_back(make_reference(peaks_of(audio.back())));
    }
    index = Index::build(tracks());
  }
  std::vector<IndexTrack> tracks() const {
    std::vector<IndexTrack> list;
    for (std::size_t i = 0; i < prints.size(); ++i) {
      list.push_back({static_cast<TrackId>(100 + i), kSongSeconds, prints[i], ""});
    }
    return list;
  }
  static const Songs& get() {
    static const Songs songs;
    return songs;
  }
  std::vector<std::vector<float>> audio;
  std::vector<PackedPeaks> prints;
  std::shared_ptr<const Index> index;
};

std::vector<Alignment> match(const std::vector<float>& clip, const MatchOptions& options = {}) {
  Matcher matcher;
  return matcher.match(*Songs::get().index, peaks_of(clip), 0,
                       static_cast<double>(clip.size()) / kTestRateHz, options);
}

void append(std::vector<float>& programme, const std::vector<float>& part) {
  programme.insert(programme.end(), part.begin(), part.end());
}

TEST(Matcher, FindsEverySongAtItsPlace) {
  const Songs& songs = Songs::get();
  for (std::size_t song = 0; song < songs.audio.size(); ++song) {
    for (const double at : {0.0, 17.31, 47.9}) {
      const auto found = match(excerpt(songs.audio[song], at, 5));
      ASSERT_FALSE(found.empty()) << song << " at " << at;
      EXPECT_EQ(found[0].track_id, static_cast<TrackId>(100 + song));
      EXPECT_NEAR(found[0].track_start_s, at, 0.010);
      EXPECT_NEAR(found[0].tempo, 1, 0.002);
      EXPECT_NEAR(found[0].pitch, 1, 0.001);
      EXPECT_GT(found[0].confidence, 0.999);
      EXPECT_GT(found[0].found_share, 0.8);
      for (std::size_t i = 1; i < found.size(); ++i) EXPECT_LE(found[i].score, found[0].score);
    }
  }
}

TEST(Matcher, FindsASongInNoise) {
  const Songs& songs = Songs::get();
  auto clip = excerpt(songs.audio[3], 22.2, 10);
  double power = 0;
  for (const float sample : clip) power += static_cast<double>(sample) * sample;
  add_noise(clip, 4,
            std::sqrt(power / static_cast<double>(clip.size())) / 2);  // 6 dB under the music
  const auto found = match(clip);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].track_id, 103);
  EXPECT_NEAR(found[0].track_start_s, 22.2, 0.02);
}

TEST(Matcher, UnknownMusicNoiseAndSilenceHaveNoName) {
  for (std::uint32_t seed = 900; seed < 912; ++seed)
    EXPECT_TRUE(match(make_music(seed, 10)).empty()) << seed;
  std::vector<float> noise(static_cast<std::size_t>(10 * kTestRateHz));
  EXPECT_TRUE(match(noise).empty());
  add_noise(noise, 1, 0.1);
  EXPECT_TRUE(match(noise).empty());
}

TEST(Matcher, MixOfTwoSongsNamesNoThird) {
  const Songs& songs = Songs::get();
  auto clip = excerpt(songs.audio[1], 10, 10);
  const auto other = excerpt(songs.audio[6], 30, 10);
  for (std::size_t i = 0; i < clip.size(); ++i) clip[i] += other[i];
  const auto found = match(clip);  // one beyond doubt ends the search
  EXPECT_FALSE(found.empty());
  for (const Alignment& a : found) {
    EXPECT_TRUE(a.track_id == 101 || a.track_id == 106) << a.track_id;
    EXPECT_NEAR(a.track_start_s, a.track_id == 101 ? 10 : 30, 0.02);
  }
}

TEST(Matcher, ClipThatBeginsBeforeTheTrackHasANegativeStart) {
  const Songs& songs = Songs::get();
  std::vector<float> clip(static_cast<std::size_t>(3 * kTestRateHz));
  append(clip, excerpt(songs.audio[0], 0,
                       7));  // the first track of the time line: nothing lies before it
  const auto found = match(clip);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].track_id, 100);
  EXPECT_NEAR(found[0].track_start_s, -3, 0.01);
}

TEST(Matcher, HypothesisFindsASpeedThatUnityMisses) {
  // Resampled by linear interpolation: 4 % fast, tempo and pitch together.
  const auto& song = Songs::get().audio[2];
  std::vector<float> fast;
  for (double at = 12 * kTestRateHz; fast.size() < static_cast<std::size_t>(10 * kTestRateHz);
       at += 1.04) {
    const auto i = static_cast<std::size_t>(at);
    const auto part = static_cast<float>(at - static_cast<double>(i));
    fast.push_back(song[i] * (1 - part) + song[i + 1] * part);
  }
  MatchOptions options;
  options.any_speed = false;
  EXPECT_TRUE(match(fast, options).empty());
  options.hypotheses = {{1.0, 1.0}, {1.0375, 1.0375}};
  const auto found = match(fast, options);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].track_id, 102);
  EXPECT_NEAR(found[0].tempo, 1.04, 0.002);
  EXPECT_NEAR(found[0].pitch, 1.04, 0.002);
  EXPECT_NEAR(found[0].track_start_s, 12, 0.02);
}

/// Ten seconds of song 2 from 12 s on, played so, in a little noise.
void expect_found_played(const Hypothesis& played) {
  SCOPED_TRACE(testing::Message() << "tempo " << played.tempo << ", pitch " << played.pitch);
  auto clip = excerpt(make_music(52, kSongSeconds, played), 12 / played.tempo, 10);
  add_noise(clip, 5, 0.01);
  const auto found = match(clip);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].track_id, 102);
  EXPECT_NEAR(found[0].tempo / played.tempo, 1, 0.002);
  EXPECT_NEAR(found[0].pitch / played.pitch, 1, 0.002);
  EXPECT_NEAR(found[0].track_start_s, 12, 0.03);
  MatchOptions usual;
  usual.any_speed = false;
  EXPECT_TRUE(match(clip, usual).empty()) << "nothing that needs a search of all speeds";
}

TEST(Matcher, FindsASongAtAnotherSpeed) {
  for (const double speed : {0.9, 0.93, 1.04, 1.0625, 1.1}) expect_found_played({speed, speed});
}

TEST(Matcher, FindsASongAtAnotherTempo) {
  for (const double tempo : {0.88, 0.95, 1.05, 1.07, 1.12}) expect_found_played({tempo, 1});
}

TEST(Matcher, FindsASongAtAnotherPitch) {
  for (const double semitones : {-3.0, -1.5, -0.4, 0.35, 1.0, 2.75})
    expect_found_played({1, std::exp2(semitones / 12)});
}

TEST(Matcher, FindsASongWhoseTempoAndPitchBothDiffer) {
  for (const Hypothesis& played :
       {Hypothesis{0.91, 1.12}, {1.11, 0.9}, {1.04, 0.97}, {0.97, 0.87}, {1.08, 1.15}})
    expect_found_played(played);
}

TEST(Matcher, DuplicatesAreToldInAStableOrder) {
  const Songs& songs = Songs::get();
  auto tracks = songs.tracks();
  tracks.push_back(tracks[5]);
  tracks.back().track_id = 900;
  const auto index = Index::build(tracks);
  Matcher matcher;
  const auto peaks = peaks_of(excerpt(songs.audio[5], 20, 8));
  for (int i = 0; i < 3; ++i) {
    const auto found = matcher.match(*index, peaks, 0, 8);
    ASSERT_GE(found.size(), 2U);
    EXPECT_EQ(found[0].track_id, 105);
    EXPECT_EQ(found[1].track_id, 900);
  }
}

TEST(Matcher, RemovedTrackIsNotFoundAndAddedOneIs) {
  const Songs& songs = Songs::get();
  const auto without = songs.index->changed({}, std::vector<TrackId>{104});
  Matcher matcher;
  const auto peaks = peaks_of(excerpt(songs.audio[4], 20, 8));
  EXPECT_TRUE(matcher.match(*without, peaks, 0, 8).empty());
  const auto again = without->changed(std::vector<IndexTrack>{songs.tracks()[4]}, {});
  const auto found = matcher.match(*again, peaks, 0, 8);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].track_id, 104);
}

TEST(Matcher, WindowInsideALongQueryEqualsTheWindowAlone) {
  const Songs& songs = Songs::get();
  const auto peaks = peaks_of(songs.audio[7]);
  Matcher matcher;
  const auto found = matcher.match(*songs.index, peaks, 25, 30);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].track_id, 107);
  EXPECT_EQ(found[0].start_s, 25);
  EXPECT_NEAR(found[0].track_start_s, 25, 0.005);
}

TEST(Following, KnownSongIsVerifiedAndAnotherIsNot) {
  const Songs& songs = Songs::get();
  const auto peaks = peaks_of(songs.audio[2]);
  Matcher matcher;
  const auto known = matcher.match(*songs.index, peaks, 10, 15).at(0);
  const auto later = matcher.follow(*songs.index, peaks, 40, 45, known);
  ASSERT_TRUE(later);
  EXPECT_NEAR(later->track_start_s, 40, 0.03);
  EXPECT_GT(later->confidence, 0.999);
  const auto other = peaks_of(songs.audio[3]);
  const auto wrong = matcher.follow(*songs.index, other, 40, 45, known);
  ASSERT_TRUE(wrong);
  EXPECT_LT(wrong->confidence, 0.9);
  auto unknown = known;
  unknown.track_id = 1;
  EXPECT_FALSE(matcher.follow(*songs.index, peaks, 40, 45, unknown));
}

TEST(Following, ExtentIsWhereTheSongIsHeard) {
  // 20 s of another song, 25 s of song 1 from 8 s on, 15 s of a third.
  const Songs& songs = Songs::get();
  std::vector<float> programme = make_music(950, 20);
  append(programme, excerpt(songs.audio[1], 8, 25));
  append(programme, make_music(951, 15));
  const auto peaks = peaks_of(programme);
  Matcher matcher;
  const auto known = matcher.match(*songs.index, peaks, 28, 33).at(0);
  const auto evidence = matcher.trace(*songs.index, peaks, 0, 60, known);
  const Extent extent = find_extent(evidence, known, 10);
  EXPECT_NEAR(extent.start_s, 20, 0.75);
  EXPECT_NEAR(extent.end_s, 45, 0.75);
}

TEST(Following, ExtentBridgesAGapAndNoLongerOne) {
  const Songs& songs = Songs::get();
  std::vector<float> programme = songs.audio[5];
  const std::vector<float> talk = make_music(960, 8);  // hides the song from 25 s to 33 s
  std::copy(talk.begin(), talk.end(),
            programme.begin() + static_cast<std::ptrdiff_t>(25 * kTestRateHz));
  const auto peaks = peaks_of(programme);
  Matcher matcher;
  const auto known = matcher.match(*songs.index, peaks, 10, 15).at(0);
  const auto evidence = matcher.trace(*songs.index, peaks, 0, kSongSeconds, known);
  EXPECT_NEAR(find_extent(evidence, known, 12).end_s, kSongSeconds, 1.5);
  EXPECT_NEAR(find_extent(evidence, known, 4).end_s, 25, 0.75);
}

TEST(CueSheet, LongMixIsTakenApart) {
  const Songs& songs = Songs::get();
  std::vector<float> mix = excerpt(songs.audio[0], 5, 40);
  append(mix, make_music(970, 12));
  append(mix, excerpt(songs.audio[4], 0, 30));
  append(mix, excerpt(songs.audio[6], 20, 35));
  Matcher matcher;
  const auto sheet = make_cue_sheet(matcher, *songs.index, peaks_of(mix), 117);
  ASSERT_EQ(sheet.size(), 3U);
  const struct {
    TrackId id;
    double start, end, track_start;
  } expected[] = {{100, 0, 40, 5}, {104, 52, 82, 0}, {106, 82, 117, 20}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(sheet[i].track_id, expected[i].id);
    EXPECT_NEAR(sheet[i].start_s, expected[i].start, 1.1);  // two steps of evidence
    EXPECT_NEAR(sheet[i].end_s, expected[i].end, 1.1);
    EXPECT_NEAR(sheet[i].track_start_s - sheet[i].start_s,
                expected[i].track_start - expected[i].start, 0.03);
    EXPECT_NEAR(sheet[i].tempo, 1, 0.001);
  }
}

TEST(CueSheet, SameSongTwiceIsTwoStretches) {
  const Songs& songs = Songs::get();
  std::vector<float> mix = excerpt(songs.audio[3], 10, 25);
  append(mix, excerpt(songs.audio[3], 10, 25));
  Matcher matcher;
  const auto sheet = make_cue_sheet(matcher, *songs.index, peaks_of(mix), 50);
  ASSERT_EQ(sheet.size(), 2U);
  EXPECT_NEAR(sheet[1].start_s, 25, 0.8);
}

TEST(CueSheet, RepeatedPassageIsNoSecondStretch) {
  std::vector<float> song = make_music(990, 15);  // A B A C
  const std::vector<float> passage = song;
  append(song, make_music(991, 15));
  append(song, passage);
  append(song, make_music(992, 15));
  const auto peaks = peaks_of(song);
  const PackedPeaks print = make_reference(peaks);
  const auto index = Index::build(std::vector<IndexTrack>{{5, 60, print, ""}});
  Matcher matcher;
  const auto sheet = make_cue_sheet(matcher, *index, peaks, 60);
  ASSERT_EQ(sheet.size(), 1U);
  EXPECT_NEAR(sheet[0].start_s, 0, 1.1);
  EXPECT_NEAR(sheet[0].end_s, 60, 1.1);
  EXPECT_NEAR(sheet[0].track_start_s - sheet[0].start_s, 0, 0.01);
}

TEST(CueSheet, ShortClipIsOneWindow) {
  const auto peaks = peaks_of(excerpt(Songs::get().audio[3], 10, 6));
  Matcher matcher;
  const auto sheet = make_cue_sheet(matcher, *Songs::get().index, peaks, 6);
  ASSERT_EQ(sheet.size(), 1U);
  EXPECT_EQ(sheet[0].start_s, 0);
  EXPECT_EQ(sheet[0].end_s, 6);
}

TEST(CueSheet, NothingKnownIsAnEmptySheet) {
  Matcher matcher;
  EXPECT_TRUE(
      make_cue_sheet(matcher, *Songs::get().index, peaks_of(make_music(980, 40)), 40).empty());
  EXPECT_TRUE(make_cue_sheet(matcher, *Songs::get().index, {}, 0).empty());
  EXPECT_TRUE(make_cue_sheet(matcher, *Index::build({}), peaks_of(make_music(981, 8)), 8).empty());
}

}  // namespace
}  // namespace spintag::fingerprint
