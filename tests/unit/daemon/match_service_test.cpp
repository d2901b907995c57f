// tests/unit/daemon/match_service_test.cpp - callers on many threads, a device that answers them
// together, and one that fails.
#include "daemon/match_service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "fingerprint/reference.h"
#include "tests/unit/fingerprint/test_music.h"

namespace spintag::daemon {
namespace {

using fingerprint::Alignment;
using fingerprint::Index;
using fingerprint::MatchOptions;
using fingerprint::MatchQuery;
using fingerprint::Peak;
using Results = std::vector<std::vector<Alignment>>;

constexpr std::size_t kSongs = 8;
constexpr double kSongSeconds = 12;

struct Catalogue {
  Catalogue() {
    std::vector<fingerprint::PackedPeaks> packed;
    std::vector<fingerprint::IndexTrack> tracks;
    for (std::size_t i = 0; i < kSongs; ++i) {
      peaks.push_back(fingerprint::peaks_of(
          fingerprint::make_music(static_cast<std::uint32_t>(700 + i), kSongSeconds)));
      packed.push_back(fingerprint::make_reference(peaks.back()));
    }
    for (std::size_t i = 0; i < kSongs; ++i) {
      tracks.push_back({static_cast<std::int64_t>(i + 1), kSongSeconds, packed[i], ""});
    }
    index = Index::build(tracks);
  }
  static const Catalogue& get() {
    static const Catalogue catalogue;
    return catalogue;
  }

  std::vector<std::vector<Peak>> peaks;
  std::shared_ptr<const Index> index;
};

// What happened on the "device"; outlives the service and its backend.
struct Diary {
  std::mutex mutex;  // guards all below
  std::vector<std::size_t> batches;
  std::set<std::thread::id> threads;
  std::size_t loads = 0;
  bool destroyed = false;

  std::vector<std::size_t> sizes() {
    const std::lock_guard lock(mutex);
    return batches;
  }
};

struct Script {
  std::size_t fails_at_batch = 1000;  // from 0
  bool fails_to_load = false;
  bool bug = false;                        // throws what is no DeviceError
  std::latch* first_batch_goes = nullptr;  // the first batch waits for it
};

// Matches as the CPU does, so that an answer to the wrong caller is a wrong answer.
class FakeBackend final : public MatchBackend {
 public:
  FakeBackend(Diary& diary, const Script& script) : diary_(diary), script_(script) {}
  ~FakeBackend() override {
    const std::lock_guard lock(diary_.mutex);
    diary_.destroyed = true;
  }

  std::string device() const override { return "cuda:7"; }
  void load(const std::shared_ptr<const Index>&) override {
    if (script_.fails_to_load) throw kernels::DeviceError("cuda:7: the index does not fit");
    const std::lock_guard lock(diary_.mutex);
    ++diary_.loads;
  }
  Results match(const std::shared_ptr<const Index>& index, std::span<const MatchQuery> queries,
                const MatchOptions& options) override {
    std::size_t batch = 0;
    {
      const std::lock_guard lock(diary_.mutex);
      batch = diary_.batches.size();
      diary_.batches.push_back(queries.size());
      diary_.threads.insert(std::this_thread::get_id());
    }
    if (batch == 0 && script_.first_batch_goes != nullptr) script_.first_batch_goes->wait();
    if (batch == script_.fails_at_batch) throw kernels::DeviceError("cuda:7: it fell off the bus");
    if (script_.bug) throw std::logic_error("a bug");
    Results results;
    for (const MatchQuery& query : queries) {
      results.push_back(matcher_.match(*index, query.heard, query.start_s, query.end_s, options));
    }
    return results;
  }

