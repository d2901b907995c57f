// tests/unit/config/settings_test.cpp - what config/settings.h promises: values, origins, and
// errors with their places.
#include "config/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace spintag::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
constexpr const char* kOtherSecret = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";

class SettingsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "spintag-config-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    for (const char* variable : {"SPINTAG_CONFIG", "SPINTAG_DATABASE_URL", "SPINTAG_TOKEN"}) {
      unsetenv(variable);
    }
  }
  void TearDown() override {
    for (const char* variable : {"SPINTAG_CONFIG", "SPINTAG_DATABASE_URL", "SPINTAG_TOKEN"}) {
      unsetenv(variable);
    }
    std::filesystem::remove_all(folder_);
  }

  std::filesystem::path write(const std::string& text, const std::string& name = "radio.toml") {
    const auto file = folder_ / name;
    std::ofstream(file) << text;
    return file;
  }
  Loaded load_text(const std::string& text) { return load(write(text)); }

  /// The message that loading `text` ends in, without the folder's name.
  std::string fault_of(const std::string& text) {
    const auto file = write(text);
    try {
      load(file);
    } catch (const ConfigError& error) {
      std::string message = error.what();
      const std::string folder = folder_.string() + "/";
      for (std::size_t at; (at = message.find(folder)) != std::string::npos;) {
        message.erase(at, folder.size());
      }
      return message;
    }
    return "(no error)";
  }

  std::filesystem::path folder_;
};

Origin origin(const Loaded& loaded, const std::string& key) {
  const auto found = std::ranges::find(loaded.origins, key, &Origin::key);
  return found == loaded.origins.end() ? Origin{key, "(missing)", "(missing)"} : *found;
}

std::string sink_text(const std::string& more = {}) {
  return "[[station]]\nname = \"wjrh\"\nurl = \"http://radio.example/live\"\n[[sink]]\nname = "
         "\"site\"\n"
         "url = \"https://site.example/hook\"\nsecrets = [\"" +
         std::string(kSecret) + "\"]\n" + more;
}

TEST_F(SettingsTest, EmptyFileGivesTheDefaults) {
  const Loaded loaded = load_text("");
  const Settings defaults;
  EXPECT_EQ(loaded.settings.web_listen, "127.0.0.1:8750");
  EXPECT_EQ(loaded.settings.device, "auto");
  EXPECT_EQ(loaded.settings.min_confidence, defaults.min_confidence);
  EXPECT_THAT(loaded.settings.stations, IsEmpty());
  EXPECT_EQ(origin(loaded, "web.listen").origin, "default");
  EXPECT_EQ(origin(loaded, "recognition.threshold").value, "0.999");
  EXPECT_EQ(origin(loaded, "melody.from_recordings").value, "true");
  EXPECT_EQ(origin(loaded, "melody.listen").value, "true");
  EXPECT_EQ(origin(loaded, "melody.threshold").value, "0.9");
}

TEST_F(SettingsTest, ExampleFileLoadsAndNamesEveryKeyWithItsDefault) {
  const auto file = std::filesystem::path(SPINTAG_SOURCE_DIR) / "config/spintag.toml";
  const Loaded example = load(file);
  const Loaded defaults = load_text("");
  ASSERT_EQ(example.origins.size(), defaults.origins.size());
  for (const Origin& one : defaults.origins) {
    EXPECT_EQ(origin(example, one.key).value, one.value) << one.key;
    if (one.key == "web.token") continue;  // commented out: it has no default worth having
    EXPECT_THAT(origin(example, one.key).origin, HasSubstr("spintag.toml:"));
  }
}

TEST_F(SettingsTest, CommentedPartsOfTheExampleLoadToo) {
  std::ifstream stream(std::filesystem::path(SPINTAG_SOURCE_DIR) / "config/spintag.toml");
  std::string text;
  bool inside = false;  // from "# [[station]]" on, a line that starts with "# " is a setting
  for (std::string line; std::getline(stream, line);) {
    inside = inside || line.starts_with("# [[station]]");
    if (!inside) continue;
    const bool prose = line.starts_with("# One [[") || line.starts_with("# secret_file");
    if (line.starts_with("# ") && !prose && !line.starts_with("#  ")) text += line.substr(2) + "\n";
  }
  const std::size_t at = text.find("whsec_...");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 9, kSecret);
  const Loaded loaded = load_text(text);
  ASSERT_EQ(loaded.settings.stations.size(), 1U);
  ASSERT_EQ(loaded.settings.sinks.size(), 1U);
  const Sink defaults;
  EXPECT_EQ(loaded.settings.sinks[0].max_age, defaults.max_age);
  EXPECT_EQ(loaded.settings.sinks[0].timeout, defaults.timeout);
  EXPECT_THAT(loaded.settings.sinks[0].events, IsEmpty());
}

