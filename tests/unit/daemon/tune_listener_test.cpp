// tests/unit/daemon/tune_listener_test.cpp - what tune_watch.h and tune_listener.h promise: when
// unknown music is asked about, and what is made of the answers.
#include "daemon/tune_listener.h"

#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <vector>

namespace spintag::daemon {
namespace {

constexpr int kRateHz = 11025;

/// A desk that answers when it is told to.
struct MadeDesk {
  struct Asked {
    std::size_t samples;
    float first;
    std::promise<std::optional<TuneGuess>> promise;
  };
  std::vector<Asked> asked;
  bool busy = false;

  TuneListener::Ask ask() {
    return [this](std::vector<float>&& samples) -> std::optional<TuneDesk::Answer> {
      if (busy) return std::nullopt;
      asked.push_back({samples.size(), samples.front(), {}});
      return asked.back().promise.get_future();
    };
  }
};

/// Pushes a second; its samples say which one it is.
struct Stream {
  TuneListener& listener;
  int now_s = 0;
  std::optional<double> since_s = std::nullopt;
  bool known = false;

  std::optional<TuneGuess> second() {
    const std::vector<float> samples(kRateHz, static_cast<float>(now_s));
    ++now_s;
    return listener.push(samples, {known, since_s, static_cast<double>(now_s)});
  }
  std::optional<TuneGuess> seconds(int count) {
    std::optional<TuneGuess> news;
    for (int i = 0; i < count; ++i) {
      if (auto one = second()) news = one;
    }
    return news;
  }
};

TuneGuess guess(std::int64_t track_id, double confidence, double track_start_s, double speed = 1) {
  TuneGuess made;
  made.track_id = track_id;
  made.confidence = confidence;
  made.track_start_s = track_start_s;
  made.speed = speed;
  return made;
}

TEST(TuneListener, AsksAfterTwentySecondsOfUnknownMusicAndNotMoreOftenThanItMay) {
  MadeDesk desk;
  TuneListener listener(desk.ask());
  Stream stream{listener};
  stream.since_s = 0;
  stream.seconds(20);
  EXPECT_TRUE(desk.asked.empty());
  stream.seconds(1);
  ASSERT_EQ(desk.asked.size(), 1U);
  EXPECT_EQ(desk.asked[0].samples, 21U * kRateHz);
  stream.seconds(30);
  EXPECT_EQ(desk.asked.size(), 1U) << "one question at a time";
  desk.asked[0].promise.set_value(std::nullopt);
  stream.seconds(1);
  ASSERT_EQ(desk.asked.size(), 2U);
  EXPECT_EQ(desk.asked[1].samples, 24U * kRateHz);
  EXPECT_EQ(desk.asked[1].first, 28) << "the newest seconds";
  desk.asked[1].promise.set_value(std::nullopt);
  stream.seconds(14);
  EXPECT_EQ(desk.asked.size(), 2U);
  stream.seconds(1);
  EXPECT_EQ(desk.asked.size(), 3U);
  EXPECT_EQ(listener.asked(), 3U);
}

TEST(TuneListener, KnownMusicAndOtherSegmentsAreNotAskedAbout) {
  MadeDesk desk;
  TuneListener listener(desk.ask());
  Stream stream{listener};
  stream.seconds(60);  // no segment of unknown music
  EXPECT_TRUE(desk.asked.empty());
  stream.known = true;
  stream.since_s = 0;
  stream.seconds(5);
  stream.known = false;
  stream.seconds(19);
  EXPECT_TRUE(desk.asked.empty()) << "what was known is forgotten";
  stream.seconds(1);
  ASSERT_EQ(desk.asked.size(), 1U);
  EXPECT_EQ(desk.asked[0].first, 65);
}

TEST(TuneListener, ABusyDeskIsAskedAgainASecondLater) {
  MadeDesk desk;
  desk.busy = true;
  TuneListener listener(desk.ask());
  Stream stream{listener};
  stream.since_s = 0;
  stream.seconds(25);
  EXPECT_EQ(listener.asked(), 0U);
  desk.busy = false;
  stream.seconds(1);
  EXPECT_EQ(listener.asked(), 1U);
}

TEST(TuneListener, TellsATrackOnceASegmentWhenASecondAnswerAgrees) {
  MadeDesk desk;
  TuneListener listener(desk.ask());
  Stream stream{listener};
  stream.since_s = 0;
  stream.seconds(21);  // asked about the music from 0 s on
  desk.asked[0].promise.set_value(guess(7, 0.95, 3));
  EXPECT_FALSE(stream.seconds(15)) << "one answer alone may be chance";
  ASSERT_EQ(desk.asked.size(), 2U);  // from 12 s on
  desk.asked[1].promise.set_value(guess(7, 0.8, 15));
  const auto news = stream.second();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->track_id, 7);
  EXPECT_NEAR(news->confidence, 1 - 0.05 * 0.2, 1e-9);
  stream.seconds(14);
  ASSERT_EQ(desk.asked.size(), 3U);
  desk.asked[2].promise.set_value(guess(7, 0.97, 30));
  EXPECT_FALSE(stream.second()) << "it was told";
  stream.since_s = 52;  // another segment
  stream.seconds(30);
  ASSERT_EQ(desk.asked.size(), 4U);
  desk.asked[3].promise.set_value(guess(7, 0.95, 60));
  EXPECT_FALSE(stream.second()) << "what was answered before is of the segment before";
}

TEST(TuneListener, MayTellOfOneAnswer) {
  MadeDesk desk;
  TuneListenerParams params;
  params.agreeing = 1;
  TuneListener listener(desk.ask(), params);
  Stream stream{listener};
  stream.since_s = 0;
  stream.seconds(21);
  desk.asked[0].promise.set_value(guess(7, 0.95, 3));
  const auto news = stream.second();
  ASSERT_TRUE(news);
  EXPECT_EQ(*news, guess(7, 0.95, 3));
}

TEST(TuneListener, AnAnswerAboutASegmentThatIsOverIsNotTold) {
  MadeDesk desk;
  TuneListenerParams params;
  params.agreeing = 1;
  TuneListener listener(desk.ask(), params);
  Stream stream{listener};
  stream.since_s = 0;
  stream.seconds(21);
  stream.since_s.reset();
  stream.known = true;
  stream.seconds(2);
  desk.asked[0].promise.set_value(guess(7, 0.99, 3));
  EXPECT_FALSE(stream.seconds(3));
}

TEST(TuneListener, UnsureAnswersThatAgreeAreSureTogether) {
  MadeDesk desk;
  TuneListener listener(desk.ask());
  Stream stream{listener};
  stream.since_s = 0;
  stream.seconds(21);  // asked about the music from 0 s on
  desk.asked[0].promise.set_value(guess(7, 0.8, 30, 1.1));
  EXPECT_FALSE(stream.second());
  stream.seconds(14);  // asked at 36 s about the music from 12 s on
  ASSERT_EQ(desk.asked.size(), 2U);
  desk.asked[1].promise.set_value(guess(7, 0.7, 30 + 12 * 1.1 + 1, 1.1));
  const auto news = stream.second();
  ASSERT_TRUE(news);
  EXPECT_NEAR(news->confidence, 1 - 0.2 * 0.3, 1e-9);
}

TEST(TuneListener, UnsureAnswersAtOtherPlacesOrOfOtherTracksAreNot) {
  for (const TuneGuess& second : {guess(7, 0.8, 80), guess(8, 0.8, 43)}) {
    MadeDesk desk;
    TuneListener listener(desk.ask());
    Stream stream{listener};
    stream.since_s = 0;
    stream.seconds(21);
    desk.asked[0].promise.set_value(guess(7, 0.8, 30));
    stream.seconds(15);
    ASSERT_EQ(desk.asked.size(), 2U);
    desk.asked[1].promise.set_value(second);
    EXPECT_FALSE(stream.second());
  }
}

TEST(TuneListener, WithoutADeskItDoesNothing) {
  TuneListener listener({});
  Stream stream{listener};
  stream.since_s = 0;
  EXPECT_FALSE(stream.seconds(60));
  EXPECT_EQ(listener.asked(), 0U);
}

}  // namespace
}  // namespace spintag::daemon
