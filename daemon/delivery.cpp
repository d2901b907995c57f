// daemon/delivery.cpp - one thread for each sink: takes what is due, posts it, marks what came of
// it.
#include "daemon/delivery.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "daemon/retry_policy.h"
#include "daemon/rfc3339.h"
#include "daemon/signature.h"
#include "daemon/webhook.h"

namespace spintag::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// An event whose result could not be marked is taken again after the request's timeout and this.
constexpr seconds kLeaseMargin{60};
constexpr milliseconds kFirstOutageWait{500};

/// What came of one attempt.
struct Outcome {
  enum class What { done, retry, gone, cut };
  What what = What::retry;
  std::string problem;
  std::optional<seconds> retry_after;
};

Outcome outcome_of(const WebhookReply& reply) {
  const std::string answered = "answered HTTP " + std::to_string(reply.status);
  if (reply.status >= 200 && reply.status < 300) return {Outcome::What::done, {}, {}};
  if (reply.status == 410) return {Outcome::What::gone, answered + " Gone", {}};
  const bool redirect = reply.status >= 300 && reply.status < 400;
  return {Outcome::What::retry, redirect ? answered + ", and redirects are not followed" : answered,
          parse_retry_after(reply.retry_after, utc_now())};
}

}  // namespace

class DeliveryWorker::SinkThread {
 public:
  SinkThread(std::string database_url, config::Sink sink, StatusBoard& board, DeliveryParams params)
      : database_url_(std::move(database_url)),
        sink_(std::move(sink)),
        board_(board),
        params_(std::move(params)),
        thread_([this](std::stop_token stop) { run(stop); }) {}

  void notify() {
    {
      const std::lock_guard lock(mutex_);
      notified_ = true;
    }
    wake_.notify_all();
  }
  void request_stop() { thread_.request_stop(); }

 private:
  using Mark = std::function<void(db::Store&)>;

  void run(const std::stop_token& stop) {
    pthread_setname_np(pthread_self(), ("deliver-" + sink_.name).substr(0, 15).c_str());
    milliseconds outage_wait = kFirstOutageWait;
    while (!stop.stop_requested()) {
      try {
        const bool worked = work_once(stop);
        if (!std::exchange(store_problem_, {}).empty()) {
          spdlog::info("sink {}: the database is back", sink_.name);
        }
        outage_wait = kFirstOutageWait;
        if (!worked) sleep(stop, params_.poll, true);
      } catch (const std::exception& error) {
        if (std::exchange(store_problem_, error.what()) != error.what()) {
          spdlog::warn("sink {}: events wait, because the outbox cannot be read: {}", sink_.name,
                       error.what());
        }
        sleep(stop, outage_wait, false);
        outage_wait = std::min(2 * outage_wait, params_.max_outage_wait);
      }
    }
    mark_last();
  }

  /// One event at most. @return whether there was one
  bool work_once(const std::stop_token& stop) {
    if (!store_) store_.emplace(database_url_);
    apply_mark();
    const auto lease = std::chrono::ceil<seconds>(sink_.timeout) + kLeaseMargin;
    const std::vector<db::OutboxEvent> events = store_->take_due_events(sink_.name, 1, lease);
    if (events.empty()) return false;
    mark_ = deliver(events.front(), stop);
    apply_mark();
    return true;
  }

  /// Kept until it succeeds: what was delivered must not be forgotten because the database went
  /// away.
  void apply_mark() {
    if (!mark_) return;
    mark_(*store_);
    mark_ = nullptr;
  }

  void mark_last() noexcept {
    try {
      if (store_) apply_mark();
    } catch (const std::exception& error) {
      spdlog::warn("sink {}: one event will be sent again after the restart: {}", sink_.name,
                   error.what());
    }
  }

  Mark deliver(const db::OutboxEvent& event, const std::stop_token& stop) {
    const std::int64_t id = event.outbox_id;
    if (!disabled_.empty()) return dead(event, disabled_);
    if (!event.is_log && utc_now() - event.created_at > sink_.max_age) {
      board_.delivery_dropped(sink_.name);
      const std::string reason = "older than " + std::to_string(sink_.max_age.count()) + " s";
      return [id, reason](db::Store& store) { store.mark_dropped(id, reason); };
    }
    const Outcome outcome = attempt(event, stop);
    switch (outcome.what) {
      case Outcome::What::done:
        board_.delivered(sink_.name);
        log_success(event);
        return [id](db::Store& store) { store.mark_delivered(id); };
      case Outcome::What::gone:
        disabled_ = "sink disabled until the next start: " + outcome.problem;
        board_.sink_disabled(sink_.name, disabled_);
        spdlog::error("sink {}: {}", sink_.name, disabled_);
        return dead(event, disabled_);
      case Outcome::What::cut:  // no fault of the sink, so it is due again at the next start
        return [id, problem = outcome.problem](db::Store& store) {
          store.mark_retry(id, utc_now(), problem);
        };
      case Outcome::What::retry:
        break;
    }
    return retry(event, outcome);
  }

