// daemon/commands/plays.cpp - `spintag plays`: what was on air.
#include "daemon/commands/plays.h"

#include <unistd.h>

#include <iostream>

#include "daemon/open_store.h"
#include "daemon/play_text.h"
#include "daemon/rfc3339.h"
#include "daemon/time_argument.h"

namespace spintag::daemon {

namespace {

enum class Format { table, csv, json };

Format format_of(const std::string& name) {
  if (name.empty()) return ::isatty(STDOUT_FILENO) == 1 ? Format::table : Format::csv;
  if (name == "csv") return Format::csv;
  if (name == "json") return Format::json;
  throw config::ConfigError("--format: \"" + name + "\" is not known (known: csv, json)");
}

std::optional<db::TimePoint> time_of(const char* option, const std::string& text, RangeEnd end) {
  if (text.empty()) return std::nullopt;
  const auto time = parse_time_argument(text, end, utc_now());
  if (time) return time;
  throw config::ConfigError(std::string(option) + ": \"" + text +
                            "\" is not a time (try 2026-03-01, 2026-03-01T12:00:00Z or 2h)");
}

}  // namespace

int run_plays(const CommonOptions& common, const PlaysOptions& options) {
  const Format format = format_of(options.format);
  db::PlayFilter filter;
  filter.station = options.station;
  filter.from = time_of("--from", options.from, RangeEnd::from);
  filter.to = time_of("--to", options.to, RangeEnd::to);
  if (filter.from && filter.to && *filter.from >= *filter.to) {
    throw config::ConfigError("--from must be before --to");
  }
  const StoreSite site(load_settings(common).settings);
  db::Store store = site.open();
  // RFC 4180, section 2: lines of CSV end with CRLF.
  if (format == Format::csv) std::cout << kPlayCsvHeader << "\r\n";
  store.for_each_play(filter, [&](const db::Play& play) {
    switch (format) {
      case Format::table:
        std::cout << play_row(play) << "\n";
        break;
      case Format::csv:
        std::cout << play_csv(play) << "\r\n";
        break;
      case Format::json:
        std::cout << play_json_line(play) << "\n";
        break;
    }
  });
  std::cout.flush();
  return kDone;
}

}  // namespace spintag::daemon
