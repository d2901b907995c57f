// daemon/ingest/identifiers.h - ISRC and MusicBrainz identifiers in the one form that is stored.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spintag::daemon {

/// Twelve characters, upper case, without hyphens: "USRC17607839" (ISO 3901: country 2, registrant
/// 3, year 2, number 5).
/// @return nothing if `text` is not an ISRC
std::optional<std::string> normal_isrc(std::string_view text);

/// Each ISRC of a list that is separated by blanks, commas, semicolons or slashes.
/// @return nothing if one of them is not an ISRC
std::optional<std::vector<std::string>> normal_isrcs(std::string_view list);

/// A UUID in lower case. @return nothing if `text` is not one
std::optional<std::string> normal_mbid(std::string_view text);

}  // namespace spintag::daemon
