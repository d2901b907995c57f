// tests/integration/test_radio.cpp - a real Icecast on loopback, and recordings sent to it.
#include "tests/integration/test_radio.h"

#include <pwd.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <stdexcept>

#include "daemon/demo/loopback.h"

namespace spintag::test {

namespace {

constexpr const char* kPassword = "of-this-test-alone";

std::string unprivileged_user() {
  if (::geteuid() != 0) return {};
  return ::getpwnam("icecast2") != nullptr ? "icecast2" : "nobody";
}

std::string icecast_program() {
  return daemon::program_exists("icecast2") ? "icecast2" : "/usr/bin/icecast2";
}

}  // namespace

TestRadio::TestRadio() : port_(daemon::free_port()) {
  namespace fs = std::filesystem;
  const std::string here = folder_.path().string();
  std::ofstream(folder_.path() / "icecast.xml")
      << "<icecast><limits><clients>20</clients><sources>5</sources>"
         "<burst-size>65535</burst-size></limits><authentication><source-password>"
      << kPassword << "</source-password><admin-user>admin</admin-user><admin-password>"
      << kPassword
      << "</admin-password></authentication><hostname>127.0.0.1</hostname><listen-socket><port>"
      << port_ << "</port><bind-address>127.0.0.1</bind-address></listen-socket><fileserve>0"
      << "</fileserve><paths><logdir>" << here << "/log</logdir><webroot>" << here
      << "</webroot><adminroot>" << here
      << "</adminroot></paths><logging><accesslog>access.log</accesslog><errorlog>error.log"
         "</errorlog><loglevel>3</loglevel></logging></icecast>\n";
  fs::create_directory(folder_.path() / "log");
  fs::permissions(folder_.path() / "log", fs::perms::all);
  fs::permissions(folder_.path(),
                  fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
  daemon::ChildOptions options;
  options.command = {icecast_program(), "-c", here + "/icecast.xml"};
  options.log = folder_.path() / "icecast.out";
  options.user = unprivileged_user();
  icecast_ = std::make_unique<daemon::ChildProcess>(options);
  if (!daemon::wait_for_port(port_, [&] { return icecast_->exit_status().has_value(); })) {
    throw std::runtime_error("icecast did not start: " + daemon::end_of_log(options.log));
  }
}

std::string TestRadio::url(const std::string& mount) const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/" + mount;
}

std::unique_ptr<TestRadio::Source> TestRadio::play(const std::string& mount,
                                                   const std::filesystem::path& wav,
                                                   double from_s) const {
  return std::make_unique<Source>(*this, mount, wav, from_s);
}

TestRadio::Source::Source(const TestRadio& radio, const std::string& mount,
                          const std::filesystem::path& wav, double from_s)
    : zero_(daemon::utc_now() -
            std::chrono::microseconds(static_cast<std::int64_t>(std::llround(from_s * 1e6)))),
      ffmpeg_({.command = {"ffmpeg", "-nostdin", "-v", "error", "-re", "-ss",
                           std::to_string(from_s), "-i", wav.string(), "-c:a", "libmp3lame", "-b:a",
                           "128k", "-content_type", "audio/mpeg", "-f", "mp3",
                           std::string("icecast://source:") + kPassword +
                               "@127.0.0.1:" + std::to_string(radio.port_) + "/" + mount},
               .log = radio.folder_.path() / (mount + ".ffmpeg"),
               .feed = false,
               .user = {}}) {}

}  // namespace spintag::test
