// tests/integration/commands_fixture.h - a catalogue of made songs for a suite of tests.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "db/private_cluster.h"
#include "tests/integration/spintag_process.h"

namespace spintag::test {

/// Names of an object's members, in order, with commas between.
std::string names_of(const nlohmann::ordered_json& object);

/// The lines that have this "event".
std::vector<nlohmann::ordered_json> events(const Finished& finished, const std::string& event);

/// A PostgreSQL server of the tests' own that asks for a password.
class PasswordServer {
 public:
  PasswordServer();
  ~PasswordServer();

  std::string url(const std::string& password = "right",
                  const std::string& database = "postgres") const;
  void make_database(const std::string& name) const;
  void start();
  void kill();  ///< SIGKILL to the postmaster and to all that it started

 private:
  std::string as_server(const std::string& command) const;

  ScratchFolder folder_{"server"};
};

/// One for all tests, started when the first asks for it and killed after the last.
PasswordServer& shared_server();

/// A folder with a state directory in it, and runs of spintag that know nothing else.
class Household {
 public:
  enum class Database { embedded, on_shared_server };
  explicit Household(const std::string& name, Database database = Database::embedded);

  const std::filesystem::path& path() const { return folder_.path(); }
  std::filesystem::path state() const { return folder_.path() / "state" / "spintag"; }
  const std::string& database_url() const { return database_url_; }  ///< empty if it is embedded
  Environment environment() const;

  /// Keeps the private cluster running, so that each run need not start and stop it.
  void keep_cluster_running();

  std::unique_ptr<Child> start(std::vector<std::string> arguments,
                               const std::filesystem::path& input = "/dev/null") const;
  Finished run(std::vector<std::string> arguments,
               const std::filesystem::path& input = "/dev/null") const;
  /// `catalog list --json`.
  std::vector<nlohmann::ordered_json> catalogue() const;

 private:
  ScratchFolder folder_;
  std::string database_url_;
  std::unique_ptr<db::PrivateCluster> cluster_;
};

/// Songs of `seconds` each, song-0.wav, song-1.wav, ..., with seeds from `first_seed`.
void write_songs(const std::filesystem::path& folder, int songs, double seconds,
                 unsigned first_seed);

/// `clip` = `seconds` of `song` from `from_s`.
void cut(const std::filesystem::path& song, double from_s, double seconds,
         const std::filesystem::path& clip);

inline constexpr int kSongs = 6;
inline constexpr double kSongSeconds = 30;

/// Songs 0 to kSongs - 1 are in the catalogue; made once for all tests.
class CataloguedSongs : public ::testing::Test {
 protected:
  static void SetUpTestSuite();

  static std::filesystem::path music() { return house_->path() / "music"; }
  static std::filesystem::path song(int number) {
    return music() / ("song-" + std::to_string(number) + ".wav");
  }
  /// `name` in a folder that no other test has.
  static std::filesystem::path fresh(const std::string& name);

  static inline Household* house_ = nullptr;
  static inline Finished first_ingest_;  ///< what `ingest --json MUSIC` said
};

}  // namespace spintag::test
