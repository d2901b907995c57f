// daemon/web.h - the HTTP server: status page, now-playing and plays as JSON, metrics, health.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "daemon/status_board.h"

namespace spintag::daemon {

/// The server cannot listen where the configuration says: the message names address and port and
/// what to do. A wrong setting (exit status 2), unlike everything that happens later.
class ListenError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct WebParams {
  std::string listen;        ///< "127.0.0.1:8750", "[::1]:8750"; port 0 = any free one
  std::string token;         ///< empty = nobody needs one (loopback only)
  std::string database_url;  ///< for /api/stations/STATION/plays; empty = that route answers 503
  std::size_t max_connections = 128;  ///< more are closed at once
  std::chrono::milliseconds request_timeout{
      10'000};                                     ///< to read one request, or to write one answer
  std::chrono::milliseconds idle_timeout{30'000};  ///< between requests of one connection
};

/// GET and HEAD only:
///   /                                   the status page
///   /healthz                            200 while the process runs; needs no token
///   /readyz                             200 when the index is loaded and the database is up, else
///   503; needs no token /api/nowplaying[/STATION]           field names as AzuraCast has them
///   /api/stations/STATION/plays         ?from=&to=&limit= (RFC 3339; at most 1000, default 100,
///   the newest) /metrics                            Prometheus text
/// With a token, every other route wants "Authorization: Bearer TOKEN" (or, from a browser, user
/// "spintag" and the token as password). Two threads: "web" (sockets; never blocks) and "web-plays"
/// (waits for the database; at most 16 questions queue, more are answered 503).
class WebServer {
 public:
  /// Listens and serves at once. `board` must outlive this. @throws ListenError
  WebServer(WebParams params, const StatusBoard& board);
  ~WebServer();  ///< closes every connection and joins
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  std::uint16_t port() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace spintag::daemon
