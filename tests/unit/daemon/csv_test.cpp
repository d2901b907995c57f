// tests/unit/daemon/csv_test.cpp - daemon/csv.h against RFC 4180.
#include "daemon/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace spintag::daemon {
namespace {

using ::testing::ElementsAre;

std::vector<CsvRecord> parse(const std::string& text) {
  std::istringstream in(text);
  return read_csv(in);
}

TEST(Csv, ByteOrderMarkCarriageReturnsAndEmptyLinesAreNoData) {
  const auto records = parse(
      "\xEF\xBB\xBF"
      "file,title\r\n\r\na.mp3,A\r\n");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_THAT(records[0].fields, ElementsAre("file", "title"));
  EXPECT_THAT(records[1].fields, ElementsAre("a.mp3", "A"));
  EXPECT_EQ(records[1].line, 3U);
}

TEST(Csv, QuotedFieldHoldsCommaQuoteAndLineEnd) {
  const auto records = parse("a,\"x, \"\"y\"\"\nz\",b\nc,d,e\n");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_THAT(records[0].fields, ElementsAre("a", "x, \"y\"\nz", "b"));
  EXPECT_EQ(records[1].line, 3U) << "the quoted line end counts";
}

TEST(Csv, EmptyFieldsAreKeptAtBothEnds) {
  const auto records = parse(",b,\n,,");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_THAT(records[0].fields, ElementsAre("", "b", ""));
  EXPECT_THAT(records[1].fields, ElementsAre("", "", ""));
}

TEST(Csv, FaultsNameTheirLine) {
  const auto line_of_fault = [](const std::string& text) -> std::size_t {
    try {
      parse(text);
    } catch (const CsvError& error) {
      return error.line();
    }
    return 0;
  };
  EXPECT_EQ(line_of_fault("a,b\n\"never closed\nx\n"), 2U);
  EXPECT_EQ(line_of_fault("a,b\nc,d\n\"e\"f,g\n"), 3U);
  EXPECT_EQ(line_of_fault("a\n\xFF\n"), 2U);
  EXPECT_EQ(line_of_fault("a,b\nc,d\n"), 0U);
}

TEST(Csv, WhatIsWrittenReadsBack) {
  const std::vector<std::string> fields{"plain",        "",       "a,b", "say \"hi\"",
                                        "two\r\nlines", " blank "};
  std::string row;
  for (const std::string& field : fields) row += (row.empty() ? "" : ",") + csv_field(field);
  const auto records = parse(row + "\r\n");
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].fields, fields);
  EXPECT_EQ(csv_field("plain"), "plain");
}

}  // namespace
}  // namespace spintag::daemon
