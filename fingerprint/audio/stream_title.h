// fingerprint/audio/stream_title.h - what an encoder says is on air.
#pragma once

#include <string>
#include <string_view>

namespace spintag::fingerprint {

/// StreamTitle of one ICY metadata packet ("StreamTitle='Artist - Title';StreamUrl='';"); empty
/// when it has none. Titles may hold apostrophes: the closing one is the last that stands before
/// ';'.
std::string parse_icy_title(std::string_view packet);

/// "Artist - Title" as Vorbis comments give it; either may be empty.
std::string join_title(std::string_view artist, std::string_view title);

/// Valid UTF-8 without control characters or outer blanks. Bytes that are no UTF-8 are read as
/// Latin-1, which is what encoders send that do not know better.
std::string clean_text(std::string_view text);

}  // namespace spintag::fingerprint