TEST_F(SettingsTest, EveryKeyArrives) {
  const Loaded loaded = load_text(
      "[database]\nurl = \"postgresql://a:b@host/db\"\nstate_directory = \"/srv/spintag\"\n"
      "[recognition]\ndevice = \"cuda:1\"\nthreshold = 0.99\n"
      "[melody]\nfrom_recordings = false\nlisten = false\nthreshold = 0.8\n"
      "[web]\nlisten = \"0.0.0.0:80\"\ntoken = \"0123456789abcdef\"\n[log]\nlevel = \"debug\"\n" +
      sink_text("stations = [\"wjrh\"]\nevents = [\"track.started\"]\nmax_age_s = 30\ntimeout_s = "
                "2.5\n"));
  const Settings& settings = loaded.settings;
  EXPECT_EQ(settings.database_url, "postgresql://a:b@host/db");
  EXPECT_EQ(settings.state_directory, "/srv/spintag");
  EXPECT_EQ(settings.device, "cuda:1");
  EXPECT_DOUBLE_EQ(settings.min_confidence, 0.99);
  EXPECT_FALSE(settings.melodies_of_recordings);
  EXPECT_FALSE(settings.listen_for_melodies);
  EXPECT_DOUBLE_EQ(settings.min_melody_confidence, 0.8);
  EXPECT_EQ(settings.web_listen, "0.0.0.0:80");
  EXPECT_EQ(settings.web_token, "0123456789abcdef");
  EXPECT_EQ(settings.log_level, "debug");
  ASSERT_EQ(settings.stations.size(), 1U);
  EXPECT_EQ(settings.stations[0].title, "wjrh");
  EXPECT_EQ(settings.stations[0].url, "http://radio.example/live");
  ASSERT_EQ(settings.sinks.size(), 1U);
  EXPECT_THAT(settings.sinks[0].secrets, ElementsAre(kSecret));
  EXPECT_THAT(settings.sinks[0].stations, ElementsAre("wjrh"));
  EXPECT_THAT(settings.sinks[0].events, ElementsAre("track.started"));
  EXPECT_EQ(settings.sinks[0].max_age, std::chrono::seconds(30));
  EXPECT_EQ(settings.sinks[0].timeout, std::chrono::milliseconds(2500));
}

TEST_F(SettingsTest, NoSecretIsInTheOrigins) {
  const Loaded loaded = load_text(
      "[database]\nurl = \"postgresql://a:hidden1@host/db\"\n[web]\ntoken = "
      "\"hidden2-hidden2-hidden2\"\n" +
      sink_text());
  for (const Origin& one : loaded.origins) {
    EXPECT_THAT(one.value, AllOf(Not(HasSubstr("hidden")), Not(HasSubstr("whsec_")))) << one.key;
  }
  EXPECT_EQ(origin(loaded, "database.url").value, "postgresql://a:***@host/db");
  EXPECT_EQ(origin(loaded, "sink.site.secrets").value, "***");
}

TEST_F(SettingsTest, EnvironmentWinsOverFileAndCommandLineOverBoth) {
  const auto file = write("[database]\nurl = \"postgresql://file/db\"\n[log]\nlevel = \"debug\"\n");
  setenv("SPINTAG_DATABASE_URL", "postgresql://environment/db", 1);
  const Loaded loaded = load(file);
  EXPECT_EQ(loaded.settings.database_url, "postgresql://environment/db");
  EXPECT_EQ(origin(loaded, "database.url").origin, "environment SPINTAG_DATABASE_URL");
  EXPECT_EQ(origin(loaded, "log.level").origin, file.string() + ":4");
  Overrides overrides;
  overrides.database_url = "postgresql://line/db";
  overrides.log_level = "error";
  const Loaded overridden = load(file, overrides);
  EXPECT_EQ(overridden.settings.database_url, "postgresql://line/db");
  EXPECT_EQ(overridden.settings.log_level, "error");
  EXPECT_EQ(origin(overridden, "log.level").origin, "command line");
}

TEST_F(SettingsTest, EnvironmentNamesTheFile) {
  setenv("SPINTAG_CONFIG", write("[log]\nlevel = \"warn\"\n", "other.toml").c_str(), 1);
  EXPECT_EQ(load({}).settings.log_level, "warn");
}

