// daemon/ingest/playlist.h - local playlists: M3U and PLS.
#pragma once

#include <filesystem>
#include <istream>
#include <string>
#include <vector>

namespace spintag::daemon {

/// True for .m3u, .m3u8 and .pls, in any case.
bool is_playlist(const std::filesystem::path& file);

/// The entries of a playlist in order, as they are written there: paths or URLs. Comments, blank
/// lines and byte order marks are skipped; `file://` URLs of this host become paths.
/// @param is_pls  PLS (File1=...); otherwise one entry a line
std::vector<std::string> parse_playlist(std::istream& in, bool is_pls);

}  // namespace spintag::daemon
