// tests/integration/commands_fixture.cpp - a catalogue of made songs for a suite of tests.
#include "tests/integration/commands_fixture.h"

#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "tests/integration/made_music.h"

namespace spintag::test {

namespace fs = std::filesystem;

std::string names_of(const nlohmann::ordered_json& object) {
  std::string names;
  for (const auto& [name, value] : object.items()) names += (names.empty() ? "" : ",") + name;
  return names;
}

std::vector<nlohmann::ordered_json> events(const Finished& finished, const std::string& event) {
  std::vector<nlohmann::ordered_json> found;
  for (auto& line : finished.lines()) {
    if (line.at("event") == event) found.push_back(line);
  }
  return found;
}

namespace {

std::unique_ptr<Household> catalogued_house;
std::unique_ptr<PasswordServer> server;

/// What all tests share ends with them, not with the process.
class SharedThings : public ::testing::Environment {
 public:
  void TearDown() override {
    catalogued_house.reset();
    server.reset();
  }
};

const auto* const shared_things = ::testing::AddGlobalTestEnvironment(new SharedThings);

}  // namespace

PasswordServer& shared_server() {
  if (!server) server = std::make_unique<PasswordServer>();
  return *server;
}

Household::Household(const std::string& name, Database database) : folder_(name) {
  std::ofstream(folder_.path() / "spintag.toml") << "# all defaults\n";
  if (database == Database::embedded) return;
  const std::string own = folder_.path().filename().string();
  shared_server().make_database(own);
  database_url_ = shared_server().url("right", own);
}

Environment Household::environment() const {
  Environment variables{{"XDG_STATE_HOME", (folder_.path() / "state").string()},
                        {"SPINTAG_CONFIG", (folder_.path() / "spintag.toml").string()}};
  if (!database_url_.empty()) variables["SPINTAG_DATABASE_URL"] = database_url_;
  return variables;
}

void Household::keep_cluster_running() { cluster_ = std::make_unique<db::PrivateCluster>(state()); }

std::unique_ptr<Child> Household::start(std::vector<std::string> arguments,
                                        const fs::path& input) const {
  arguments.insert(arguments.begin(), SPINTAG_PROGRAM);
  return std::make_unique<Child>(arguments, environment(), input);
}

Finished Household::run(std::vector<std::string> arguments, const fs::path& input) const {
  return start(std::move(arguments), input)->finish();
}

std::vector<nlohmann::ordered_json> Household::catalogue() const {
  const Finished listed = run({"catalog", "list", "--json"});
  EXPECT_EQ(listed.status, 0) << listed.err;
  return listed.lines();
}

void write_songs(const fs::path& folder, int songs, double seconds, unsigned first_seed) {
  fs::create_directories(folder);
  for (int number = 0; number < songs; ++number) {
    write_song(folder / ("song-" + std::to_string(number) + ".wav"),
               first_seed + static_cast<unsigned>(number), seconds);
  }
}

void cut(const fs::path& song, double from_s, double seconds, const fs::path& clip) {
  shell("ffmpeg -v error -y -ss " + std::to_string(from_s) + " -i " + in_quotes(song) + " -t " +
        std::to_string(seconds) + " " + in_quotes(clip));
}

void CataloguedSongs::SetUpTestSuite() {
  if (catalogued_house) return;
  catalogued_house = std::make_unique<Household>("commands");
  house_ = catalogued_house.get();
  house_->keep_cluster_running();
  write_songs(music(), kSongs, kSongSeconds, 100);
  first_ingest_ = house_->run({"ingest", "--json", music()});
  ASSERT_EQ(first_ingest_.status, 0) << first_ingest_.err;
}

fs::path CataloguedSongs::fresh(const std::string& name) {
  static int number = 0;
  const fs::path folder = house_->path() / ("fresh-" + std::to_string(number++));
  fs::create_directories(folder);
  return folder / name;
}

// PostgreSQL refuses to run as root, so root hands it to Debian's user for it.
std::string PasswordServer::as_server(const std::string& command) const {
  const std::string find = "PATH=$PATH:$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1); ";
  if (::geteuid() != 0) return find + command;
  return "runuser -u postgres -- bash -c " + in_quotes(find + command);
}

PasswordServer::PasswordServer() {
  const fs::path data = folder_.path() / "data";
  std::ofstream(folder_.path() / "password") << "right\n";
  fs::permissions(folder_.path(), fs::perms::all);
  shell(as_server("initdb -D " + data.string() +
                  " -U alice --auth=scram-sha-256 --no-sync --pwfile=" +
                  (folder_.path() / "password").string() + " >/dev/null"));
  start();
}

PasswordServer::~PasswordServer() { kill(); }

// What a killed server leaves behind needs a moment to go; until then the next one does not start.
void PasswordServer::start() {
  const std::string here = folder_.path().string();
  shell(as_server("for attempt in $(seq 100); do pg_ctl -D " + here + "/data -w -l " + here +
                  "/log -o \"-c listen_addresses= -k " + here +
                  " -c fsync=off\" start >/dev/null 2>&1 && exit 0; sleep 0.1; done; cat " + here +
                  "/log >&2; exit 1"));
}

void PasswordServer::make_database(const std::string& name) const {
  shell("PGPASSWORD=right createdb -h " + folder_.path().string() + " -U alice " + name);
}

void PasswordServer::kill() {
  std::ifstream in(folder_.path() / "data" / "postmaster.pid");
  pid_t postmaster = 0;
  in >> postmaster;
  if (postmaster <= 1) return;
  std::ifstream children("/proc/" + std::to_string(postmaster) + "/task/" +
                         std::to_string(postmaster) + "/children");
  ::kill(postmaster, SIGKILL);
  for (pid_t child = 0; children >> child;) {
    if (child > 1) ::kill(child, SIGKILL);
  }
}

std::string PasswordServer::url(const std::string& password, const std::string& database) const {
  return "postgresql://alice:" + password + "@/" + database + "?host=" + folder_.path().string();
}

}  // namespace spintag::test
