// daemon/batch_desk.h - callers on many threads, answered together by one: for a device that does
// much at once better than one thing after the other.
#pragma once

#include <pthread.h>

#include <cassert>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/device.h"

namespace spintag::daemon {

/// Whoever asks waits for the answer, so the queue is never longer than there are callers. When the
/// device fails, the desk closes for good and callers are told to do without it. Any thread.
template <class Question, class Answer>
class BatchDesk {
 public:
  /// Answers all questions, in their order. Only ever called on the desk's thread.
  using Work = std::function<std::vector<Answer>(std::span<const Question>)>;
  /// Told on the desk's thread, once, before any caller is sent away; nothing is asked of `Work`
  /// after it. Must not throw.
  using OnFailure = std::function<void(const kernels::DeviceError&)>;

  /// @param thread_name  at most 15 letters
  /// @param most_weight  of one batch; a heavier question is a batch by itself
  BatchDesk(std::string thread_name, std::size_t most_weight, Work work, OnFailure on_failure)
      : most_weight_(most_weight), work_(std::move(work)), on_failure_(std::move(on_failure)) {
    thread_ = std::jthread([this, name = std::move(thread_name)](const std::stop_token& stop) {
      pthread_setname_np(pthread_self(), name.c_str());
      serve(stop);
    });
  }
  ~BatchDesk() { close(); }
  BatchDesk(const BatchDesk&) = delete;
  BatchDesk& operator=(const BatchDesk&) = delete;

  /// @return nothing if the desk is closed or closes meanwhile
  /// @throws what `Work` threw, if that was no DeviceError
  std::optional<Answer> ask(Question question, std::size_t weight) {
    Ticket ticket{std::move(question), weight, {}, {}, false, {}};
    std::unique_lock lock(mutex_);
    if (!open_) return std::nullopt;
    waiting_.push_back(&ticket);
    asked_.notify_one();
    ticket.settled.wait(lock, [&ticket] { return ticket.done; });
    if (ticket.error) std::rethrow_exception(ticket.error);
    return std::move(ticket.answer);
  }

  bool is_open() const {
    const std::lock_guard lock(mutex_);
    return open_;
  }
  /// Callers whose question is not in work yet.
  std::size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

  /// Ends the batch in work; whoever waits for another one is sent away.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      open_ = false;
    }
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  /// Lives with its caller, who waits until `done`.
  struct Ticket {
    Question question;
    std::size_t weight;
    std::optional<Answer> answer;
    std::exception_ptr error;
    bool done;
    std::condition_variable settled;
  };

  void serve(const std::stop_token& stop) {
    bool works = true;
    while (works) {
      std::vector<Ticket*> batch;
      {
        std::unique_lock lock(mutex_);
        asked_.wait(lock, stop, [this] { return !waiting_.empty(); });
        if (stop.stop_requested()) break;
        batch = take_locked();
      }
      works = answer(batch);
    }
    const std::lock_guard lock(mutex_);
    open_ = false;
    for (Ticket* ticket : waiting_) settle_locked(*ticket);
    waiting_.clear();
  }

  std::vector<Ticket*> take_locked() {
    std::vector<Ticket*> batch;
    std::size_t weight = 0;
    while (!waiting_.empty() &&
           (batch.empty() || weight + waiting_.front()->weight <= most_weight_)) {
      weight += waiting_.front()->weight;
      batch.push_back(waiting_.front());
      waiting_.pop_front();
    }
    return batch;
  }

  /// @return false if the device has failed
  bool answer(const std::vector<Ticket*>& batch) {
    std::vector<Question> questions;
    for (const Ticket* ticket : batch) questions.push_back(ticket->question);
    std::vector<Answer> answers;
    std::exception_ptr error;
    bool works = true;
    try {
      answers = work_(questions);
      assert(answers.size() == batch.size());
    } catch (const kernels::DeviceError& failure) {
      works = false;
      on_failure_(failure);
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    if (!works) open_ = false;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (works && !error) batch[i]->answer = std::move(answers[i]);
      batch[i]->error = error;
      settle_locked(*batch[i]);
    }
    return works;
  }

  /// With the mutex held: the caller cannot leave, and take its ticket along, before this is done.
  static void settle_locked(Ticket& ticket) {
    ticket.done = true;
    ticket.settled.notify_one();
  }

  const std::size_t most_weight_;
  const Work work_;
  const OnFailure on_failure_;
  mutable std::mutex mutex_;  ///< guards waiting_, open_ and all tickets in the queue or in a batch
  std::condition_variable_any asked_;
  std::deque<Ticket*> waiting_;
  bool open_ = true;
  std::jthread thread_;
};

}  // namespace spintag::daemon
