// tests/integration/web_test.cpp - the web server on real sockets: routes, limits, and what must
// not hurt it.
#include "daemon/web.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "daemon/rfc3339.h"
#include "db/store.h"
#include "tests/integration/shared_cluster.h"

namespace spintag::daemon {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

/// A TCP client that waits at most 20 s for anything.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{20, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(port);
    connected_ = connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }
  ~Client() { close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  void send_text(const std::string& text) const {
    (void)!send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
  }
  /// Everything until the server closes; nothing if it does not within the patience.
  std::optional<std::string> read_to_end() const {
    std::string all;
    char bytes[8192];
    ssize_t size = 0;
    while ((size = recv(socket_, bytes, sizeof bytes, 0)) > 0)
      all.append(bytes, static_cast<std::size_t>(size));
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return std::nullopt;
    return all;
  }

 private:
  int socket_;
  bool connected_ = false;
};

struct Reply {
  int status = 0;
  std::string head;
  std::string body;
};

Reply parse(const std::string& text) {
  const std::size_t end = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.") || end == std::string::npos) return {};
  return {std::stoi(text.substr(9, 3)), text.substr(0, end + 2), text.substr(end + 4)};
}

class WebTest : public ::testing::Test {
 protected:
  void SetUp() override {
    params_.listen = "127.0.0.1:0";
    board_.set_stream("wjrh", StreamState::connected);
    start();
  }
  void start() {
    server_.reset();
    server_ = std::make_unique<WebServer>(params_, board_);
  }

  Reply ask(const std::string& method, const std::string& target, const std::string& headers = {},
            const std::string& body = {}) const {
    const Client client(server_->port());
    client.send_text(method + " " + target +
                     " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers + "\r\n" +
                     body);
    return parse(client.read_to_end().value_or(""));
  }
  Reply get(const std::string& target, const std::string& headers = {}) const {
    return ask("GET", target, headers);
  }

  const std::vector<config::Station> stations_ = {{"wjrh", "WJRH", "http://h/"}};
  StatusBoard board_{stations_};
  WebParams params_;
  std::unique_ptr<WebServer> server_;
};

TEST_F(WebTest, EveryRouteAnswers) {
  EXPECT_EQ(get("/healthz").status, 200);
  const Reply page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.head, HasSubstr("Content-Type: text/html; charset=utf-8\r\n"));
  EXPECT_THAT(page.head, HasSubstr("Content-Security-Policy: default-src 'none'"));
  EXPECT_THAT(page.body,
              AllOf(StartsWith("<!DOCTYPE html>"), HasSubstr("WJRH"), HasSubstr("</html>")));
  EXPECT_EQ(Json::parse(get("/api/nowplaying").body).at(0)["station"]["shortcode"], "wjrh");
  EXPECT_EQ(Json::parse(get("/api/nowplaying/wjrh?x=1").body)["station"]["name"], "WJRH");
  const Reply metrics = get("/metrics");
  EXPECT_THAT(metrics.head, HasSubstr("text/plain; version=0.0.4"));
  EXPECT_THAT(metrics.body, HasSubstr("spintag_stream_connected{station=\"wjrh\"} 1"));
}

TEST_F(WebTest, ReadyOnlyWithIndexAndDatabase) {
  EXPECT_EQ(get("/readyz").status, 503);
  board_.set_index(3);
  EXPECT_EQ(get("/readyz").status, 503);
  board_.set_database(true);
  const Reply ready = get("/readyz");
  EXPECT_EQ(ready.status, 200);
  EXPECT_EQ(Json::parse(ready.body)["index_tracks"], 3);
  board_.set_database(false, "gone");
  EXPECT_EQ(get("/readyz").status, 503);
}

TEST_F(WebTest, UnknownPathsAndMethodsAreRefused) {
  for (const char* path :
       {"/none", "/api/nowplaying/none", "/api/stations/none/plays", "/api/stations//plays",
        "/healthz/", "/../etc/passwd", "/api/nowplaying/"}) {
    EXPECT_EQ(get(path).status, 404) << path;
  }
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS"}) {
    const Reply reply = ask(method, "/", "Content-Length: 5\r\n", "hello");
    EXPECT_EQ(reply.status, 405) << method;
    EXPECT_THAT(reply.head, HasSubstr("Allow: GET, HEAD\r\n"));
  }
}

