// tests/unit/daemon/spool_test.cpp - tests daemon/spool.h.
#include "daemon/spool.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace spintag::daemon {
namespace {

namespace fs = std::filesystem;

class SpoolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "spintag-spool-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    file_ = folder_ / "plays.spool";
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::vector<std::string> replay_all(Spool& spool) {
    std::vector<std::string> records;
    spool.replay([&](const std::string& record) { records.push_back(record); });
    return records;
  }

  fs::path folder_;
  fs::path file_;
};

using Records = std::vector<std::string>;

TEST_F(SpoolTest, GivesBackWhatItTookInOrderOnce) {
  Spool spool(file_);
  EXPECT_TRUE(spool.empty());
  spool.append("one");
  spool.append("");
  spool.append("three {\"x\": 1}");
  EXPECT_FALSE(spool.empty());
  EXPECT_EQ(replay_all(spool), (Records{"one", "", "three {\"x\": 1}"}));
  EXPECT_TRUE(spool.empty());
  EXPECT_EQ(replay_all(spool), Records{});
  EXPECT_EQ(spool.damaged(), 0U);
}

TEST_F(SpoolTest, OutlivesItsProcess) {
  {
    Spool spool(file_);
    spool.append("one");
  }
  Spool spool(file_);
  spool.append("two");
  EXPECT_EQ(replay_all(spool), (Records{"one", "two"}));
}

TEST_F(SpoolTest, ARecordThatCannotBeAppliedStaysAndThoseBeforeItDoNotComeAgain) {
  {
    Spool spool(file_);
    for (const char* record : {"one", "two", "three"}) spool.append(record);
    int applied = 0;
    EXPECT_THROW(spool.replay([&](const std::string&) {
      if (++applied == 2) throw std::runtime_error("the database went away");
    }),
                 std::runtime_error);
    EXPECT_FALSE(spool.empty());
  }
  Spool again(file_);  // also after a restart
  EXPECT_EQ(replay_all(again), (Records{"two", "three"}));
}

TEST_F(SpoolTest, ATornLastLineIsCutOffAndCounted) {
  {
    Spool spool(file_);
    spool.append("one");
    spool.append("two");
  }
  fs::resize_file(file_, fs::file_size(file_) - 2);
  Spool spool(file_);
  EXPECT_EQ(spool.damaged(), 1U);
  spool.append("three");
  EXPECT_EQ(replay_all(spool), (Records{"one", "three"}));
}

TEST_F(SpoolTest, ALineWithAWrongChecksumIsLeftOutAndCounted) {
  {
    Spool spool(file_);
    spool.append("one");
    spool.append("two");
    spool.append("three");
  }
  std::fstream file(file_, std::ios::in | std::ios::out | std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  file.clear();
  file.seekp(static_cast<std::streamoff>(text.find("two")));
  file.put('T');
  file.close();
  Spool spool(file_);
  EXPECT_EQ(replay_all(spool), (Records{"one", "three"}));
  EXPECT_EQ(spool.damaged(), 1U);
}

TEST_F(SpoolTest, RecordsAfterAReplayAreNotTakenForReplayed) {
  {
    Spool spool(file_);
    spool.append("a long record, so that the mark of the first round lies far on");
    replay_all(spool);
    spool.append("b");
  }
  Spool spool(file_);
  EXPECT_EQ(replay_all(spool), Records{"b"});
}

TEST_F(SpoolTest, RefusesToFillTheDisk) {
  Spool spool(file_, 64);
  spool.append(std::string(40, 'x'));
  EXPECT_THROW(spool.append(std::string(40, 'y')), SpoolError);
  EXPECT_EQ(replay_all(spool).size(), 1U);
  spool.append("there is room again");
}

TEST_F(SpoolTest, SaysWhichFileCannotBeOpened) {
  try {
    Spool spool(folder_ / "missing" / "plays.spool");
    FAIL() << "opened";
  } catch (const SpoolError& error) {
    EXPECT_NE(std::string(error.what()).find("missing/plays.spool"), std::string::npos);
  }
}

}  // namespace
}  // namespace spintag::daemon
