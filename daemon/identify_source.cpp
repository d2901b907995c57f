// daemon/identify_source.cpp - files, URLs and pipes, listened to and looked up.
#include "daemon/identify_source.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <limits>
#include <mutex>
#include <semaphore>
#include <system_error>
#include <thread>
#include <utility>

#include "fingerprint/audio/reader.h"
#include "fingerprint/profile.h"

namespace spintag::daemon {

namespace {

using fingerprint::BroadcastProfile;

constexpr double kEndlessStreamS =
    30;  // of a stream whose header names no length: enough to be sure of a song

std::uint64_t most_samples(const std::string& source, const fingerprint::AudioReader& reader,
                           const std::optional<double>& seconds) {
  const bool endless = fingerprint::is_network_source(source) && !reader.header_duration_s();
  if (!seconds && !endless) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(
      std::llround(seconds.value_or(kEndlessStreamS) * BroadcastProfile::rate_hz));
}

// Fills `peaks` and all of `heard` but the answer, also when the source ends with an error.
void listen(const std::string& source, const ListenLimits& limits, Identified& heard,
            FilePeaks& peaks) {
  fingerprint::AudioOptions audio;
  audio.rate_hz = BroadcastProfile::rate_hz;
  audio.stop = limits.stop;
  std::uint64_t samples_heard = 0;
  try {
    fingerprint::AudioReader reader(source, audio);
    const std::uint64_t most = most_samples(source, reader, limits.seconds);
    std::vector<float> samples;
    while (samples_heard < most && reader.read(samples)) {
      if (samples.size() > most - samples_heard) samples.resize(most - samples_heard);
      peaks.push(samples);
      samples_heard += samples.size();
      samples.clear();
    }
    heard.interrupted = samples_heard < most && limits.stop.stop_requested();
    if (samples_heard == 0 && !heard.interrupted) {
      heard.error = "no sound could be decoded from it";
    }
  } catch (const fingerprint::AudioError& error) {
    heard.error = error.what();
    if (heard.error.starts_with(source + ": ")) heard.error.erase(0, source.size() + 2);
  }
  heard.duration_s = static_cast<double>(samples_heard) / BroadcastProfile::rate_hz;
}

std::vector<fingerprint::Alignment> look_up(const fingerprint::Heard& heard, double duration_s,
                                            IdentifyTools& tools) {
  const auto found =
      tools.matching.match(tools.index, fingerprint::cue_windows(heard, duration_s), tools.options);
  const MatcherPool::Lease matcher(tools.matching.matchers());
  return join_cue_windows(*matcher, *tools.index, heard.peaks, duration_s, found);
}

// Permits to decode.
using Cores = std::counting_semaphore<>;

// One of the cores for as long as this lives; none of none.
class Core {
 public:
  explicit Core(Cores* cores) : cores_(cores) {
    if (cores_ != nullptr) cores_->acquire();
  }
  ~Core() {
    if (cores_ != nullptr) cores_->release();
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

 private:
  Cores* cores_;
};

// @param cores  null for a source that comes at its own pace
Identified identify_source(const std::string& source, const ListenLimits& limits, Cores* cores,
                           IdentifyTools& tools) {
  std::optional<Core> core(cores);
  const auto began_at = std::chrono::steady_clock::now();
  Identified heard;
  heard.file = source;
  FilePeaks file_peaks(tools.extraction, cores != nullptr);
  listen(source, limits, heard, file_peaks);
  core.reset();
  const fingerprint::Extraction sound = file_peaks.finish();
  if (heard.duration_s > 0) heard.matches = look_up(sound.heard(), heard.duration_s, tools);
  heard.elapsed_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began_at).count();
  return heard;
}

bool is_regular_file(const std::string& source) {
  std::error_code error;
  return source != "-" && std::filesystem::is_regular_file(source, error);
}

// Answers for the regular files among the sources. Threads: "identify N", each blocks on its file,
// a free core, and where there is one, the device.
class FileWorkers {
 public:
  FileWorkers(std::span<const std::string> sources, const ListenLimits& limits, std::size_t cores,
              IdentifyTools& tools)
      : sources_(sources),
        limits_{limits.seconds, stop_.get_token()},
        cores_(static_cast<std::ptrdiff_t>(cores)),
        tools_(tools),
        answers_(sources.size()),
        forward_(limits.stop, [this] { stop_.request_stop(); }) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (is_regular_file(sources[i])) files_.push_back(i);
    }
    // Those that wait for the device leave their core to others.
    const std::size_t most = tools.extraction.on_device() ? 2 * cores : cores;
    running_ = std::min(files_.size(), most);
    for (std::size_t i = 0; i < running_; ++i) threads_.emplace_back([this, i] { work(i); });
  }
  ~FileWorkers() {
    stop_.request_stop();
    threads_.clear();  // joins
  }
  FileWorkers(const FileWorkers&) = delete;
  FileWorkers& operator=(const FileWorkers&) = delete;

  bool has(std::size_t source) const { return std::ranges::binary_search(files_, source); }

  /// Waits for the answer. @return nothing if the stop came before anything of it was heard
  std::optional<Identified> take(std::size_t source) {
    std::unique_lock lock(mutex_);
    answered_.wait(lock, [&] { return answers_[source] || running_ == 0; });
    if (!answers_[source] && error_) std::rethrow_exception(error_);
    return std::exchange(answers_[source], std::nullopt);
  }

 private:
  void work(std::size_t number) {
    ::pthread_setname_np(::pthread_self(), ("identify " + std::to_string(number)).c_str());
    try {
      while (!stop_.stop_requested()) {
        const std::size_t mine = next_.fetch_add(1);
        if (mine >= files_.size()) break;
        Identified heard = identify_source(sources_[files_[mine]], limits_, &cores_, tools_);
        if (heard.interrupted && heard.duration_s == 0) break;
        const std::lock_guard lock(mutex_);
        answers_[files_[mine]] = std::move(heard);
        answered_.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stop_.request_stop();
    }
    const std::lock_guard lock(mutex_);
    --running_;
    answered_.notify_all();
  }

  const std::span<const std::string> sources_;
  std::stop_source stop_;
  const ListenLimits limits_;
  Cores cores_;
  IdentifyTools& tools_;
  std::vector<std::size_t> files_;  ///< places in sources_, in order
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;  ///< guards answers_, running_ and error_
  std::condition_variable answered_;
  std::vector<std::optional<Identified>> answers_;  ///< by source
  std::size_t running_ = 0;
  std::exception_ptr error_;
  const std::stop_callback<std::function<void()>> forward_;
  std::vector<std::jthread> threads_;
};

}  // namespace

bool identify_sources(std::span<const std::string> sources, const ListenLimits& limits,
                      std::size_t cores, IdentifyTools& tools,
                      const std::function<void(const Identified&)>& tell) {
  FileWorkers files(sources, limits, cores, tools);
  bool all_heard = true;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::optional<Identified> heard;
    if (files.has(i)) {
      heard = files.take(i);
    } else if (!limits.stop.stop_requested()) {
      heard = identify_source(sources[i], limits, nullptr, tools);
    }
    if (!heard) return false;
    // A stream may be heard until Ctrl-C: that is no failure unless something was to follow.
    if (heard->interrupted && i + 1 < sources.size()) all_heard = false;
    tell(*heard);
  }
  return all_heard;
}

}  // namespace spintag::daemon
