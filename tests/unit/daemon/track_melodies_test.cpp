// tests/unit/daemon/track_melodies_test.cpp - stored melodies, read and described.
#include "daemon/track_melodies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fingerprint/melody/packed_melody.h"

namespace spintag::daemon {
namespace {

using ::testing::HasSubstr;

db::Melodies row_of(const std::vector<fingerprint::Melody>& melodies) {
  return {7, "midi", fingerprint::kPackedMelodyVersion, fingerprint::pack_melodies(melodies)};
}

std::string fault_of(const db::Melodies& row) {
  try {
    read_melodies(row);
  } catch (const fingerprint::MelodyError& error) {
    return error.what();
  }
  return "";
}

const fingerprint::Melody kShort{{{0, 1, 60}}, {0}};
const fingerprint::Melody kLong{{{0, 1, 60}, {1.5F, 1, 62}, {2.5F, 1, 64}}, {0, 1}};

TEST(TrackMelodies, AreReadInTheirOrder) {
  const auto melodies = read_melodies(row_of({kShort, kLong}));
  ASSERT_EQ(melodies.size(), 2U);
  EXPECT_EQ(melodies[0].notes, kShort.notes);
  EXPECT_EQ(melodies[1].notes, kLong.notes);
}

TEST(TrackMelodies, DescribeAllVoicesTogetherAndTheLengthOfTheLongest) {
  EXPECT_EQ(describe_melodies(row_of({kShort, kLong})).dump(),
            R"({"method":"midi","melodies":2,"notes":4,"phrases":3,"length_s":3.5})");
  EXPECT_EQ(melodies_text(row_of({kShort, kLong})), "midi: 2 voices, 4 notes in 3 phrases, 3.5 s");
  EXPECT_EQ(melodies_text(row_of({kShort})), "midi: 1 note in 1 phrase, 1.0 s");
}

TEST(TrackMelodies, FaultsNameTheirTrack) {
  db::Melodies row = row_of({kShort});
  row.packed.pop_back();
  EXPECT_THAT(fault_of(row), HasSubstr("track 7: its melody (midi) is damaged at byte"));
  EXPECT_EQ(melodies_text(row), fault_of(row));
  EXPECT_EQ(describe_melodies(row)["error"], fault_of(row));
  row = row_of({kShort});
  row.method_version = 99;
  EXPECT_THAT(fault_of(row), HasSubstr("track 7: its melody (midi) is of version 99"));
}

}  // namespace
}  // namespace spintag::daemon