TEST_F(WebTest, HeadHasTheLengthAndNoBody) {
  const Reply head = ask("HEAD", "/healthz");
  EXPECT_EQ(head.status, 200);
  EXPECT_THAT(head.head, HasSubstr("Content-Length: 3\r\n"));
  EXPECT_EQ(head.body, "");
}

TEST_F(WebTest, TokenOpensWhatIsNotHealth) {
  params_.token = "a-long-enough-token";
  start();
  EXPECT_EQ(get("/healthz").status, 200);
  EXPECT_EQ(get("/readyz").status, 503);
  for (const char* path :
       {"/", "/api/nowplaying", "/metrics", "/api/stations/wjrh/plays", "/none"}) {
    const Reply refused = get(path);
    EXPECT_EQ(refused.status, 401) << path;
    EXPECT_THAT(refused.head, HasSubstr("WWW-Authenticate: Basic"));
    EXPECT_THAT(refused.body, Not(HasSubstr("WJRH")));
  }
  for (const char* wrong : {"Bearer a-long-enough-toke", "Bearer a-long-enough-token2", "Bearer",
                            "Bearer ", "Basic ", "a-long-enough-token"}) {
    EXPECT_EQ(get("/metrics", "Authorization: " + std::string(wrong) + "\r\n").status, 401)
        << wrong;
  }
  EXPECT_EQ(get("/metrics", "Authorization: Bearer a-long-enough-token\r\n").status, 200);
  EXPECT_EQ(get("/metrics", "Authorization: bearer a-long-enough-token\r\n").status, 200);
  // printf spintag:a-long-enough-token | base64
  EXPECT_EQ(get("/", "Authorization: Basic c3BpbnRhZzphLWxvbmctZW5vdWdoLXRva2Vu\r\n").status, 200);
}