TEST_F(SettingsTest, UnknownKeyIsNamedWithLineAndNearestKnownKey) {
  EXPECT_EQ(fault_of("[recognition]\n\ntreshold = 0.9\n"),
            "radio.toml:3: recognition.treshold: unknown key (did you mean threshold?)");
  EXPECT_EQ(fault_of("[loggin]\nlevel = \"info\"\n"),
            "radio.toml:1: loggin: unknown key (known: database, recognition, melody, web, log, "
            "station, sink)");
  EXPECT_THAT(fault_of("[[station]]\nname = \"a\"\nurl = \"http://h/\"\ntitel = \"A\"\n"),
              HasSubstr("radio.toml:4: station.titel: unknown key (did you mean title?)"));
}

TEST_F(SettingsTest, EveryFaultIsListedOneALine) {
  const std::string message = fault_of(
      "[recognition]\nthreshold = 7\ndevice = \"gpu\"\n[web]\nlisten = 8750\n[[station]]\nname = "
      "\"A b\"\n");
  EXPECT_EQ(std::ranges::count(message, '\n'), 4);
  EXPECT_THAT(message, HasSubstr("radio.toml:2: recognition.threshold: must lie between 0 and 1"));
  EXPECT_THAT(message, HasSubstr("radio.toml:3: recognition.device: \"gpu\" is not known"));
  EXPECT_THAT(message,
              HasSubstr("radio.toml:5: web.listen: wants text, not a number (write \"8750\")"));
  EXPECT_THAT(message, HasSubstr("radio.toml:7: station.name: \"A b\" may hold"));
  EXPECT_THAT(message, HasSubstr("radio.toml:6: station.url: is missing"));
}

TEST_F(SettingsTest, DeviceIsAutoCpuOrANumberedCard) {
  for (const char* device : {"cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:99999999999", "CPU", ""}) {
    EXPECT_THAT(fault_of("[recognition]\ndevice = \"" + std::string(device) + "\"\n"),
                HasSubstr("radio.toml:2: recognition.device: \"" + std::string(device) +
                          "\" is not known"));
  }
}

TEST_F(SettingsTest, SyntaxErrorNamesItsLine) {
  EXPECT_THAT(fault_of("[log]\nlevel = \"info\nx = 1\n"),
              HasSubstr("radio.toml:2: not valid TOML: "));
}

TEST_F(SettingsTest, WrongTypesSayWhatToWrite) {
  EXPECT_THAT(fault_of("[melody]\nlisten = \"no\"\n"),
              HasSubstr("melody.listen: wants true or false"));
  EXPECT_THAT(fault_of("[melody]\nthreshold = 1\n"), HasSubstr("must lie between 0 and 1"));
  EXPECT_THAT(fault_of("[recognition]\nthreshold = \"0.9\"\n"),
              HasSubstr("wants a number, not text"));
  EXPECT_THAT(fault_of("[station]\nname = \"a\"\n"),
              HasSubstr("radio.toml:1: station: there may be several (write [[station]]"));
  EXPECT_THAT(fault_of("web = 3\n"), HasSubstr("radio.toml:1: web: is a table (write [web]"));
  EXPECT_THAT(fault_of(sink_text("stations = \"wjrh\"\n")),
              HasSubstr("sink.stations: wants a list of texts, not text (write [\"wjrh\"])"));
  EXPECT_THAT(fault_of(sink_text("events = [\"track.ended\", 4]\n")),
              HasSubstr("wants text as each item"));
}

TEST_F(SettingsTest, NamesMustDifferAndBeKnown) {
  const std::string twice =
      "[[station]]\nname = \"a\"\nurl = \"http://h/1\"\n[[station]]\nname = \"a\"\nurl = "
      "\"http://h/2\"\n";
  EXPECT_EQ(fault_of(twice),
            "radio.toml:5: station.name: there is another station \"a\" (names must differ)");
  EXPECT_THAT(
      fault_of(sink_text("stations = [\"wjhr\"]\n")),
      HasSubstr("radio.toml:8: sink.stations: no station is named \"wjhr\" (did you mean wjrh?)"));
  EXPECT_THAT(fault_of(sink_text("events = [\"track.start\"]\n")),
              HasSubstr("did you mean track.started?"));
}

TEST_F(SettingsTest, SinkMayStandBeforeItsStation) {
  const std::string sink =
      "[[sink]]\nname = \"s\"\nurl = \"http://h/\"\nstations = [\"wjrh\"]\nsecrets = [\"" +
      std::string(kSecret) + "\"]\n";
  EXPECT_EQ(
      load_text(sink + "[[station]]\nname = \"wjrh\"\nurl = \"http://h/\"\n").settings.sinks.size(),
      1U);
}

