// tests/integration/delivery_test.cpp - events from a real outbox reach real receivers, signed,
// once, or are given up.
#include "daemon/delivery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>

#include "daemon/rfc3339.h"
#include "db/store.h"
#include "tests/integration/shared_cluster.h"
#include "tests/integration/webhook_receiver.h"
#include "tests/unit/db/scratch_cluster.h"

namespace spintag::daemon {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::http_answer;
using testing::ReceivedRequest;
using ::testing::StartsWith;
using testing::WebhookReceiver;

// Key bytes 0 to 31 and 32 to 63.
constexpr const char* kSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
constexpr const char* kKeyHex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
constexpr const char* kOtherSecret = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";
constexpr const char* kOtherKeyHex =
    "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f";

/// What a command prints, without the line end.
std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  std::array<char, 512> bytes{};
  while (fgets(bytes.data(), bytes.size(), pipe) != nullptr) text += bytes.data();
  pclose(pipe);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

template <class Condition>
bool eventually(Condition&& condition) {
  for (const auto end = std::chrono::steady_clock::now() + 20s;
       std::chrono::steady_clock::now() < end;) {
    if (condition()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

class DeliveryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = std::make_unique<db::Store>(url_);
    before_ = store_->outbox_counts();
    params_.attempt_delays = {0ms, 10ms, 10ms, 10ms};
    params_.poll = 50ms;
  }

  config::Sink sink(const std::string& name, const std::string& url) {
    config::Sink made;
    made.name = test_name() + name;  // events of other tests must not come here
    made.url = url;
    made.secrets = {kSecret};
    made.timeout = 5s;
    return made;
  }

  /// Puts one event; its webhook-id is `id`.
  void put(const config::Sink& to, const std::string& id, bool is_log,
           const std::string& station = "wjrh", std::chrono::seconds age = 0s) {
    db::OutboxEvent event;
    event.event_id = id;
    event.station = station;
    event.sink = to.name;
    event.type = is_log ? "track.ended" : "track.started";
    event.is_log = is_log;
    event.body = R"({"type":"test","id":")" + id + "\"}";
    event.created_at = utc_now() - age;
    store_->put_events({event});
  }

  db::OutboxCounts counts() {
    db::OutboxCounts now = store_->outbox_counts();
    now.waiting -= before_.waiting;
    now.delivered -= before_.delivered;
    now.dropped -= before_.dropped;
    now.dead -= before_.dead;
    return now;
  }

  static std::vector<std::string> ids(const std::vector<ReceivedRequest>& requests) {
    std::vector<std::string> list;
    for (const ReceivedRequest& request : requests)
      list.push_back(request.headers.at("webhook-id"));
    return list;
  }

  static std::string test_name() {
    return ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  const std::string url_ = testing::shared_cluster_url();
  std::unique_ptr<db::Store> store_;
  db::OutboxCounts before_;
  DeliveryParams params_;
  StatusBoard board_{{}};
};

/// The signature that openssl(1) makes of what was received.
std::string signature_by_openssl(const ReceivedRequest& request, const char* key_hex) {
  const db::ScratchDirectory scratch;
  const std::string file = scratch.path() / "message";
  std::ofstream(file, std::ios::binary)
      << request.headers.at("webhook-id") << '.' << request.headers.at("webhook-timestamp") << '.'
      << request.body;
  return "v1," + output_of("openssl dgst -sha256 -mac HMAC -macopt hexkey:" + std::string(key_hex) +
                           " -binary " + file + " | base64");
}

TEST_F(DeliveryTest, EventArrivesSignedAndIsDone) {
  const WebhookReceiver receiver([](const auto&, std::size_t) { return http_answer(204); });
  const config::Sink to = sink("", receiver.url("/hook?room=1"));
  put(to, "msg_a", true);
  const DeliveryWorker worker(url_, {to}, board_, params_);
  ASSERT_TRUE(eventually([&] { return counts().delivered == 1; }));
  ASSERT_EQ(receiver.requests().size(), 1U);
  ReceivedRequest request = receiver.requests()[0];
  EXPECT_EQ(request.line, "POST /hook?room=1 HTTP/1.1");
  EXPECT_EQ(request.headers["content-type"], "application/json");
  EXPECT_EQ(request.headers["host"], "127.0.0.1:" + std::to_string(receiver.port()));
  EXPECT_THAT(request.headers["user-agent"], StartsWith("spintag/"));
  EXPECT_EQ(request.headers["webhook-id"], "msg_a");
  EXPECT_EQ(request.body, R"({"type":"test","id":"msg_a"})");
  EXPECT_EQ(request.headers["webhook-signature"], signature_by_openssl(request, kKeyHex));
  const auto age =
      utc_now() -
      db::TimePoint(std::chrono::seconds(std::stoll(request.headers["webhook-timestamp"])));
  EXPECT_GE(age, 0s);
  EXPECT_LT(age, 60s);
  EXPECT_EQ(board_.snapshot().sinks.at(to.name).delivered, 1U);
}

TEST_F(DeliveryTest, NotifyWakesTheWorkerAtOnce) {
  const WebhookReceiver receiver([](const auto&, std::size_t) { return http_answer(200); });
  const config::Sink to = sink("", receiver.url());
  params_.poll = 1h;
  put(to, "msg_a", true);
  DeliveryWorker worker(url_, {to}, board_, params_);
  ASSERT_TRUE(
      eventually([&] { return counts().delivered == 1; }));  // now it looks once more, and sleeps
  put(to, "msg_b", true);
  worker.notify();
  EXPECT_TRUE(receiver.wait_for(2));
}

TEST_F(DeliveryTest, RetryComesUnderTheSameId) {
  const WebhookReceiver receiver(
      [](const auto&, std::size_t n) { return http_answer(n == 0 ? 500 : 200); });
  const config::Sink to = sink("", receiver.url());
  put(to, "msg_a", false);
  const DeliveryWorker worker(url_, {to}, board_, params_);
  ASSERT_TRUE(eventually([&] { return counts().delivered == 1; }));
  EXPECT_THAT(ids(receiver.requests()), ElementsAre("msg_a", "msg_a"));
  EXPECT_EQ(board_.snapshot().sinks.at(to.name).failed_attempts, 1U);
}

TEST_F(DeliveryTest, RedirectIsAFailureAndIsNotFollowed) {
  const WebhookReceiver receiver([](const auto&, std::size_t n) {
    return n == 0 ? http_answer(307, "Location: /elsewhere\r\n") : http_answer(200);
  });
  const config::Sink to = sink("", receiver.url());
  put(to, "msg_a", true);
  const DeliveryWorker worker(url_, {to}, board_, params_);
  ASSERT_TRUE(eventually([&] { return counts().delivered == 1; }));
  const auto requests = receiver.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[1].line, "POST /hook HTTP/1.1");
}

TEST_F(DeliveryTest, GoneDisablesTheSink) {
  const WebhookReceiver receiver([](const auto&, std::size_t) { return http_answer(410); });
  const config::Sink to = sink("", receiver.url());
  for (const char* id : {"msg_a", "msg_b", "msg_c"}) put(to, id, true);
  put(to, "msg_d", true, "kexp");
  put(to, "msg_e", false);
  const DeliveryWorker worker(url_, {to}, board_, params_);
  ASSERT_TRUE(eventually([&] { return counts().dead == 5; }));
  EXPECT_EQ(receiver.requests().size(), 1U);
  EXPECT_EQ(counts().waiting, 0);
  EXPECT_THAT(board_.snapshot().sinks.at(to.name).disabled, HasSubstr("410"));
}

TEST_F(DeliveryTest, RetryAfterIsHonoured) {
  const WebhookReceiver receiver([](const auto&, std::size_t n) {
    return n == 0 ? http_answer(503, "Retry-After: 1\r\n") : http_answer(200);
  });
  const config::Sink to = sink("", receiver.url());
  put(to, "msg_a", true);
  const DeliveryWorker worker(url_, {to}, board_, params_);
  ASSERT_TRUE(receiver.wait_for(2));
  const auto requests = receiver.requests();
  EXPECT_GE(requests[1].at - requests[0].at, 990ms) << "the schedule alone would have said 10 ms";
}

TEST_F(DeliveryTest, GivenUpAfterTheLastAttempt) {
  const WebhookReceiver receiver([](const auto&, std::size_t) { return http_answer(500); });
  const config::Sink to = sink("", receiver.url());
  put(to, "msg_a", true);
  put(to, "msg_b", true);
  const DeliveryWorker worker(url_, {to}, board_, params_);
  ASSERT_TRUE(eventually([&] { return counts().dead == 2; }));
  EXPECT_THAT(ids(receiver.requests()),
              ElementsAre("msg_a", "msg_a", "msg_a", "msg_a", "msg_b", "msg_b", "msg_b", "msg_b"))
      << "in order: the second waits for the first";
}

TEST_F(DeliveryTest, RotatingSecretsBothSign) {
  const WebhookReceiver receiver([](const auto&, std::size_t) { return http_answer(200); });
  config::Sink to = sink("", receiver.url());
  to.secrets = {kSecret, kOtherSecret};
  put(to, "msg_a", true);
  const DeliveryWorker worker(url_, {to}, board_, params_);
  ASSERT_TRUE(receiver.wait_for(1));
  ReceivedRequest request = receiver.requests()[0];
  EXPECT_EQ(request.headers["webhook-signature"], signature_by_openssl(request, kKeyHex) + " " +
                                                      signature_by_openssl(request, kOtherKeyHex));
}

TEST_F(DeliveryTest, SlowSinkHoldsUpNobodyElse) {
  std::atomic<bool> release = false;
  const WebhookReceiver slow([&release](const auto&, std::size_t) {
    eventually([&release] { return release.load(); });
    return http_answer(200);
  });
  const WebhookReceiver quick([](const auto&, std::size_t) { return http_answer(200); });
  config::Sink to_slow = sink("-slow", slow.url());
  to_slow.timeout = 20s;
  const config::Sink to_quick = sink("-quick", quick.url());
  const DeliveryWorker worker(url_, {to_slow, to_quick}, board_, params_);
  put(to_slow, "msg_slow", true);
  EXPECT_TRUE(slow.wait_for(1));
  for (const char* id : {"msg_a", "msg_b", "msg_c"}) put(to_quick, id, true);
  EXPECT_TRUE(quick.wait_for(3)) << "while the slow one has not answered";
  EXPECT_EQ(board_.snapshot().sinks.count(to_slow.name), 0U);
  release = true;
  EXPECT_TRUE(eventually([&] { return counts().delivered == 4; }));
}

TEST_F(DeliveryTest, OldNewsIsDroppedAndTheLogIsNot) {
  const WebhookReceiver receiver([](const auto&, std::size_t) { return http_answer(200); });
  const config::Sink to = sink("", receiver.url());
  put(to, "msg_old_news", false, "wjrh", to.max_age + 5s);
  put(to, "msg_old_log", true, "wjrh", to.max_age + 5s);
  const DeliveryWorker worker(url_, {to}, board_, params_);
  ASSERT_TRUE(eventually([&] { return counts().dropped == 1 && counts().delivered == 1; }));
  EXPECT_THAT(ids(receiver.requests()), ElementsAre("msg_old_log"));
  EXPECT_EQ(board_.snapshot().sinks.at(to.name).dropped, 1U);
}

TEST_F(DeliveryTest, SupersededNewsIsNotSent) {
  const WebhookReceiver receiver([](const auto&, std::size_t) { return http_answer(200); });
  const config::Sink to = sink("", receiver.url());
  put(to, "msg_first", false);
  put(to, "msg_second", false);
  const DeliveryWorker worker(url_, {to}, board_, params_);
  ASSERT_TRUE(eventually([&] { return counts().dropped == 1 && counts().delivered == 1; }));
  EXPECT_THAT(ids(receiver.requests()), ElementsAre("msg_second"));
}

TEST_F(DeliveryTest, StopCutsARequestAndKeepsItsEvent) {
  const WebhookReceiver silent([](const auto&, std::size_t) {
    std::this_thread::sleep_for(3s);
    return std::string();
  });
  config::Sink to = sink("", silent.url());
  to.timeout = 60s;
  put(to, "msg_a", true);
  auto worker = std::make_unique<DeliveryWorker>(url_, std::vector{to}, board_, params_);
  ASSERT_TRUE(silent.wait_for(1));
  const auto begin = std::chrono::steady_clock::now();
  worker.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  const auto again = store_->take_due_events(to.name, 1, 1s);
  ASSERT_EQ(again.size(), 1U) << "due again at once";
  EXPECT_EQ(again[0].event_id, "msg_a");
  store_->mark_delivered(again[0].outbox_id);
}

TEST_F(DeliveryTest, ResultSurvivesALostConnectionToTheDatabase) {
  const std::string kill = "psql -X -q -o /dev/null '" + url_ +
                           "' -c 'select pg_terminate_backend(pid) from pg_stat_activity "
                           "where pid <> pg_backend_pid() and datname = current_database()'";
  std::atomic<int> killed = -1;
  const WebhookReceiver receiver([&](const auto&, std::size_t) {
    killed = std::system(kill.c_str());
    return http_answer(200);
  });
  const config::Sink to = sink("", receiver.url());
  put(to, "msg_a", true);
  const DeliveryWorker worker(url_, {to}, board_, params_);
  ASSERT_TRUE(receiver.wait_for(1));
  ASSERT_TRUE(eventually([&] { return killed.load() != -1; }));
  ASSERT_EQ(killed.load(), 0);
  store_ = std::make_unique<db::Store>(url_);
  EXPECT_TRUE(eventually([&] { return counts().delivered == 1; }));
  EXPECT_EQ(receiver.requests().size(), 1U) << "done is done";
}

/// A certificate of its own authority, for the name localhost.
class TlsDeliveryTest : public DeliveryTest {
 protected:
  void SetUp() override {
    DeliveryTest::SetUp();
    make("good");
    make("other");
    params_.attempt_delays = {0ms, 10ms};
  }
  void make(const std::string& name) {
    const std::string base = (scratch_.path() / name).string();
    ASSERT_EQ(
        std::system(
            ("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
             "-subj /CN=spintag-test-" +
             name + " -addext subjectAltName=DNS:localhost -keyout " + base + ".key -out " + base +
             ".pem 2>/dev/null")
                .c_str()),
        0);
  }
  std::string pem(const std::string& name) const { return scratch_.path() / (name + ".pem"); }
  std::string key(const std::string& name) const { return scratch_.path() / (name + ".key"); }
  db::ScratchDirectory scratch_;
};

TEST_F(TlsDeliveryTest, KnownAuthorityAndNameAreTrusted) {
  const WebhookReceiver receiver([](const auto&, std::size_t) { return http_answer(200); },
                                 pem("good"), key("good"));
  const config::Sink to = sink("", receiver.url());
  params_.ca_file = pem("good");
  put(to, "msg_a", true);
  const DeliveryWorker worker(url_, {to}, board_, params_);
  EXPECT_TRUE(eventually([&] { return counts().delivered == 1; }));
  ASSERT_EQ(receiver.requests().size(), 1U);
}

TEST_F(TlsDeliveryTest, UnknownAuthorityIsRefused) {
  const WebhookReceiver receiver([](const auto&, std::size_t) { return http_answer(200); },
                                 pem("good"), key("good"));
  const config::Sink to = sink("", receiver.url());
  for (const std::string& ca : {pem("other"), std::string()}) {  // another one, and the system's
    params_.ca_file = ca;
    put(to, "msg_" + ca, true);
    const std::int64_t dead = counts().dead;
    const DeliveryWorker worker(url_, {to}, board_, params_);
    EXPECT_TRUE(eventually([&] { return counts().dead == dead + 1; })) << ca;
  }
  EXPECT_EQ(receiver.requests().size(), 0U) << "nothing is said to a stranger";
}

TEST_F(TlsDeliveryTest, AnotherHostNameIsRefused) {
  const WebhookReceiver receiver([](const auto&, std::size_t) { return http_answer(200); },
                                 pem("good"), key("good"));
  const config::Sink to =
      sink("", "https://127.0.0.1:" + std::to_string(receiver.port()) + "/hook");
  params_.ca_file = pem("good");
  put(to, "msg_a", true);
  const DeliveryWorker worker(url_, {to}, board_, params_);
  EXPECT_TRUE(eventually([&] { return counts().dead == 1; }));
  EXPECT_EQ(receiver.requests().size(), 0U);
}

}  // namespace
}  // namespace spintag::daemon
