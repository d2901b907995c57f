// daemon/match_service.h - whom stations and commands ask what a window is: a device for all of
// them together, or matchers on the CPU.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/batch_desk.h"
#include "daemon/device_backends.h"
#include "daemon/matcher_pool.h"
#include "fingerprint/batch_matcher.h"
#include "fingerprint/index.h"
#include "fingerprint/matcher.h"

namespace spintag::daemon {

/// The answers are the same from every device. One thread ("match") owns a device and answers with
/// one batch all who wait for it. When the device fails, that is logged once, its questions are
/// answered by the CPU, and so are all later ones. Any thread, but for load().
class MatchService {
 public:
  /// Told once, on the thread that met it, when the device has failed. Must not throw.
  using OnFailure = std::function<void()>;

  /// @param matchers  on the CPU: for every question when there is no device, and for what asks no
  /// postings (follow, trace)
  /// @param backend   null = the CPU
  explicit MatchService(std::size_t matchers, std::unique_ptr<MatchBackend> backend = nullptr,
                        OnFailure on_failure = {});

  /// Brings the index to the device; does nothing on the CPU. Before any other thread asks.
  void load(const std::shared_ptr<const fingerprint::Index>& index);

  /// What Matcher::match() gives.
  std::vector<fingerprint::Alignment> match(const std::shared_ptr<const fingerprint::Index>& index,
                                            const fingerprint::Heard& heard, double start_s,
                                            double end_s,
                                            const fingerprint::MatchOptions& options = {});
  /// The same for many windows; one result each.
  std::vector<std::vector<fingerprint::Alignment>> match(
      const std::shared_ptr<const fingerprint::Index>& index,
      std::span<const fingerprint::MatchQuery> queries,
      const fingerprint::MatchOptions& options = {});

  MatcherPool& matchers() { return matchers_; }

  /// Callers that wait for the device to take up their question.
  std::size_t waiting() const { return desk_ ? desk_->waiting() : 0; }
  bool on_device() const { return works_.load(); }
  /// "cpu", "cuda:0" or "cpu (cuda:0 failed)".
  std::string device() const;

 private:
  using Results = std::vector<std::vector<fingerprint::Alignment>>;
  /// Its caller waits, and keeps what it points to.
  struct Question {
    std::shared_ptr<const fingerprint::Index> index;
    std::span<const fingerprint::MatchQuery> queries;
    const fingerprint::MatchOptions* options = nullptr;
  };

  std::vector<Results> answer(std::span<const Question> questions);
  Results on_cpu(const Question& question);
  void failed(const kernels::DeviceError& error);

  MatcherPool matchers_;
  std::unique_ptr<MatchBackend> backend_;  ///< after load(), of the desk's thread
  OnFailure on_failure_;
  const std::string device_name_;    ///< of the backend; empty = there is none
  std::atomic<bool> works_ = false;  ///< the device
  std::optional<BatchDesk<Question, Results>> desk_;
};

}  // namespace spintag::daemon
