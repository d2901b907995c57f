// daemon/csv.h - comma-separated values as RFC 4180 describes them.
// Source: Y. Shafranovich, RFC 4180, section 2.
#pragma once

#include <functional>
#include <istream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace spintag::daemon {

/// The text is not CSV. The message says line and fault, without a file name.
class CsvError : public std::runtime_error {
 public:
  CsvError(std::size_t line, const std::string& fault) : std::runtime_error(fault), line_(line) {}
  std::size_t line() const { return line_; }

 private:
  std::size_t line_;
};

struct CsvRecord {
  std::size_t line = 0;  ///< on which the record begins, from 1
  std::vector<std::string> fields;
};

/// Reads every record. Lines end with LF or CRLF, a UTF-8 byte order mark is skipped, empty lines
/// are skipped, quoted fields may hold commas, quotes ("") and line ends.
/// @throws CsvError for a quote that is never closed, text after a closing quote, or bytes that are
/// not UTF-8
std::vector<CsvRecord> read_csv(std::istream& in);

/// One field, quoted where it must be.
std::string csv_field(std::string_view text);

}  // namespace spintag::daemon