TEST_F(SettingsTest, UrlsMustBeHttp) {
  for (const char* url :
       {"file:///etc/passwd", "ftp://h/x", "radio.example/live", "http://", "https:///x"}) {
    EXPECT_THAT(fault_of("[[station]]\nname = \"a\"\nurl = \"" + std::string(url) + "\"\n"),
                HasSubstr("radio.toml:3: station.url: "))
        << url;
  }
  EXPECT_THAT(fault_of("[database]\nurl = \"mysql://h/db\"\n"), HasSubstr("not a PostgreSQL URL"));
}

TEST_F(SettingsTest, OpenListenNeedsAToken) {
  EXPECT_THAT(fault_of("[web]\nlisten = \"0.0.0.0:8750\"\n"),
              AllOf(HasSubstr("radio.toml:2: web.listen: 0.0.0.0:8750 can be reached"),
                    HasSubstr("web.token")));
  EXPECT_THAT(fault_of("[web]\nlisten = \"[::]:8750\"\n"), HasSubstr("can be reached"));
  EXPECT_EQ(load_text("[web]\nlisten = \"[::1]:8750\"\n").settings.web_listen, "[::1]:8750");
  EXPECT_EQ(load_text("[web]\nlisten = \"\"\n").settings.web_listen, "");
  setenv("SPINTAG_TOKEN", "a-long-enough-token", 1);
  EXPECT_EQ(load_text("[web]\nlisten = \"0.0.0.0:8750\"\n").settings.web_token,
            "a-long-enough-token");
}

TEST_F(SettingsTest, ListenWantsAnAddressAndAPort) {
  for (const char* listen :
       {"8750", "127.0.0.1", "127.0.0.1:99999", "::1:80", "radio.example:80", "1.2.3.4:", ":80"}) {
    EXPECT_THAT(fault_of("[web]\nlisten = \"" + std::string(listen) + "\"\n"),
                HasSubstr("web.listen: \""))
        << listen;
  }
  const ListenAddress six = parse_listen("[::1]:80");
  EXPECT_EQ(six.host, "::1");
  EXPECT_EQ(six.port, 80);
  EXPECT_TRUE(six.loopback);
  EXPECT_TRUE(parse_listen("127.3.2.1:1").loopback);
  EXPECT_TRUE(parse_listen("localhost:1").loopback);
  EXPECT_FALSE(parse_listen("192.0.2.1:1").loopback);
}

TEST_F(SettingsTest, WebhookIsAlwaysSigned) {
  const std::string sink = "[[sink]]\nname = \"s\"\nurl = \"http://h/\"\n";
  EXPECT_THAT(fault_of(sink), HasSubstr("radio.toml:1: sink.secrets: is missing"));
  EXPECT_THAT(fault_of(sink + "secrets = []\n"), HasSubstr("sink.secrets: is empty"));
  EXPECT_THAT(fault_of(sink + "secrets = [\"whsec_c2hvcnQ=\"]\n"),
              HasSubstr("not a webhook secret"));
  EXPECT_THAT(fault_of(sink + "secrets = [\"swordfish-swordfish\"]\n"),
              Not(HasSubstr("swordfish")));
}

TEST_F(SettingsTest, SecretsComeFromAFileNextToTheSettings) {
  write("# old and new\n" + std::string(kSecret) + "\n" + kOtherSecret + "  # since May\n",
        "s.secret");
  const std::string sink = "[[sink]]\nname = \"s\"\nurl = \"http://h/\"\nsecret_file = \"";
  EXPECT_THAT(load_text(sink + "s.secret\"\n").settings.sinks.at(0).secrets,
              ElementsAre(kSecret, kOtherSecret));
  EXPECT_THAT(
      fault_of(sink + "gone.secret\"\n"),
      HasSubstr("radio.toml:4: sink.secret_file: gone.secret cannot be read: No such file"));
}

TEST_F(SettingsTest, TokenComesFromAFile) {
  write("0123456789abcdef0123\n", "web.token");
  const Loaded loaded = load_text("[web]\nlisten = \"0.0.0.0:1\"\ntoken_file = \"web.token\"\n");
  EXPECT_EQ(loaded.settings.web_token, "0123456789abcdef0123");
  EXPECT_EQ(origin(loaded, "web.token").value, "***");
}

TEST_F(SettingsTest, MissingFileAndDirectoryAreNamed) {
  EXPECT_THROW(load(folder_ / "none.toml"), ConfigError);
  try {
    load(folder_);
    FAIL() << "a directory was read";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is a directory, not a file"));
  }
}

}  // namespace
}  // namespace spintag::config
