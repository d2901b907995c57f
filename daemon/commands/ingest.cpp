// daemon/commands/ingest.cpp - `spintag ingest`: recordings and tunes into the catalogue.
#include "daemon/commands/ingest.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "daemon/device_backends.h"
#include "daemon/extraction_service.h"
#include "daemon/ingest/file_ingester.h"
#include "daemon/ingest/input_files.h"
#include "daemon/ingest/melody_ingester.h"
#include "daemon/ingest/metadata_sidecar.h"
#include "daemon/json_text.h"
#include "daemon/open_store.h"
#include "daemon/progress.h"
#include "daemon/stop_on_signal.h"
#include "daemon/utf8.h"

namespace spintag::daemon {

namespace {

using std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr unsigned kMostJobsByDefault = 64;  // a connection each, and PostgreSQL has 100 by default

const char* event_name(FileReport::What what) {
  switch (what) {
    case FileReport::What::ingested:
      return "ingested";
    case FileReport::What::skipped:
      return "skipped";
    case FileReport::What::failed:
      return "failed";
  }
  return "";
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// Everything that is said while workers work. Any thread.
class Reporter {
 public:
  Reporter(bool json, std::size_t total) : json_(json) { progress_.total = total; }

  /// A file of tunes will be reported tune by tune.
  void file_of_tunes() {
    const std::lock_guard lock(mutex_);
    --progress_.total;
  }
  void tune(const FileReport& report) {
    {
      const std::lock_guard lock(mutex_);
      ++progress_.total;
    }
    file(report);
  }

  void file(const FileReport& report) {
    const std::lock_guard lock(mutex_);
    ++progress_.done;
    progress_.audio_s += report.decoded_s;
    if (report.what == FileReport::What::ingested) {
      ++ingested_;
      if (report.landmarks.value_or(0) > 0) audio_s_ += report.duration_s.value_or(0);
    } else if (report.what == FileReport::What::skipped) {
      ++skipped_;
    } else {
      ++progress_.failed;
    }
    const bool odd = report.what == FileReport::What::ingested && !report.reason.empty();
    if (report.what == FileReport::What::failed || odd) {
      bar_.say("spintag: " + report.source + ": " + report.reason);
    }
    if (json_) {
      Json duration_s = nullptr;
      if (report.duration_s) duration_s = round_to_ms(*report.duration_s);
      print({{"event", event_name(report.what)},
             {"source", report.source},
             {"track_id", or_null(report.track_id)},
             {"duration_s", std::move(duration_s)},
             {"landmarks", or_null(report.landmarks)},
             {"reason", report.reason}});
    }
    progress_.elapsed_s = elapsed_s();
    bar_.draw(progress_);
  }

  /// @return number of files that failed
  std::size_t summary() {
    const std::lock_guard lock(mutex_);
    bar_.clear();
    if (json_) {
      print({{"event", "summary"},
             {"ingested", ingested_},
             {"skipped", skipped_},
             {"failed", progress_.failed},
             {"audio_s", round_to_ms(audio_s_)},
             {"elapsed_s", round_to_ms(elapsed_s())}});
    } else {
      std::cout << ingested_ << " ingested, " << skipped_ << " skipped, " << progress_.failed
                << " failed: " << duration_text(audio_s_) << " of audio in "
                << duration_text(elapsed_s()) << std::endl;
    }
    return progress_.failed;
  }

 private:
  double elapsed_s() const {
    return std::chrono::duration<double>(steady_clock::now() - began_at_).count();
  }
  void print(const Json& line) {
    bar_.clear();
    std::cout << json_text(line) << std::endl;
  }

  const bool json_;
  const steady_clock::time_point began_at_ = steady_clock::now();
  std::mutex mutex_;  ///< guards all below and the two output streams
  ProgressBar bar_;
  Progress progress_;
  std::size_t ingested_ = 0;
  std::size_t skipped_ = 0;
  double audio_s_ = 0;
};

// Hands files to workers until there are none, or one of them meets an error that concerns them
// all. Threads: "ingest N", each blocks on its file, its own connection and, where there is one, on
// the device of "extract".
class Workers {
 public:
  Workers(const StoreSite& site, ExtractionService& extraction, const MetadataSidecar* sidecar,
          bool take_melodies, StopOnSignal& stop, Reporter& reporter)
      : site_(site),
        extraction_(extraction),
        sidecar_(sidecar),
        take_melodies_(take_melodies),
        stop_(stop),
        reporter_(reporter) {}

  void run(const std::vector<std::string>& files, unsigned jobs) {
    std::vector<std::jthread> threads;
    for (unsigned job = 0; job < jobs; ++job) {
      threads.emplace_back([this, &files, job] {
        ::pthread_setname_np(::pthread_self(), ("ingest " + std::to_string(job)).c_str());
        work(files);
      });
    }
    threads.clear();  // joins
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void work(const std::vector<std::string>& files) {
    try {
      FileIngester recordings(site_, extraction_, sidecar_, take_melodies_, stop_.token());
      MelodyIngester melodies(site_, sidecar_, stop_.token());
      while (!stop_.stop_requested()) {
        const std::size_t mine = next_.fetch_add(1);
        if (mine >= files.size()) return;
        if (is_melody_file(files[mine])) {
          reporter_.file_of_tunes();
          melodies.ingest(files[mine], [&](const FileReport& report) { reporter_.tune(report); });
        } else if (const auto report = recordings.ingest(files[mine])) {
          reporter_.file(*report);
        }
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stop_.request_stop();
    }
  }

  const StoreSite& site_;
  ExtractionService& extraction_;
  const MetadataSidecar* sidecar_;
  const bool take_melodies_;
  StopOnSignal& stop_;
  Reporter& reporter_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;          ///< guards error_
  std::exception_ptr error_;  ///< the first that ended the run
};

}  // namespace

int run_ingest(const CommonOptions& common, const IngestOptions& options) {
  const config::Loaded loaded = load_settings(common);
  std::optional<MetadataSidecar> sidecar;
  if (!options.metadata.empty()) {
    try {
      sidecar = MetadataSidecar::read(options.metadata);
    } catch (const SidecarError& error) {
      throw config::ConfigError(error.what());
    }
  }
  const InputFiles input = find_input_files(options.paths);
  const auto wanted = fingerprint::Wanted::peaks;
  ExtractionService extraction(
      wanted, open_extract_backend(device_for(loaded.settings.device, input.files), wanted));
  const StoreSite site(loaded.settings);
  site.open();  // a wrong password or a database of another program ends the run before it begins
  StopOnSignal stop;
  if (sidecar) {
    for (const std::size_t line : sidecar->lines_without_file(input.files)) {
      std::cerr << "spintag: " << to_utf8(options.metadata.string()) << ":" << line
                << ": is about none of the files\n";
    }
  }
  Reporter reporter(options.json, input.files.size() + input.bad.size());
  for (const BadInput& bad : input.bad) {
    FileReport report;
    report.source = to_utf8(bad.source);
    report.reason = to_utf8(bad.reason);
    reporter.file(report);
  }
  const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1U, kMostJobsByDefault);
  const unsigned jobs = options.jobs > 0 ? static_cast<unsigned>(options.jobs) : cores;
  const auto useful_jobs = static_cast<unsigned>(std::min<std::size_t>(jobs, input.files.size()));
  const bool take_melodies = loaded.settings.melodies_of_recordings && !options.no_melodies;
  Workers workers(site, extraction, sidecar ? &*sidecar : nullptr, take_melodies, stop, reporter);
  try {
    workers.run(input.files, useful_jobs);
  } catch (...) {
    reporter.summary();
    throw;
  }
  const std::size_t failed = reporter.summary();
  if (stop.stop_requested()) {
    std::cerr << "spintag: interrupted; the same command goes on where this one stopped\n";
    return kSomeFailed;
  }
  return failed > 0 ? kSomeFailed : kDone;
}

}  // namespace spintag::daemon
