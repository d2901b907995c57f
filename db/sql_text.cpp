// db/sql_text.cpp - C++ values as PostgreSQL writes them, and back.
#include "db/sql_text.h"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace spintag::db {

namespace {

constexpr char32_t kByteBase = 0x10FF00;  // last 256 code points of Unicode's last private plane

struct Scanned {
  std::size_t bytes = 0;  // 0 = the first byte does not begin a character
  char32_t character = 0;
};

/// The character that `bytes` begins with. RFC 3629: no overlong forms, no surrogates, nothing past
/// U+10FFFF.
Scanned scan_character(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return {1, first};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || bytes.size() < length) return {};
  char32_t character = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0) != 0x80) return {};
    character = (character << 6) | (at(i) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
  if (character < kSmallest[length] || character > 0x10FFFF || surrogate) return {};
  return {length, character};
}

void append_byte_as_character(std::string& text, unsigned char byte) {
  const char32_t character = kByteBase + byte;
  text += static_cast<char>(0xF0 | (character >> 18));
  text += static_cast<char>(0x80 | ((character >> 12) & 0x3F));
  text += static_cast<char>(0x80 | ((character >> 6) & 0x3F));
  text += static_cast<char>(0x80 | (character & 0x3F));
}

}  // namespace

std::string clean_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size();) {
    const Scanned scanned = scan_character(bytes.substr(i));
    if (scanned.bytes == 0 || scanned.character == 0) {
      text += "\xEF\xBF\xBD";
      ++i;
    } else {
      text += bytes.substr(i, scanned.bytes);
      i += scanned.bytes;
    }
  }
  return text;
}

std::string encode_path(std::string_view path) {
  std::string text;
  text.reserve(path.size());
  for (std::size_t i = 0; i < path.size();) {
    const Scanned scanned = scan_character(path.substr(i));
    const bool plain = scanned.bytes > 0 && scanned.character != 0 && scanned.character < kByteBase;
    const std::size_t length = scanned.bytes > 0 ? scanned.bytes : 1;
    if (plain) {
      text += path.substr(i, length);
    } else {
      for (const char byte : path.substr(i, length)) {
        append_byte_as_character(text, static_cast<unsigned char>(byte));
      }
    }
    i += length;
  }
  return text;
}

std::string decode_path(std::string_view text) {
  std::string path;
  path.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const Scanned scanned = scan_character(text.substr(i));
    const std::size_t length = scanned.bytes > 0 ? scanned.bytes : 1;
    if (scanned.character >= kByteBase) {
      path += static_cast<char>(scanned.character - kByteBase);
    } else {
      path += text.substr(i, length);
    }
    i += length;
  }
  return path;
}

std::string format_time(TimePoint time) {
  using namespace std::chrono;
  if (time < sys_days{1y / January / 1} || time >= sys_days{10000y / January / 1}) {
    throw StoreError(StoreError::Kind::refused, "a time outside the years 1 to 9999");
  }
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{time - day};
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u %02d:%02d:%02d.%06d+00",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()),
                static_cast<int>(clock.subseconds().count()));
  return text.data();
}

TimePoint parse_time(const std::string& text) {
  using namespace std::chrono;
  int year_number = 0;
  unsigned month_number = 0;
  unsigned day_number = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int end = 0;
  if (std::sscanf(text.c_str(), "%d-%u-%u %d:%d:%d%n", &year_number, &month_number, &day_number,
                  &hour, &minute, &second, &end) != 6) {
    throw StoreError(StoreError::Kind::refused, "a time that cannot be read: " + text);
  }
  microseconds fraction{0};
  std::size_t at = static_cast<std::size_t>(end);
  if (at < text.size() && text[at] == '.') {  // trailing zeros are left out: .5 is 500000
    microseconds::rep unit = 100'000;
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10) {
      fraction += microseconds{(text[at] - '0') * unit};
    }
  }
  const sys_days date{year{year_number} / static_cast<int>(month_number) /
                      static_cast<int>(day_number)};
  return date + hours{hour} + minutes{minute} + seconds{second} + fraction;
}

std::string format_bytea(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(2 + 2 * bytes.size(), '\\');
  text[1] = 'x';
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto value = std::to_integer<unsigned>(bytes[i]);
    text[2 + 2 * i] = kDigits[value >> 4];
    text[3 + 2 * i] = kDigits[value & 15];
  }
  return text;
}

std::string format_text_array(const std::vector<std::string>& values) {
  std::string text = "{";
  for (const std::string& value : values) {
    if (text.size() > 1) text += ',';
    text += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text + "}";
}

std::vector<std::string> parse_text_array(std::string_view text) {
  std::vector<std::string> values;
  std::string value;
  bool quoted = false;
  bool begun = false;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '"') {
        quoted = false;
      } else {
        value += c == '\\' && i + 1 < text.size() ? text[++i] : c;
      }
    } else if (c == '"') {
      quoted = begun = true;
    } else if (c == ',' || c == '}') {
      if (begun) values.push_back(std::move(value));
      value.clear();
      begun = false;
    } else {
      value += c;
      begun = true;
    }
  }
  return values;
}

std::string format_id_array(std::span<const std::int64_t> ids) {
  std::string text = "{";
  for (const std::int64_t id : ids) {
    if (text.size() > 1) text += ',';
    text += std::to_string(id);
  }
  return text + "}";
}

}  // namespace spintag::db
