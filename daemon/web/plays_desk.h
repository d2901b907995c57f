// daemon/web/plays_desk.h - answers questions for plays on a thread that may wait for the database.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "daemon/web/routes.h"

namespace spintag::daemon {

/// Thread "web-plays". Questions queue, at most kQueue of them; when the queue is full, a new one
/// is refused.
class PlaysDesk {
 public:
  static constexpr std::size_t kQueue = 16;
  using Done = std::function<void(WebAnswer)>;

  explicit PlaysDesk(std::string database_url);
  ~PlaysDesk();  ///< finishes the question in work; those that queue are never answered

  /// @param done  called on the desk's thread
  /// @return false if the queue is full: `done` is not called
  bool ask(PlaysQuestion question, Done done);

 private:
  struct Item {
    PlaysQuestion question;
    Done done;
  };
  void run(const std::stop_token& stop);
  WebAnswer answer(const PlaysQuestion& question);

  const std::string database_url_;
  std::optional<db::Store> store_;  ///< of the thread alone

  std::mutex mutex_;  ///< guards queue_
  std::condition_variable_any wake_;
  std::deque<Item> queue_;
  std::jthread thread_;
};

}  // namespace spintag::daemon