TEST_F(WebTest, ConnectionStaysOpenForTheNextRequest) {
  const Client client(server_->port());
  client.send_text(
      "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\nGET /none HTTP/1.1\r\nHost: h\r\n\r\n"
      "GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  const std::string all = client.read_to_end().value_or("");
  const std::size_t second = all.find("HTTP/1.1 404");
  ASSERT_NE(second, std::string::npos) << all;
  EXPECT_LT(all.find("HTTP/1.1 200"), second);
  EXPECT_NE(all.find("HTTP/1.1 200", second), std::string::npos);
}

TEST_F(WebTest, GarbageIsAnsweredAndHurtsNobody) {
  for (const std::string& garbage :
       {std::string("\x16\x03\x01\x02\x00 hello tls\r\n\r\n", 20), std::string("GET\r\n\r\n"),
        std::string("\r\n\r\n\r\n\r\n"), std::string("GET / HTTP/9.9\r\n\r\n"),
        std::string(64, '\0') + "\r\n\r\n",
        std::string("GET / HTTP/1.1\r\nContent-Length: -7\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nbad header\r\n\r\n")}) {
    const Client client(server_->port());
    client.send_text(garbage);
    const auto answer = client.read_to_end();
    ASSERT_TRUE(answer) << "the connection must end";
    EXPECT_EQ(parse(*answer).status, 400) << garbage;
  }
  EXPECT_EQ(get("/healthz").status, 200);
}

TEST_F(WebTest, LongHeadsAreRefused) {
  EXPECT_EQ(get("/" + std::string(20'000, 'a')).status, 431);
  EXPECT_EQ(get("/", "X-Long: " + std::string(100'000, 'a') + "\r\n").status, 431);
  EXPECT_EQ(get("/healthz").status, 200);
}

TEST_F(WebTest, SlowClientIsCutAndHoldsUpNobody) {
  params_.request_timeout = 300ms;
  params_.idle_timeout = 300ms;
  start();
  const Client slow(server_->port());
  slow.send_text("GET /healthz HTTP/1.1\r\nHost:");
  const Client idle(server_->port());
  EXPECT_EQ(get("/healthz").status, 200);
  EXPECT_EQ(slow.read_to_end(), "");
  EXPECT_EQ(idle.read_to_end(), "");
}

TEST_F(WebTest, ConnectionsAreLimited) {
  params_.max_connections = 3;
  start();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 3; ++i) {  // an answer shows that the server has taken the connection
    clients.push_back(std::make_unique<Client>(server_->port()));
    clients.back()->send_text("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n");
  }
  EXPECT_EQ(get("/healthz").status, 0) << "one too many is closed without a word";
  clients.clear();
  int status = 0;
  for (int tries = 0; tries < 500 && status != 200; ++tries) {
    std::this_thread::sleep_for(10ms);
    status = get("/healthz").status;
  }
  EXPECT_EQ(status, 200) << "room again when others have gone";
}

TEST_F(WebTest, PortInUseIsNamedWithTheMend) {
  WebParams second = params_;
  second.listen = "127.0.0.1:" + std::to_string(server_->port());
  try {
    const WebServer other(second, board_);
    FAIL() << "two servers on one port";
  } catch (const ListenError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("127.0.0.1"), HasSubstr(std::to_string(server_->port())),
                      HasSubstr("another program uses the port"), HasSubstr("web.listen")));
  }
  EXPECT_EQ(get("/healthz").status, 200);
  server_.reset();
  const WebServer again(second, board_);  // the port is free as soon as the server has gone
  EXPECT_EQ(again.port(), std::stoi(second.listen.substr(10)));
}

TEST_F(WebTest, ForeignAddressIsNamed) {
  WebParams foreign = params_;
  foreign.listen = "192.0.2.1:0";  // TEST-NET-1 belongs to nobody
  EXPECT_THROW(WebServer(foreign, board_), ListenError);
}

TEST_F(WebTest, StopsWithConnectionsOpen) {
  const Client idle(server_->port());
  const Client half(server_->port());
  half.send_text("GET / HT");
  ASSERT_EQ(get("/healthz").status, 200);
  server_.reset();
  EXPECT_EQ(idle.read_to_end(), "");
}

TEST_F(WebTest, PlaysWithoutADatabaseAreUnavailable) {
  EXPECT_EQ(get("/api/stations/wjrh/plays").status, 503);
  params_.database_url = "host=/nonexistent-spintag dbname=x";
  start();
  const Reply reply = get("/api/stations/wjrh/plays");
  EXPECT_EQ(reply.status, 503);
  EXPECT_THAT(reply.body, Not(HasSubstr("nonexistent")))
      << "callers are not told where the database lives";
}

TEST_F(WebTest, PlaysComeFromTheStoreNewestFirst) {
  params_.database_url = testing::shared_cluster_url();
  start();
  db::Store store(params_.database_url);
  const auto base = from_rfc3339("2026-03-01T12:00:00Z").value();
  for (int i = 0; i < 3; ++i) {
    db::Play play;
    play.station = "wjrh";
    play.track_id = 100 + i;
    play.started_at = base + i * 5min;
    play.ended_at = play.started_at + 4min;
    play.detected_at = play.started_at + 3s;
    play.track_json = R"({"title":"T)" + std::to_string(i) + "\"}";
    store.begin_play(play, [](const db::Play&) { return std::vector<db::OutboxEvent>(); });
  }
  const auto titles = [this](const std::string& query) {
    std::string list;
    const Reply reply = get("/api/stations/wjrh/plays" + query);
    EXPECT_EQ(reply.status, 200) << reply.body;
    const Json answer = Json::parse(reply.body);
    for (const Json& play : answer["plays"]) list += play["track"]["title"].get<std::string>();
    return list;
  };
  EXPECT_EQ(titles(""), "T2T1T0");
  EXPECT_EQ(titles("?limit=2"), "T2T1");
  EXPECT_EQ(titles("?from=2026-03-01T12:04:00Z&to=2026-03-01T12:09:00%2B00:00"), "T1");
  EXPECT_EQ(titles("?from=2027-01-01"), "");
  for (const char* wrong :
       {"?from=yesterday", "?to=", "?limit=0", "?limit=1001", "?limit=-1", "?limit=2x"}) {
    EXPECT_EQ(get("/api/stations/wjrh/plays" + std::string(wrong)).status, 400) << wrong;
  }
}

}  // namespace
}  // namespace spintag::daemon
