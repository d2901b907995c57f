// daemon/demo/announcer.h - the voice that names the songs of a programme.
#pragma once

#include <filesystem>

#include "daemon/demo/programme.h"

namespace spintag::daemon {

/// An announcer with espeak-ng's voice. @param directory  for scratch files
Announcer make_announcer(const std::filesystem::path& directory, int rate_hz);

}  // namespace spintag::daemon
