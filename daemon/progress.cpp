// daemon/progress.cpp - one line on a terminal that says how far a long command is.
#include "daemon/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "daemon/json_text.h"
#include "daemon/utf8.h"

namespace spintag::daemon {

namespace {

constexpr std::size_t kBarColumns = 24;
constexpr double kSecondsBeforeGuess = 1;  // the first files may be the ones that fail at once
constexpr std::chrono::milliseconds kBetweenDraws{100};

std::size_t terminal_columns() {
  struct winsize size {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace

std::string progress_line(const Progress& progress, std::size_t columns) {
  const double share = progress.total == 0 ? 1.0
                                           : static_cast<double>(progress.done) /
                                                 static_cast<double>(progress.total);
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(kBarColumns));
  std::string line = "[" + std::string(filled, '#') + std::string(kBarColumns - filled, '.') + "] ";
  line += std::to_string(progress.done) + "/" + std::to_string(progress.total) + " files";
  if (progress.failed > 0) line += ", " + std::to_string(progress.failed) + " failed";
  if (progress.elapsed_s > 0 && progress.audio_s > 0) {
    line +=
        ", " + std::to_string(std::llround(progress.audio_s / progress.elapsed_s)) + "x real time";
  }
  const bool can_tell = progress.done > 0 && progress.elapsed_s >= kSecondsBeforeGuess;
  if (can_tell && progress.done < progress.total) {
    line += ", " + duration_text(progress.elapsed_s * (1.0 - share) / share) + " left";
  }
  return fit(line, columns > 1 ? columns - 1 : 1);
}

ProgressBar::ProgressBar() : on_terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::draw(const Progress& progress) {
  if (!on_terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (shown_ && now - drawn_at_ < kBetweenDraws) return;
  const std::string line = "\r" + progress_line(progress, terminal_columns()) + "\x1b[K";
  std::fwrite(line.data(), 1, line.size(), stderr);
  drawn_at_ = now;
  shown_ = true;
}

void ProgressBar::say(std::string_view line) {
  clear();
  const std::string whole = std::string(line) + "\n";
  std::fwrite(whole.data(), 1, whole.size(), stderr);
}

void ProgressBar::clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  shown_ = false;
}

}  // namespace spintag::daemon
