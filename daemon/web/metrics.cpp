// daemon/web/metrics.cpp - the status as Prometheus text.
#include "daemon/web/metrics.h"

#include <fmt/format.h>

#include <functional>
#include <iterator>

namespace spintag::daemon {
namespace {

double unix_seconds(db::TimePoint time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

/// A label's value: \, " and line ends are escaped.
std::string label(const std::string& value) {
  std::string escaped;
  for (const char c : value) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return escaped;
}

class MetricsText {
 public:
  void head(const char* name, const char* type, const char* help) {
    fmt::format_to(out(), "# HELP spintag_{0} {2}\n# TYPE spintag_{0} {1}\n", name, type, help);
  }
  void value(const char* name, const char* label_name, const std::string& label_value,
             double number) {
    fmt::format_to(out(), "spintag_{}{{{}=\"{}\"}} {}\n", name, label_name, label(label_value),
                   number);
  }
  void single(const char* name, const char* type, const char* help, double number) {
    head(name, type, help);
    fmt::format_to(out(), "spintag_{} {}\n", name, number);
  }
  std::string take() { return std::move(text_); }

 private:
  std::back_insert_iterator<std::string> out() { return std::back_inserter(text_); }
  std::string text_;
};

template <class Value>
void stations(MetricsText& text, const Status& status, const char* name, const char* type,
              const char* help, Value&& value) {
  text.head(name, type, help);
  for (const StationStatus& station : status.stations) {
    text.value(name, "station", station.name, static_cast<double>(value(station)));
  }
}

template <class Value>
void sinks(MetricsText& text, const Status& status, const char* name, const char* type,
           const char* help, Value&& value) {
  text.head(name, type, help);
  for (const auto& [sink, state] : status.sinks) {
    text.value(name, "sink", sink, static_cast<double>(value(state)));
  }
}

void write_daemon(MetricsText& text, const Status& status) {
  text.single("start_time_seconds", "gauge", "When the daemon started, since 1970.",
              unix_seconds(status.started_at));
  text.single("index_loaded", "gauge", "1 when the index answers.", status.index_loaded ? 1 : 0);
  text.single("index_tracks", "gauge", "Tracks in the index.",
              static_cast<double>(status.index_tracks));
  text.single("database_up", "gauge", "1 when the database answers.", status.database_up ? 1 : 0);
  text.single("device_failures_total", "counter",
              "Devices that failed and left their work to the CPU.",
              static_cast<double>(status.device_failures));
  text.single("outbox_waiting_events", "gauge", "Events not delivered yet.",
              static_cast<double>(status.outbox.waiting));
  text.single("outbox_dead_events", "gauge", "Events given up, which can be replayed.",
              static_cast<double>(status.outbox.dead));
  text.single("outbox_delivered_events_total", "counter", "Events delivered, ever.",
              static_cast<double>(status.outbox.delivered));
  text.single("outbox_dropped_events_total", "counter", "State events superseded or too old, ever.",
              static_cast<double>(status.outbox.dropped));
}

void write_stations(MetricsText& text, const Status& status) {
  using Station = StationStatus;
  stations(text, status, "stream_connected", "gauge", "1 while the stream is connected.",
           [](const Station& s) { return s.stream == StreamState::connected ? 1 : 0; });
  stations(text, status, "on_air", "gauge", "1 while a known track is on air.",
           [](const Station& s) { return s.now_playing ? 1 : 0; });
  stations(text, status, "last_samples_timestamp_seconds", "gauge",
           "When samples last came, since 1970; 0 for never.", [](const Station& s) {
             return s.last_samples_at ? unix_seconds(*s.last_samples_at) : 0.0;
           });
  stations(text, status, "stream_reconnects_total", "counter", "Connections after the first.",
           [](const Station& s) { return s.counters.reconnects; });
  stations(text, status, "damaged_packets_total", "counter", "Packets that could not be decoded.",
           [](const Station& s) { return s.counters.damaged_packets; });
  stations(text, status, "dropped_windows_total", "counter", "Windows lost to a slow matcher.",
           [](const Station& s) { return s.counters.dropped_windows; });
  stations(text, status, "windows_searched_total", "counter", "Windows looked up in the index.",
           [](const Station& s) { return s.counters.windows_searched; });
  stations(text, status, "tags_total", "counter", "Plays begun.",
           [](const Station& s) { return s.counters.tags; });
  stations(text, status, "melody_questions_total", "counter",
           "Times that unknown music was compared with melodies.",
           [](const Station& s) { return s.counters.melody_questions; });
  stations(text, status, "melodies_told_total", "counter",
           "Times that unknown music was told by its melody.",
           [](const Station& s) { return s.counters.melodies_told; });
}

void write_sinks(MetricsText& text, const Status& status) {
  sinks(text, status, "deliveries_total", "counter", "Events that the sink took.",
        [](const SinkStatus& s) { return s.delivered; });
  sinks(text, status, "delivery_failures_total", "counter", "Attempts that failed.",
        [](const SinkStatus& s) { return s.failed_attempts; });
  sinks(text, status, "deliveries_dropped_total", "counter", "State events too old to be sent.",
        [](const SinkStatus& s) { return s.dropped; });
  sinks(text, status, "deliveries_dead_total", "counter", "Events given up.",
        [](const SinkStatus& s) { return s.dead; });
  sinks(text, status, "sink_disabled", "gauge", "1 after the sink answered 410 Gone.",
        [](const SinkStatus& s) { return s.disabled.empty() ? 0 : 1; });
}

}  // namespace

std::string metrics_text(const Status& status) {
  MetricsText text;
  write_daemon(text, status);
  write_stations(text, status);
  write_sinks(text, status);
  return text.take();
}

}  // namespace spintag::daemon
