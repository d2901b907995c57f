// daemon/csv.cpp - comma-separated values as RFC 4180 describes them.
#include "daemon/csv.h"

#include <iterator>

#include "daemon/utf8.h"

namespace spintag::daemon {

namespace {

class CsvReader {
 public:
  explicit CsvReader(std::string text) : text_(std::move(text)) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  }

  std::vector<CsvRecord> read() {
    std::vector<CsvRecord> records;
    while (at_ < text_.size()) {
      CsvRecord record{line_, read_record()};
      const bool empty_line = record.fields.size() == 1 && record.fields[0].empty();
      if (!empty_line) records.push_back(std::move(record));
    }
    return records;
  }

 private:
  bool at_line_end() const {
    return at_ >= text_.size() || text_[at_] == '\n' || text_.compare(at_, 2, "\r\n") == 0;
  }

  std::vector<std::string> read_record() {
    std::vector<std::string> fields;
    const std::size_t first_line = line_;
    while (true) {
      fields.push_back(at_ < text_.size() && text_[at_] == '"' ? read_quoted() : read_plain());
      if (!is_utf8(fields.back())) throw CsvError(first_line, "not UTF-8 text");
      if (at_line_end()) break;
      ++at_;  // the comma
      if (at_ >= text_.size()) {
        fields.emplace_back();
        break;
      }
    }
    if (at_ < text_.size()) {
      at_ += text_[at_] == '\r' ? 2 : 1;
      ++line_;
    }
    return fields;
  }

  std::string read_plain() {
    const std::size_t begin = at_;
    while (!at_line_end() && text_[at_] != ',') ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::string read_quoted() {
    const std::size_t opened_at = line_;
    std::string field;
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c != '"') {
        if (c == '\n') ++line_;
        field += c;
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        field += '"';
        ++at_;
      } else {
        ++at_;
        if (!at_line_end() && text_[at_] != ',') {
          throw CsvError(line_, "text after a closing quote (a quote inside a field is \"\")");
        }
        return field;
      }
    }
    throw CsvError(opened_at, "a quote is opened and never closed");
  }

  std::string text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

std::vector<CsvRecord> read_csv(std::istream& in) {
  return CsvReader({std::istreambuf_iterator<char>(in), {}}).read();
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace spintag::daemon
