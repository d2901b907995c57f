// fingerprint/audio/libav_log.cpp - libav's log, which goes to nobody but the error messages of
// this folder.
#include "fingerprint/audio/libav_log.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <mutex>

extern "C" {
#include <libavutil/log.h>
}

namespace spintag::fingerprint {
namespace {

struct Lines {
  std::array<char, 1024> text{};
  std::size_t size = 0;
};
thread_local Lines lines;

void keep_line(void* /*object*/, int level, const char* format, std::va_list arguments) {
  if (level > AV_LOG_ERROR || lines.size + 1 >= lines.text.size()) return;
  const std::size_t room = lines.text.size() - lines.size;
  const int length = std::vsnprintf(lines.text.data() + lines.size, room, format, arguments);
  if (length > 0) lines.size += std::min(static_cast<std::size_t>(length), room - 1);
}

}  // namespace

void capture_libav_log() {
  static std::once_flag once;
  std::call_once(once, [] { av_log_set_callback(&keep_line); });
}

void clear_libav_lines() { lines.size = 0; }

std::string libav_lines() { return {lines.text.data(), lines.size}; }

}  // namespace spintag::fingerprint
