// daemon/commands/demo.cpp - `spintag demo`: a radio station and its listener on this box.
#include "daemon/commands/demo.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "daemon/demo/announcer.h"
#include "daemon/demo/child_process.h"
#include "daemon/demo/loopback.h"
#include "daemon/demo/programme.h"
#include "daemon/demo/radio.h"
#include "daemon/demo/scoreboard.h"
#include "daemon/open_store.h"
#include "daemon/rfc3339.h"
#include "daemon/stop_on_signal.h"

namespace spintag::daemon {

namespace {

using std::chrono::steady_clock;

constexpr int kShortest_s = 30;  ///< less shows no song to its end
constexpr auto kPoll = std::chrono::milliseconds(200);
constexpr auto kDaemonStart = std::chrono::seconds(30);
constexpr char kStation[] = "demo";
/// Where Debian's package singularity-music puts its recordings.
constexpr char kInstalledMusic[] = "/usr/share/games/singularity/music";

/// A folder that goes away with this object.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "spintag-demo-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("cannot make " + name + ": " + std::strerror(errno));
    }
    path_ = name;
    // The database and Icecast may run as other users, who must get to their own folders in it.
    std::filesystem::permissions(path_, std::filesystem::perms(0755));
  }
  ~Scratch() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
    if (error)
      fmt::print(stderr, "spintag: cannot remove {}: {}\n", path_.string(), error.message());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

std::string clock_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return fmt::format("{:%H:%M:%S}", local);
}

