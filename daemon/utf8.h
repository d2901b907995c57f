// daemon/utf8.h - names and tags are bytes; databases and JSON want UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace spintag::daemon {

/// True if every byte belongs to a well-formed UTF-8 sequence and none is NUL.
bool is_utf8(std::string_view text);

/// `text` with each byte that is not UTF-8 written as \xNN, so that two names that differ stay
/// different.
std::string to_utf8(std::string_view text);

/// Without control characters and without blanks at either end; what is not UTF-8 is escaped as in
/// to_utf8().
std::string tidy(std::string_view text);

/// `text` in at most `columns` columns of a terminal (one a code point), the end replaced by "…" if
/// it is longer.
std::string fit(std::string_view text, std::size_t columns);

/// The same, with blanks to fill the columns.
std::string padded(std::string_view text, std::size_t columns);

}  // namespace spintag::daemon
