// daemon/demo/radio.cpp - a radio station on this box: an Icecast of its own, fed with a programme.
#include "daemon/demo/radio.h"

#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>
#include <fstream>
#include <mutex>
#include <random>
#include <span>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include "daemon/demo/child_process.h"
#include "daemon/demo/loopback.h"
#include "daemon/rfc3339.h"

namespace spintag::daemon {

namespace {

using std::chrono::steady_clock;

constexpr auto kIcecastStart = std::chrono::seconds(15);
constexpr double kBlock_s = 0.05;  ///< of programme in one write: how exact `began_at` is

std::string random_password() {
  std::random_device entropy;
  std::ostringstream text;
  for (int word = 0; word < 4; ++word) text << std::hex << entropy();
  return text.str();
}

/// Icecast will not run as root.
std::string unprivileged_user() {
  if (geteuid() != 0) return {};
  return getpwnam("icecast2") != nullptr ? "icecast2" : "nobody";
}

void write_icecast_config(const std::filesystem::path& file, const std::filesystem::path& log,
                          std::uint16_t port, const std::string& password) {
  std::ofstream out(file);
  out << "<icecast>\n"
         "  <limits><clients>20</clients><sources>1</sources>"
         // A listener gets what is on air now, not seconds from before it came.
         "<burst-on-connect>0</burst-on-connect></limits>\n"
         "  <authentication><source-password>"
      << password << "</source-password><admin-user>admin</admin-user><admin-password>"
      << random_password()
      << "</admin-password></authentication>\n"
         "  <hostname>127.0.0.1</hostname>\n"
         "  <listen-socket><port>"
      << port
      << "</port><bind-address>127.0.0.1</bind-address></listen-socket>\n"
         "  <paths><basedir>/usr/share/icecast2</basedir><webroot>/usr/share/icecast2/web</webroot>"
         "<adminroot>/usr/share/icecast2/admin</adminroot><logdir>"
      << log.string()
      << "</logdir></paths>\n"
         "  <logging><accesslog>access.log</accesslog><errorlog>error.log</errorlog>"
         "<loglevel>3</loglevel></logging>\n"
         "  <security><chroot>0</chroot></security>\n"
         "</icecast>\n";
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

void write_all(int descriptor, std::span<const std::int16_t> samples) {
  auto bytes = std::as_bytes(samples);
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      throw std::runtime_error(std::string("ffmpeg takes no more audio: ") + std::strerror(errno));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

}  // namespace

struct Radio::State {
  State(Programme& programme_in, std::filesystem::path directory_in)
      : programme(programme_in), directory(std::move(directory_in)) {}

  void start_icecast();
  void start_encoder();
  void pump(const std::stop_token& stop);
  void play(const std::stop_token& stop);
  void note_starts(db::TimePoint block_at, std::uint64_t block_begin);

  Programme& programme;
  std::filesystem::path directory;
  std::uint16_t port = 0;
  std::string password = random_password();
  std::string url;
  std::unique_ptr<ChildProcess> icecast;
  std::unique_ptr<ChildProcess> encoder;

  mutable std::mutex mutex;  ///< guards aired, problem
  std::vector<Airing> aired;
  std::exception_ptr problem;
  std::jthread thread;  ///< last: it uses the rest
};

void Radio::State::start_icecast() {
  const std::string user = unprivileged_user();
  const auto log = directory / "icecast";
  std::filesystem::create_directories(log);
  port = free_port();
  const auto config = log / "icecast.xml";
  write_icecast_config(config, log, port, password);
  if (const passwd* owner = user.empty() ? nullptr : getpwnam(user.c_str())) {
    if (chown(log.c_str(), owner->pw_uid, owner->pw_gid) != 0 ||
        chown(config.c_str(), owner->pw_uid, owner->pw_gid) != 0) {
      throw std::runtime_error("cannot give " + log.string() + " to " + user);
    }
  }
  icecast = std::make_unique<ChildProcess>(ChildOptions{
      .command = {"icecast2", "-c", config.string()}, .log = log / "output.log", .user = user});
  const auto deadline = steady_clock::now() + kIcecastStart;
  const bool listens = wait_for_port(port, [this, deadline] {
    return icecast->exit_status().has_value() || steady_clock::now() > deadline;
  });
  if (!listens)
    throw std::runtime_error("Icecast does not start: " + end_of_log(log / "output.log"));
  url = "http://127.0.0.1:" + std::to_string(port) + "/demo";
}

void Radio::State::start_encoder() {
  const std::string rate = std::to_string(programme.params().rate_hz);
  const std::string target =
      "icecast://source:" + password + "@127.0.0.1:" + std::to_string(port) + "/demo";
  encoder = std::make_unique<ChildProcess>(ChildOptions{
      .command =
          {"ffmpeg", "-hide_banner", "-nostdin",   "-loglevel",     "error",      "-f",
           "s16le",  "-ar",          rate,         "-ac",           "1",          "-i",
           "pipe:0", "-c:a",         "libmp3lame", "-b:a",          "128k",       "-flush_packets",
           "1",      "-f",           "mp3",        "-content_type", "audio/mpeg", target},
      .log = directory / "ffmpeg.log",
      .feed = true,
      .user = {}});
}

void Radio::State::note_starts(db::TimePoint block_at, std::uint64_t block_begin) {
  const auto& starts = programme.starts();
  const std::lock_guard lock(mutex);
  for (std::size_t i = aired.size(); i < starts.size(); ++i) {
    const double late_s = static_cast<double>(starts[i].sample - block_begin) /
                          static_cast<double>(programme.params().rate_hz);
    aired.push_back({starts[i].song,
                     block_at + std::chrono::microseconds(std::llround(late_s * 1e6)),
                     starts[i].heard_s});
  }
}

void Radio::State::play(const std::stop_token& stop) {
  const int rate_hz = programme.params().rate_hz;
  std::vector<float> block(static_cast<std::size_t>(kBlock_s * rate_hz));
  std::vector<std::int16_t> pcm(block.size());
  const auto began = steady_clock::now();
  for (std::uint64_t sent = 0; !stop.stop_requested(); sent += block.size()) {
    const double due_s = static_cast<double>(sent) / rate_hz;
    std::this_thread::sleep_until(began + std::chrono::duration_cast<steady_clock::duration>(
                                              std::chrono::duration<double>(due_s)));
    const auto at = utc_now();
    programme.mix(block);
    note_starts(at, sent);
    std::transform(block.begin(), block.end(), pcm.begin(), [](float sample) {
      return static_cast<std::int16_t>(std::lround(sample * 32767.0F));
    });
    write_all(encoder->input(), pcm);
  }
}

void Radio::State::pump(const std::stop_token& stop) {
  // A write to an encoder that died must be an error here, not the end of the process.
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  try {
    play(stop);
  } catch (...) {
    const std::lock_guard lock(mutex);
    problem = std::current_exception();
  }
}

Radio::Radio(Programme& programme, const std::filesystem::path& directory)
    : state_(std::make_unique<State>(programme, directory)) {
  state_->start_icecast();
}

void Radio::start() {
  state_->start_encoder();
  state_->thread = std::jthread([state = state_.get()](const std::stop_token& stop) {
    pthread_setname_np(pthread_self(), "radio");
    state->pump(stop);
  });
}

// The encoder goes first, so that a thread that waits for it to read wakes up.
Radio::~Radio() {
  state_->thread.request_stop();
  if (state_->encoder) state_->encoder->stop(std::chrono::seconds(2));
  if (state_->thread.joinable()) state_->thread.join();
  state_->encoder.reset();
  state_->icecast.reset();
}

const std::string& Radio::url() const { return state_->url; }

std::vector<Airing> Radio::aired() const {
  const std::lock_guard lock(state_->mutex);
  return state_->aired;
}

void Radio::check() {
  if (const auto status = state_->icecast->exit_status()) {
    throw std::runtime_error("Icecast ended (" + std::to_string(*status) +
                             "): " + end_of_log(state_->directory / "icecast" / "error.log"));
  }
  if (!state_->encoder) return;
  if (const auto status = state_->encoder->exit_status()) {
    throw std::runtime_error("ffmpeg ended (" + std::to_string(*status) +
                             "): " + end_of_log(state_->directory / "ffmpeg.log"));
  }
  const std::lock_guard lock(state_->mutex);
  if (state_->problem) std::rethrow_exception(state_->problem);
}

}  // namespace spintag::daemon
