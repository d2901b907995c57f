// tests/unit/fingerprint/loopback_server.h - an HTTP server on 127.0.0.1 that misbehaves as a test
// wishes.
#pragma once

#include <openssl/ssl.h>

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace spintag::fingerprint::audio_test {

/// One accepted connection, plain or TLS.
class ServedConnection {
 public:
  ServedConnection(int fd, SSL_CTX* tls);
  ~ServedConnection();
  ServedConnection(const ServedConnection&) = delete;
  ServedConnection& operator=(const ServedConnection&) = delete;

  /// The request up to the empty line; empty when none came.
  std::string receive_request();
  /// False when the peer has gone.
  bool send(const std::string& bytes);
  void send_ok(const std::string& type, const std::string& body, const std::string& headers = {});
  /// Returns when the peer or the server's end closes the connection.
  void wait_until_closed();
  void shut_down() const;

 private:
  long receive(char* buffer, std::size_t bytes);

  int fd_;
  std::unique_ptr<SSL, decltype(&SSL_free)> tls_;
};

/// A thread each for listening and for every connection; all of them end with the object.
class LoopbackServer {
 public:
  /// Gets the path that was asked for ("/a.mp3"), the whole request, and the connection, which
  /// closes when it returns.
  using Handler =
      std::function<void(const std::string& path, const std::string& request, ServedConnection&)>;

  /// @param certificate_file, key_file  PEM; empty = plain HTTP
  explicit LoopbackServer(Handler handler, const std::string& certificate_file = {},
                          const std::string& key_file = {});
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  std::string url(const std::string& path, const std::string& host = "127.0.0.1") const;
  std::vector<std::string> requested_paths() const;

 private:
  void accept_all();
  void serve(int fd);

  Handler handler_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> tls_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_ = false;
  mutable std::mutex mutex_;  ///< guards open_, paths_
  std::list<ServedConnection*> open_;
  std::vector<std::string> paths_;
  std::list<std::jthread> workers_;  ///< touched by acceptor_ only, until it has ended
  std::jthread acceptor_;
};

}  // namespace spintag::fingerprint::audio_test