 private:
  Diary& diary_;
  Script script_;
  fingerprint::Matcher matcher_;
};

Results ask(MatchService& service, std::size_t song) {
  const Catalogue& songs = Catalogue::get();
  return {service.match(songs.index, songs.peaks[song], 1, 8)};
}

void expect_song(const Results& answer, std::size_t song) {
  ASSERT_EQ(answer.size(), 1U);
  ASSERT_EQ(answer[0].size(), 1U) << "song " << song;
  EXPECT_EQ(answer[0][0].track_id, static_cast<std::int64_t>(song + 1));
  EXPECT_NEAR(answer[0][0].track_start_s, 1, 0.02);
}

// Every caller asks about its own song, at one time.
// @param diary  of a device whose first batch waits for `go`: it is of the first caller alone, and
// goes when all others wait
std::vector<Results> ask_all(MatchService& service, std::size_t callers, Diary* diary = nullptr,
                             std::latch* go = nullptr) {
  std::vector<Results> answers(callers);
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < callers; ++i) {
    threads.emplace_back([&, i] { answers[i] = ask(service, i % kSongs); });
    while (diary != nullptr && diary->sizes().empty()) std::this_thread::yield();
  }
  if (go != nullptr) {
    while (service.waiting() + 1 < callers) std::this_thread::yield();
    go->count_down();
  }
  threads.clear();
  return answers;
}

TEST(MatchService, WithoutDeviceEveryCallerIsAnsweredByTheCpu) {
  MatchService service(2);
  EXPECT_EQ(service.device(), "cpu");
  EXPECT_FALSE(service.on_device());
  service.load(Catalogue::get().index);
  const auto answers = ask_all(service, 2 * kSongs);
  for (std::size_t i = 0; i < answers.size(); ++i) expect_song(answers[i], i % kSongs);
}

TEST(MatchService, WhoeverWaitsIsInTheNextBatchAndGetsTheirOwnAnswer) {
  Diary diary;
  std::latch go(1);
  Script script;
  script.first_batch_goes = &go;
  MatchService service(1, std::make_unique<FakeBackend>(diary, script));
  EXPECT_EQ(service.device(), "cuda:7");
  const auto answers = ask_all(service, 3 * kSongs, &diary, &go);
  for (std::size_t i = 0; i < answers.size(); ++i) expect_song(answers[i], i % kSongs);
  const auto sizes = diary.sizes();
  ASSERT_EQ(sizes.size(), 2U);
  EXPECT_EQ(sizes[0] + sizes[1], 3 * kSongs);
  EXPECT_EQ(sizes[0], 1U) << "nobody else was there yet";
  EXPECT_EQ(diary.threads.size(), 1U) << "a device has one caller";
  EXPECT_FALSE(diary.threads.contains(std::this_thread::get_id()));
}

TEST(MatchService, CallersWithOtherOptionsOrIndexShareNoBatch) {
  const Catalogue& songs = Catalogue::get();
  const auto empty = Index::build({});
  Diary diary;
  std::latch go(1);
  Script script;
  script.first_batch_goes = &go;
  MatchService service(1, std::make_unique<FakeBackend>(diary, script));
  MatchOptions sure;
  sure.min_confidence = 1.5;  // no answer is so sure
  MatchOptions usual_speed;
  usual_speed.any_speed = false;
  Results none(2);
  Results usual(3);
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { ask(service, 0); });
    while (diary.sizes().empty()) std::this_thread::yield();
    threads.emplace_back([&] { usual[0] = ask(service, 1)[0]; });
    threads.emplace_back([&] { none[0] = service.match(songs.index, songs.peaks[1], 1, 8, sure); });
    threads.emplace_back([&] { none[1] = service.match(empty, songs.peaks[1], 1, 8); });
    threads.emplace_back([&] { usual[1] = ask(service, 1)[0]; });
    threads.emplace_back(
        [&] { usual[2] = service.match(songs.index, songs.peaks[1], 1, 8, usual_speed); });
    while (service.waiting() < 5) std::this_thread::yield();
    go.count_down();
  }
  for (const auto& answer : usual) expect_song({answer}, 1);
  for (const auto& answer : none) EXPECT_TRUE(answer.empty());
  auto sizes = diary.sizes();
  std::ranges::sort(sizes);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 1, 1, 1, 2}));
}

TEST(MatchService, ManyWindowsOfOneCallerComeInPiecesAndInOrder) {
  const Catalogue& songs = Catalogue::get();
  std::vector<MatchQuery> queries;
  for (std::size_t i = 0; i < 2500; ++i) {
    const double end_s = i % 100 == 0 ? 8 : 1;  // mostly windows of nothing, which cost nothing
    queries.push_back({songs.peaks[i / 100 % kSongs], 1, end_s});
  }
  Diary diary;
  MatchService service(1, std::make_unique<FakeBackend>(diary, Script{}));
  const Results answers = service.match(songs.index, queries);
  ASSERT_EQ(answers.size(), queries.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (i % 100 == 0) {
      expect_song({answers[i]}, i / 100 % kSongs);
    } else {
      ASSERT_TRUE(answers[i].empty()) << i;
    }
  }
  EXPECT_EQ(diary.sizes(), (std::vector<std::size_t>{1024, 1024, 452}));
  EXPECT_TRUE(service.match(songs.index, std::span<const MatchQuery>()).empty());
}

