// fingerprint/audio/libav_log.cpp - libav's log, which goes to nobody but the error messages of
// this folder.
#include "fingerprint/audio/libav_log.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <mutex>

extern "C" {
#include <libavutil/log.h>
}

namespace spintag::fingerprint {
namespace {

thread_local std::array<char, 256> last_line{};

void keep_line(void* /*object*/, int level, const char* format, std::va_list arguments) {
  if (level > AV_LOG_ERROR) return;
  std::vsnprintf(last_line.data(), last_line.size(), format, arguments);
}

}  // namespace

void capture_libav_log() {
  static std::once_flag once;
  std::call_once(once, [] { av_log_set_callback(&keep_line); });
}

void clear_libav_line() { last_line.front() = '\0'; }

std::string last_libav_line() {
  std::string line = last_line.data();
  while (!line.empty() && (line.back() == '\n' || line.back() == '.')) line.pop_back();
  return line;
}

}  // namespace spintag::fingerprint
