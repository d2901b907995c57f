// daemon/web/status_page.h - the status page: one HTML document with everything in it.
#pragma once

#include <string>
#include <string_view>

#include "daemon/status_board.h"

namespace spintag::daemon {

/// Complete without JavaScript; with it, /api/nowplaying and /readyz refresh it every 2 s. Names no
/// other host.
std::string status_page(const Status& status, db::TimePoint now);

/// For text and for attributes in double quotes. Bytes that are not UTF-8 stay as they are: a
/// browser shows U+FFFD.
std::string html_escaped(std::string_view text);

}  // namespace spintag::daemon