  Outcome attempt(const db::OutboxEvent& event, const std::stop_token& stop) {
    const auto now = std::chrono::floor<seconds>(utc_now()).time_since_epoch().count();
    try {
      if (!webhook_) webhook_.emplace(sink_.url, params_.ca_file);
      const Webhook::Headers headers = {
          {"webhook-id", event.event_id},
          {"webhook-timestamp", std::to_string(now)},
          {"webhook-signature", sign_webhook(sink_.secrets, event.event_id, now, event.body)}};
      return outcome_of(webhook_->post(event.body, headers, sink_.timeout, stop));
    } catch (const WebhookCut& cut) {
      return {Outcome::What::cut, cut.what(), {}};
    } catch (const std::exception& error) {
      return {Outcome::What::retry, error.what(), {}};
    }
  }

  Mark retry(const db::OutboxEvent& event, const Outcome& outcome) {
    board_.delivery_failed(sink_.name);
    if (std::exchange(last_problem_, outcome.problem) != outcome.problem) {
      spdlog::warn("sink {}: {} of station {}: {}", sink_.name, event.type, event.station,
                   outcome.problem);
    }
    const double random = std::uniform_real_distribution<double>(0, 1)(random_);
    auto wait =
        wait_after_failure(params_.attempt_delays, event.attempts + 1, params_.jitter, random);
    if (!wait) return dead(event, outcome.problem);
    if (outcome.retry_after) {
      const milliseconds asked =
          std::min<milliseconds>(*outcome.retry_after, params_.max_retry_after);
      wait = std::max(*wait, asked);
    }
    return [id = event.outbox_id, when = utc_now() + *wait,
            problem = outcome.problem](db::Store& store) { store.mark_retry(id, when, problem); };
  }

  Mark dead(const db::OutboxEvent& event, const std::string& reason) {
    board_.delivery_dead(sink_.name);
    if (disabled_.empty()) {
      spdlog::error("sink {}: gave up on {} of station {} after {} attempts: {}", sink_.name,
                    event.type, event.station, event.attempts + 1, reason);
    }
    return [id = event.outbox_id, reason](db::Store& store) { store.mark_dead(id, reason); };
  }

  void log_success(const db::OutboxEvent& event) {
    spdlog::debug("sink {}: {} of station {} delivered", sink_.name, event.type, event.station);
    if (!std::exchange(last_problem_, {}).empty()) {
      spdlog::info("sink {}: takes events again", sink_.name);
    }
  }

  void sleep(const std::stop_token& stop, milliseconds time, bool until_notified) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, time, [&] { return until_notified && notified_; });
    if (until_notified) notified_ = false;
  }

  const std::string database_url_;
  const config::Sink sink_;
  StatusBoard& board_;
  const DeliveryParams params_;

  // Of the thread alone.
  std::optional<db::Store> store_;
  std::optional<Webhook> webhook_;
  Mark mark_;  ///< what came of the last event, until the store knows
  std::string disabled_;
  std::string last_problem_;
  std::string store_problem_;
  std::minstd_rand random_{std::random_device{}()};

  std::mutex mutex_;  ///< guards notified_
  std::condition_variable_any wake_;
  bool notified_ = false;
  std::jthread thread_;  ///< last: it uses all of the above
};

DeliveryWorker::DeliveryWorker(std::string database_url, std::vector<config::Sink> sinks,
                               StatusBoard& board, DeliveryParams params) {
  for (config::Sink& sink : sinks) {
    threads_.push_back(std::make_unique<SinkThread>(database_url, std::move(sink), board, params));
  }
}

DeliveryWorker::~DeliveryWorker() { request_stop(); }

void DeliveryWorker::notify() {
  for (const auto& thread : threads_) thread->notify();
}

void DeliveryWorker::request_stop() {
  for (const auto& thread : threads_) thread->request_stop();
}

}  // namespace spintag::daemon
