// tests/unit/db/connection_test.cpp - what happens when PostgreSQL is away, refuses, or belongs to
// somebody else.
#include <atomic>
#include <fstream>
#include <thread>

#include "db/server_address.h"
#include "tests/unit/db/store_test.h"

namespace spintag::db {
namespace {

using Kind = StoreError::Kind;

/// Kind and message of what `call` throws.
template <class Call>
std::pair<Kind, std::string> error_of(Call&& call) {
  try {
    call();
  } catch (const StoreError& error) {
    return {error.kind(), error.what()};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Reconnect : public StoreTest {
 protected:
  /// Ends every other session but `direct_`.
  void hang_up() {
    direct_.query(
        "select pg_terminate_backend(pid, 10000) from pg_stat_activity"
        " where pid <> pg_backend_pid() and backend_type = 'client backend'");
  }
};

TEST_F(Reconnect, AConnectionLostBetweenCallsIsMadeAgain) {
  store_.put_track(made_up_track(1, {}));
  hang_up();
  EXPECT_EQ(store_.sizes().tracks, 1);
  hang_up();
  EXPECT_EQ(store_.put_track(made_up_track(2, {})).what, PutResult::What::added);
}

TEST_F(Reconnect, AConnectionLostInACallThrowsLeavesNothingAndTheNextCallWorks) {
  Play play;
  play.station = "wjrh";
  const auto [kind, message] = error_of([&] {
    store_.begin_play(play, [&](const Play&) {
      hang_up();
      OutboxEvent event;
      event.station = "wjrh";
      return std::vector{event};
    });
  });
  EXPECT_EQ(kind, Kind::unreachable);
  EXPECT_TRUE(contains(message, "lost PostgreSQL at")) << message;
  EXPECT_EQ(play.play_id, 0);
  EXPECT_EQ(count("plays"), 0);
  EXPECT_GT(store_.begin_play(play, {}), 0);
}

TEST_F(Reconnect, ASnapshotThatLosesItsConnectionDoesNotGoOnElsewhere) {
  bool went_on = false;
  const auto [kind, message] = error_of([&] {
    store_.with_snapshot([&] {
      hang_up();
      store_.newest_change();
      went_on = true;
    });
  });
  EXPECT_EQ(kind, Kind::unreachable) << message;
  EXPECT_FALSE(went_on);
  EXPECT_EQ(store_.newest_change(), 0);
}

TEST_F(Reconnect, AStreamThatIsCutThrowsAndTheStoreGoesOn) {
  for (int n = 0; n < 200; ++n) {
    const auto packed = random_bytes(20'000, static_cast<unsigned>(n));
    store_.put_track(made_up_track(n, packed));
  }
  int seen = 0;
  const auto [kind, message] = error_of([&] {
    store_.for_each_fingerprint("broadcast", 3, [&](Fingerprint&&) {
      if (++seen == 1) hang_up();
    });
  });
  EXPECT_EQ(kind, Kind::unreachable) << message;
  EXPECT_LT(seen, 200);
  EXPECT_EQ(store_.sizes().tracks, 200);
}

class Refusal : public StoreTest {};

TEST_F(Refusal, AServerThatIsNotThereIsNamedWithoutThePassword) {
  const auto [kind, message] =
      error_of([] { Store store("postgresql://wjrh:hunter2@127.0.0.1:1/radio"); });
  EXPECT_EQ(kind, Kind::unreachable);
  EXPECT_TRUE(contains(message, "127.0.0.1:1, database radio, user wjrh")) << message;
  EXPECT_TRUE(contains(message, "is PostgreSQL running there?")) << message;
  EXPECT_FALSE(contains(message, "hunter2")) << message;
}

TEST_F(Refusal, AUrlThatCannotBeReadDoesNotShowItsPassword) {
  for (const char* url : {"postgresql://wjrh:hunter2@host/radio?prot=1", "password=hunter2 oops",
                          "postgresql://wjrh:hunter2@[::1/radio", "hunter2"}) {
    const auto [kind, message] = error_of([&] { Store store{url}; });
    EXPECT_EQ(kind, Kind::refused) << message;
    EXPECT_FALSE(contains(message, "hunter2")) << message;
  }
}

TEST_F(Refusal, AnUnknownDatabaseSaysHowToMakeIt) {
  std::string url = url_;
  url.replace(url.find("/spintag?"), 9, "/nowhere?");
  const auto [kind, message] = error_of([&] { Store store(url); });
  EXPECT_EQ(kind, Kind::unreachable);
  EXPECT_TRUE(contains(message, "\"nowhere\" does not exist")) << message;
  EXPECT_TRUE(contains(message, "createdb")) << message;
}

TEST_F(Refusal, AWrongPasswordIsUnreachableAndNotRepeated) {
  // One role of the shared server is asked for its password; pg_hba.conf is read from the top.
  const std::filesystem::path hba =
      SharedCluster::get().state_directory() / "postgres/data/pg_hba.conf";
  std::ofstream(hba) << "local all alice scram-sha-256\nlocal all all trust\n";
  direct_.query("create role alice login superuser password 'right horse'");
  direct_.query("select pg_reload_conf()");
  const auto url_with = [&](const std::string& password) {
    const std::string host = (hba.parent_path().parent_path() / "run").string();
    return "postgresql://alice" + password + "@/postgres?host=" + host;
  };
  const auto asks_for_password = [&] {
    try {
      Store store(url_with(""));
      return false;
    } catch (const StoreError& error) {
      return contains(error.what(), "no password supplied");
    }
  };
  bool asks = false;
  for (int i = 0; i < 250 && !asks; ++i) {  // the server reads the file when it gets to it
    asks = asks_for_password();
    if (!asks) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ASSERT_TRUE(asks);
  const auto [kind, message] = error_of([&] { Store store(url_with(":wrong%20horse")); });
  EXPECT_EQ(kind, Kind::unreachable);
  EXPECT_TRUE(contains(message, "password authentication failed")) << message;
  EXPECT_TRUE(contains(message, "check user and password")) << message;
  EXPECT_FALSE(contains(message, "wrong horse")) << message;
  EXPECT_NO_THROW(Store{url_with(":right%20horse")});
}

TEST_F(Refusal, TheDatabaseOfANewerSpintagIsLeftAlone) {
  direct_.query("insert into schema_migrations (version, name) values (999, '0999_future')");
  const auto [kind, message] = error_of([&] { Store store(url_); });
  direct_.query("delete from schema_migrations where version = 999");
  EXPECT_EQ(kind, Kind::schema);
  EXPECT_TRUE(contains(message, "version 999")) << message;
  EXPECT_TRUE(contains(message, "newer spintag")) << message;
  EXPECT_NO_THROW(Store{url_});
}

TEST_F(Refusal, ASchemaOfThatNameThatIsNotOursIsLeftAlone) {
  std::string url = url_;
  url.replace(url.find("/spintag?"), 9, "/postgres?");
  Connection other(url);  // makes our schema, then somebody else's in its place
  other.query(
      "drop schema spintag cascade; create schema spintag; create table spintag.guests (n int)");
  const auto [kind, message] = error_of([&] { Store store(url); });
  EXPECT_EQ(kind, Kind::schema);
  EXPECT_TRUE(contains(message, "guests")) << message;
  other.query("drop schema spintag cascade");
}

TEST_F(Refusal, StoresThatStartTogetherOnAnEmptyDatabaseMigrateItOnce) {
  std::string url = url_;
  url.replace(url.find("/spintag?"), 9, "/postgres?");
  Connection{url}.query("drop schema spintag cascade");
  std::vector<std::jthread> starters;
  std::atomic<int> good = 0;
  for (int i = 0; i < 4; ++i) {
    starters.emplace_back([&] {
      Store store(url);
      good += store.schema_version() == 1;
    });
  }
  starters.clear();
  EXPECT_EQ(good, 4);
}

TEST_F(Refusal, TheServerAndTheSchemaSayTheirVersions) {
  EXPECT_GE(std::stoi(store_.server_version()), 12);
  EXPECT_EQ(store_.schema_version(), 1);
}

TEST(ConnectionHint, NamesTheMend) {
  EXPECT_TRUE(
      contains(connection_hint("could not translate host name \"x\" to address"), "host name"));
  EXPECT_TRUE(contains(connection_hint("FATAL:  role \"x\" does not exist"), "createuser"));
  EXPECT_TRUE(contains(connection_hint("timeout expired"), "firewall"));
  EXPECT_EQ(connection_hint("something new"), "");
}

TEST(ServerAddress, ADeadNameDoesNotHoldUpAStart) {
  const auto value = [](const ServerAddress& address, const std::string& keyword) {
    for (const auto& [name, text] : address.options) {
      if (name == keyword) return text;
    }
    return std::string();
  };
  EXPECT_EQ(value(parse_address("postgresql://h/d"), "connect_timeout"), "5");
  EXPECT_EQ(value(parse_address("postgresql://h/d?connect_timeout=30"), "connect_timeout"), "30");
}

}  // namespace
}  // namespace spintag::db
