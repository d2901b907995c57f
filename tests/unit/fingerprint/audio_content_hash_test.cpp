// tests/unit/fingerprint/audio_content_hash_test.cpp - one recording, one hash, whatever its tags
// say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fingerprint/audio/reader.h"
#include "tests/unit/fingerprint/audio_scratch.h"

namespace spintag::fingerprint::audio_test {
namespace {

class ContentHashOf : public testing::TestWithParam<std::string> {};

TEST_P(ContentHashOf, SurvivesNewTagsAndTellsOtherAudioApart) {
  const std::string& type = GetParam();
  const std::string codec = type == "ogg" ? "-c:a libvorbis " : "";
  const ScratchFolder scratch;
  scratch.ffmpeg("-f lavfi -i sine=440:d=2 " + codec + "-metadata title=One a." + type +
                 " -f lavfi -i sine=441:d=2 -map 1 " + codec + "-metadata title=One b." + type);
  scratch.ffmpeg("-i a." + type +
                 " -c copy -metadata title='Another and a much longer title' -metadata artist=Ann "
                 "retagged." +
                 type);
  const std::string hash = content_hash(scratch / ("a." + type));
  EXPECT_THAT(hash, testing::MatchesRegex("[0-9a-f]{64}"));
  EXPECT_EQ(content_hash(scratch / ("a." + type)), hash);
  EXPECT_EQ(content_hash(scratch / ("retagged." + type)), hash);
  EXPECT_NE(read_file(scratch / ("a." + type)), read_file(scratch / ("retagged." + type)));
  EXPECT_NE(content_hash(scratch / ("b." + type)), hash);
}

INSTANTIATE_TEST_SUITE_P(Formats, ContentHashOf,
                         testing::Values("mp3", "ogg", "flac", "m4a", "opus", "wav"),
                         [](const auto& test) { return test.param; });

TEST(ContentHash, TagsAtTheEndOfAnMp3AreNoAudio) {
  const ScratchFolder scratch;
  scratch.ffmpeg("-f lavfi -i sine=440:d=2 a.mp3");
  const std::string bytes = read_file(scratch / "a.mp3");
  std::string id3v1 = "TAGSome title";
  id3v1.resize(128, '\0');
  write_file(scratch / "id3v1.mp3", bytes + id3v1);
  // APEv2 footer (the tag's size with the footer, one item), as gain scanners leave it.
  std::string item;
  append_number(item, 3, 4);
  append_number(item, 0, 4);
  item += std::string("KEY\0abc", 7);
  std::string ape = item + "APETAGEX";
  for (const std::uint32_t value : {2000U, static_cast<std::uint32_t>(item.size()) + 32U, 1U, 0U}) {
    append_number(ape, value, 4);
  }
  ape.resize(ape.size() + 8, '\0');
  write_file(scratch / "ape.mp3", bytes + ape);
  const std::string hash = content_hash(scratch / "a.mp3");
  EXPECT_EQ(content_hash(scratch / "id3v1.mp3"), hash);
  EXPECT_EQ(content_hash(scratch / "ape.mp3"), hash);
}

TEST(ContentHash, FileWithoutAudioHasNone) {
  const ScratchFolder scratch;
  write_file(scratch / "text.mp3", "no sound\n");
  EXPECT_THROW(content_hash(scratch / "text.mp3"), AudioError);
  EXPECT_THROW(content_hash(scratch / "missing.mp3"), AudioError);
}

}  // namespace
}  // namespace spintag::fingerprint::audio_test
