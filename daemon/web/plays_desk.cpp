// daemon/web/plays_desk.cpp - answers questions for plays on a thread that may wait for the
// database.
#include "daemon/web/plays_desk.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

namespace spintag::daemon {

PlaysDesk::PlaysDesk(std::string database_url)
    : database_url_(std::move(database_url)),
      thread_([this](std::stop_token stop) { run(stop); }) {}

PlaysDesk::~PlaysDesk() = default;

bool PlaysDesk::ask(PlaysQuestion question, Done done) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= kQueue) return false;
    queue_.push_back({std::move(question), std::move(done)});
  }
  wake_.notify_one();
  return true;
}

void PlaysDesk::run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "web-plays");
  while (true) {
    std::unique_lock lock(mutex_);
    if (!wake_.wait(lock, stop, [this] { return !queue_.empty(); })) return;
    if (stop.stop_requested()) return;
    const Item item = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    item.done(answer(item.question));
  }
}

WebAnswer PlaysDesk::answer(const PlaysQuestion& question) {
  if (database_url_.empty()) return error_answer(503, "this spintag has no database");
  try {
    if (!store_) store_.emplace(database_url_);
    return answer_plays(question.filter.station, store_->plays(question.filter));
  } catch (const std::exception& error) {
    spdlog::warn("web: plays of {}: {}", question.filter.station, error.what());
    return error_answer(503,
                        "the database cannot be reached");  // why is for the log, not for callers
  }
}

}  // namespace spintag::daemon
