// db/sql_text.h - C++ values as PostgreSQL writes them, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/store.h"

namespace spintag::db {

/// Valid UTF-8 without NUL: what PostgreSQL's text takes. Every byte that is neither becomes
/// U+FFFD.
std::string clean_utf8(std::string_view bytes);

/// A path as text that PostgreSQL takes, one to one: a path may hold any byte but NUL, and two
/// paths that differ in a byte that is not UTF-8 are two files. Such a byte b becomes U+10FF00 + b;
/// those characters themselves count as such bytes.
std::string encode_path(std::string_view path);
std::string decode_path(std::string_view text);

/// "2026-11-20 11:30:36.123456+00", exact to the microsecond.
/// @throws StoreError(refused) for years outside 1..9999
std::string format_time(TimePoint time);
TimePoint parse_time(
    const std::string& text);  ///< of a session whose time zone is UTC and whose DateStyle is ISO

/// "\x00ff...", the input form of bytea.
std::string format_bytea(std::span<const std::byte> bytes);

/// {"a","b"} of text[].
std::string format_text_array(const std::vector<std::string>& values);
std::vector<std::string> parse_text_array(std::string_view text);

/// {1,2} of bigint[].
std::string format_id_array(std::span<const std::int64_t> ids);

}  // namespace spintag::db