double seconds_of(db::TimePoint time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

std::string name_of(const std::string& artist, const std::string& title) {
  return artist.empty() ? title : artist + " - " + title;
}

/// Titles are what files are called when they have no tags.
Song song_of(const db::Track& track) {
  const std::string stem = std::filesystem::path(track.source).stem().string();
  return {track.track_id, track.source, track.info.title.empty() ? stem : track.info.title,
          track.info.artist, track.duration_s};
}

/// @return exit status other than kDone, with the reason on stderr, if the demo cannot begin
int check_prerequisites(const CommonOptions& options, const DemoOptions& demo,
                        const std::filesystem::path& music) {
  const auto refuse = [](const std::string& why) {
    fmt::print(stderr, "spintag: demo: {}\n", why);
    return kUsage;
  };
  if (options.database || !options.config.empty()) {
    return refuse("it keeps a store and a configuration of its own (no --database, no --config)");
  }
  if (demo.seconds != 0 && demo.seconds < kShortest_s) {
    return refuse(fmt::format("--seconds {}: at least {}, so that a song can be heard",
                              demo.seconds, kShortest_s));
  }
  for (const char* program : {"icecast2", "ffmpeg", "espeak-ng"}) {
    if (!program_exists(program)) {
      return refuse(fmt::format("{0} is not installed (apt-get install {0})", program));
    }
  }
  std::error_code error;
  if (!std::filesystem::is_directory(music, error)) {
    return refuse(demo.music.empty() ? "no music: name a folder with --music, or apt-get install "
                                       "singularity-music"
                                     : music.string() + " is not a folder");
  }
  return kDone;
}

/// Everything that runs while the demo does, in the order in which it is started.
class Demo {
 public:
  Demo(const CommonOptions& options, const DemoOptions& demo, std::filesystem::path music)
      : options_(options), demo_(demo), music_(std::move(music)) {}

  int run();

 private:
  void write_config(const std::string& stream_url);
  int ingest();
  std::vector<Song> songs();
  void go_on_air(std::vector<Song> songs);
  void start_daemon();
  void listen();
  void show_airings();
  void show_tags(db::Store& store);
  int conclude();
  std::vector<std::string> command(const std::string& verb) const;

  CommonOptions options_;
  DemoOptions demo_;
  std::filesystem::path music_;
  StopOnSignal stop_;
  Scratch scratch_;
  std::filesystem::path config_file_ = scratch_.path() / "demo.toml";
  std::uint16_t web_port_ = 0;
  std::unique_ptr<StoreSite> site_;
  std::unique_ptr<Programme> programme_;
  std::unique_ptr<Radio> radio_;
  std::unique_ptr<ChildProcess> daemon_;
  steady_clock::time_point on_air_at_{};
  Scoreboard scoreboard_;
  std::size_t shown_airings_ = 0;
  std::map<std::int64_t, std::int64_t> shown_plays_;  ///< play_id to track_id
};

std::vector<std::string> Demo::command(const std::string& verb) const {
  std::vector<std::string> words = {std::filesystem::read_symlink("/proc/self/exe").string(), verb,
                                    "--config", config_file_.string()};
  if (options_.device) words.insert(words.end(), {"--device", *options_.device});
  if (options_.log_level) words.insert(words.end(), {"--log-level", *options_.log_level});
  return words;
}

void Demo::write_config(const std::string& stream_url) {
  std::ofstream out(config_file_);
  out << "[database]\nstate_directory = \"" << (scratch_.path() / "state").string()
      << "\"\n\n[web]\nlisten = \"127.0.0.1:" << web_port_ << "\"\n\n[[station]]\nname = \""
      << kStation << "\"\ntitle = \"spintag demonstration radio\"\nurl = \"" << stream_url
      << "\"\n";
  if (!out.flush()) throw std::runtime_error("cannot write " + config_file_.string());
}

int Demo::ingest() {
  auto words = command("ingest");
  words.insert(words.end(), {"--", music_.string()});
  ChildProcess child({.command = words, .log = {}, .user = {}});
  while (!child.wait(kPoll)) {
    if (stop_.stop_requested()) return kDone;
  }
  return *child.exit_status();
}

std::vector<Song> Demo::songs() {
  std::vector<Song> songs;
  site_->open().for_each_track([&](const db::Track& track) { songs.push_back(song_of(track)); });
  std::sort(songs.begin(), songs.end(),
            [](const Song& a, const Song& b) { return a.file < b.file; });
  return songs;
}

void Demo::go_on_air(std::vector<Song> songs) {
  ProgrammeParams params;
  if (demo_.seconds != 0) params.song_s = std::clamp(demo_.seconds / 3.0, 22.0, params.song_s);
  programme_ = std::make_unique<Programme>(std::move(songs), params,
                                           make_announcer(scratch_.path(), params.rate_hz));
  radio_ = std::make_unique<Radio>(*programme_, scratch_.path());
  write_config(radio_->url());
  radio_->start();
  on_air_at_ = steady_clock::now();
  say(fmt::format("radio      {}  (Icecast, MP3; any player can listen in)", radio_->url()));
}

void Demo::start_daemon() {
  const auto log = scratch_.path() / "daemon.log";
  daemon_ = std::make_unique<ChildProcess>(
      ChildOptions{.command = command("run"), .log = log, .user = {}});
  const auto deadline = steady_clock::now() + kDaemonStart;
  const bool listens = wait_for_port(web_port_, [&] {
    return daemon_->exit_status() || stop_.stop_requested() || steady_clock::now() > deadline;
  });
  if (!listens && !stop_.stop_requested()) {
    throw std::runtime_error("the daemon does not start: " + end_of_log(log));
  }
  say(fmt::format("status     http://127.0.0.1:{}/", web_port_));
  say(
      fmt::format("\n{:.0f} s of each song, with crossfades and an announcer; the stream carries "
                  "no titles. {}\n",
                  programme_->params().song_s,
                  demo_.seconds != 0 ? fmt::format("Ends by itself after {} s.", demo_.seconds)
                                     : "Ctrl-C ends it."));
}

void Demo::show_airings() {
  const auto aired = radio_->aired();
  for (; shown_airings_ < aired.size(); ++shown_airings_) {
    const Airing& airing = aired[shown_airings_];
    const Song& song = programme_->songs()[airing.song];
    const std::string name = name_of(song.artist, song.title);
    scoreboard_.aired(name, seconds_of(airing.began_at), airing.heard_s);
    say(fmt::format("{}  the radio plays:  {}", clock_time(), name));
  }
}

void Demo::show_tags(db::Store& store) {
  for (const db::Play& play :
       store.plays({.station = kStation, .from = {}, .to = {}, .limit = 20})) {
    const auto known = shown_plays_.find(play.play_id);
    if (known != shown_plays_.end() && known->second == play.track_id) continue;
    shown_plays_[play.play_id] = play.track_id;
    const auto track = store.find_track(play.track_id);
    if (!track) continue;
    const Song song = song_of(*track);
    const std::string name = name_of(song.artist, song.title);
    const auto delay_s = scoreboard_.tagged(name, seconds_of(utc_now()));
    say(fmt::format("{}  on air: {}  ({})", clock_time(), name,
                    delay_s ? fmt::format("{:.1f} s after it began, confidence {:.5f}", *delay_s,
                                          play.confidence)
                            : "wrong"));
  }
}

void Demo::listen() {
  auto store = site_->open();
  const auto end = on_air_at_ + std::chrono::seconds(demo_.seconds);
  while (!stop_.stop_requested() && (demo_.seconds == 0 || steady_clock::now() < end)) {
    radio_->check();
    if (daemon_->exit_status()) {
      throw std::runtime_error("the daemon ended: " + end_of_log(scratch_.path() / "daemon.log"));
    }
    show_airings();
    show_tags(store);
    std::this_thread::sleep_for(kPoll);
  }
}

int Demo::conclude() {
  const auto result = scoreboard_.result(seconds_of(utc_now()));
  const std::string delay =
      result.median_delay_s
          ? fmt::format("; {:.1f} s (median) from a song's first sound to its tag",
                        *result.median_delay_s)
          : "";
  const std::string early =
      result.early != 0 ? fmt::format(" ({} more had just begun)", result.early) : "";
  say(fmt::format("\n{} song{} played{}, {} recognised, {} wrong{}", result.played,
                  result.played == 1 ? "" : "s", early, result.recognised, result.wrong, delay));
  for (const auto& name : result.missed) {
    fmt::print(stderr, "spintag: demo: not recognised: {}\n", name);
  }
  for (const auto& name : result.wrong_names) {
    fmt::print(stderr, "spintag: demo: tagged, but not on air (or twice): {}\n", name);
  }
  return result.missed.empty() && result.wrong == 0 ? kDone : kSomeFailed;
}

int Demo::run() {
  web_port_ = demo_.port != 0 ? static_cast<std::uint16_t>(demo_.port) : free_port();
  write_config("http://127.0.0.1:1/");  // ingest reads it too, and Icecast has no port yet
  say(fmt::format("music      {}", music_.string()));
  const auto settings = config::load(config_file_).settings;
  site_ = std::make_unique<StoreSite>(settings);
  const int ingested = ingest();
  if (stop_.stop_requested()) return kDone;
  if (ingested != kDone && ingested != kSomeFailed) return ingested;
  auto playlist = songs();
  if (playlist.empty()) {
    fmt::print(stderr, "spintag: demo: no recording in {}\n", music_.string());
    return kSomeFailed;
  }
  say(fmt::format("catalogue  {} recordings, in a database of their own", playlist.size()));
  go_on_air(std::move(playlist));
  start_daemon();
  listen();
  return conclude();
}

}  // namespace

int run_demo(const CommonOptions& options, const DemoOptions& demo) {
  const auto music = demo.music.empty() ? std::filesystem::path(kInstalledMusic) : demo.music;
  if (const int status = check_prerequisites(options, demo, music); status != kDone) return status;
  // A station's settings in the environment are not this one's, nor its children's.
  unsetenv("SPINTAG_DATABASE_URL");
  unsetenv("SPINTAG_TOKEN");
  return Demo(options, demo, music).run();
}

}  // namespace spintag::daemon