TEST(MatchService, DeviceThatFailsLeavesItsWorkToTheCpuForGood) {
  Diary diary;
  std::latch go(1);
  Script script;
  script.fails_at_batch = 1;
  script.first_batch_goes = &go;
  std::size_t told = 0;
  MatchService service(2, std::make_unique<FakeBackend>(diary, script), [&told] { ++told; });
  const auto answers = ask_all(service, 3 * kSongs, &diary, &go);
  for (std::size_t i = 0; i < answers.size(); ++i) expect_song(answers[i], i % kSongs);
  expect_song(ask(service, 3), 3);
  EXPECT_EQ(diary.sizes().size(), 2U) << "it is not asked again";
  EXPECT_EQ(told, 1U);
  EXPECT_TRUE(diary.destroyed) << "what it held of the device is free";
  EXPECT_EQ(service.device(), "cpu (cuda:7 failed)");
  EXPECT_FALSE(service.on_device());
}

TEST(MatchService, IndexThatDoesNotFitLeavesTheWorkToTheCpu) {
  Diary diary;
  Script script;
  script.fails_to_load = true;
  std::size_t told = 0;
  MatchService service(1, std::make_unique<FakeBackend>(diary, script), [&told] { ++told; });
  service.load(Catalogue::get().index);
  EXPECT_EQ(service.device(), "cpu (cuda:7 failed)");
  EXPECT_EQ(told, 1U);
  expect_song(ask(service, 2), 2);
  EXPECT_TRUE(diary.sizes().empty());
}

TEST(MatchService, ErrorThatIsNotTheDevicesReachesTheCallerAndEndsNothing) {
  Diary diary;
  Script script;
  script.bug = true;
  MatchService service(1, std::make_unique<FakeBackend>(diary, script));
  EXPECT_THROW(ask(service, 0), std::logic_error);
  EXPECT_THROW(ask(service, 1), std::logic_error);
  EXPECT_TRUE(service.on_device());
}

using Desk = BatchDesk<int, int>;

TEST(BatchDesk, CloseEndsTheBatchInWorkAndSendsTheOthersAway) {
  std::latch begun(1);
  std::latch go(1);
  Desk desk(
      "desk", 10,
      [&](std::span<const int> questions) {
        begun.count_down();
        go.wait();
        return std::vector<int>(questions.size(), 42);
      },
      [](const kernels::DeviceError&) {});
  std::optional<int> first;
  std::optional<int> second = 0;
  std::jthread asks_first([&] { first = desk.ask(1, 1); });
  begun.wait();
  std::jthread asks_second([&] { second = desk.ask(2, 1); });
  while (desk.waiting() == 0) std::this_thread::yield();
  std::jthread closes([&] { desk.close(); });
  // The door is shut before the desk's thread is told: then the batch may go on.
  while (desk.is_open()) std::this_thread::yield();
  go.count_down();
  asks_first.join();
  asks_second.join();
  closes.join();
  EXPECT_EQ(first, 42);
  EXPECT_EQ(second, std::nullopt);
  EXPECT_EQ(desk.ask(3, 1), std::nullopt);
}

TEST(BatchDesk, BatchIsNoHeavierThanItMayBeUnlessOneQuestionIs) {
  std::latch begun(1);
  std::latch go(1);
  std::vector<std::vector<int>> batches;
  Desk desk(
      "desk", 10,
      [&](std::span<const int> questions) {
        if (batches.empty()) {
          begun.count_down();
          go.wait();
        }
        batches.emplace_back(questions.begin(), questions.end());
        return std::vector<int>(questions.begin(), questions.end());
      },
      [](const kernels::DeviceError&) {});
  std::vector<std::jthread> callers;
  callers.emplace_back([&] { desk.ask(1, 1); });
  begun.wait();
  std::size_t queued = 0;
  for (const int weight : {4, 5, 2, 30, 10}) {
    callers.emplace_back([&desk, weight] { desk.ask(weight, static_cast<std::size_t>(weight)); });
    ++queued;
    while (desk.waiting() < queued) std::this_thread::yield();
  }
  go.count_down();
  callers.clear();
  EXPECT_EQ(batches, (std::vector<std::vector<int>>{{1}, {4, 5}, {2}, {30}, {10}}));
}

}  // namespace
}  // namespace spintag::daemon
