// daemon/commands/doctor.cpp - `spintag doctor`: what works on this box, one line each.
#include "daemon/commands/doctor.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "daemon/doctor/box_checks.h"
#include "daemon/doctor/finding.h"
#include "daemon/doctor/store_checks.h"
#include "daemon/doctor/stream_checks.h"
#include "daemon/open_store.h"

namespace spintag::daemon {

using Health = Finding::Health;

namespace {

constexpr int kIndent = 22;  ///< columns before the message

void print_text(const Finding& finding) {
  fmt::print("{:<5} {:<15} {}\n", to_string(finding.health), finding.check, finding.message);
  if (!finding.mend.empty()) fmt::print("{:{}}-> {}\n", "", kIndent, finding.mend);
}

void print_json(const Finding& finding) {
  const char* health = finding.health == Health::fail ? "fail" : to_string(finding.health);
  const nlohmann::ordered_json line = {{"health", health},
                                       {"check", finding.check},
                                       {"message", finding.message},
                                       {"mend", finding.mend}};
  fmt::print("{}\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string counted(std::size_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::optional<config::Loaded> check_configuration(const CommonOptions& options,
                                                  const Report& report) {
  try {
    auto loaded = load_settings(options);
    const auto& settings = loaded.settings;
    report(
        {Health::ok, "configuration",
         fmt::format("{}: {}, {}", loaded.file.empty() ? "no file, defaults" : loaded.file.string(),
                     counted(settings.stations.size(), "station"),
                     counted(settings.sinks.size(), "sink")),
         ""});
    return loaded;
  } catch (const config::ConfigError& error) {
    report({Health::fail, "configuration", error.what(), "spintag config check shows it alone"});
    return std::nullopt;
  }
}

void check_all(const CommonOptions& options, const DoctorOptions& doctor, const Report& report) {
  report({Health::ok, "spintag", SPINTAG_VERSION, ""});
  const auto loaded = check_configuration(options, report);
  check_processor(report);
  check_audio_library(report);
  check_clock(report);
  if (!loaded) return;
  const auto& settings = loaded->settings;
  check_device(settings.device, report);
  check_disk(state_directory(settings), report);
  const bool needs_programs = settings.database_url.empty();
  if (!needs_programs || check_postgresql_programs(report)) {
    check_store(settings, doctor.replay_dead, report);
  }
  check_snapshot(settings, report);
  check_streams(settings.stations, report);
}

}  // namespace

int run_doctor(const CommonOptions& options, const DoctorOptions& doctor) {
  bool failed = false;
  check_all(options, doctor, [&](const Finding& finding) {
    doctor.json ? print_json(finding) : print_text(finding);
    std::fflush(stdout);
    failed = failed || finding.health == Health::fail;
  });
  return failed ? kSomeFailed : kDone;
}

}  // namespace spintag::daemon
