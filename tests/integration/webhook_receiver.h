// tests/integration/webhook_receiver.h - a real HTTP receiver on an ephemeral loopback port, plain
// or TLS.
#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace spintag::testing {

struct ReceivedRequest {
  std::string line;                            ///< "POST /hook HTTP/1.1"
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
  std::chrono::steady_clock::time_point at;
};

/// Answers one connection after the other on a thread of its own; every answer closes its
/// connection.
class WebhookReceiver {
 public:
  /// Makes the whole answer ("HTTP/1.1 200 OK\r\n...") for the n-th request, n from 0. An empty one
  /// closes without a word.
  using Answer = std::function<std::string(const ReceivedRequest& request, std::size_t n)>;

  explicit WebhookReceiver(Answer answer, const std::string& certificate = {},
                           const std::string& key = {});
  ~WebhookReceiver();

  std::uint16_t port() const { return port_; }
  std::string url(const std::string& path = "/hook") const;
  std::vector<ReceivedRequest> requests() const;
  /// Waits until there are `count` requests. @return whether there are
  bool wait_for(std::size_t count, std::chrono::seconds at_most = std::chrono::seconds(20)) const;

 private:
  void run(const std::stop_token& stop);
  void serve(int connection);

  Answer answer_;
  std::shared_ptr<SSL_CTX> tls_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;  ///< guards requests_
  mutable std::condition_variable arrived_;
  std::vector<ReceivedRequest> requests_;
  std::jthread thread_;
};

/// "HTTP/1.1 STATUS X" with no body and these header lines.
std::string http_answer(int status, const std::string& headers = {});

}  // namespace spintag::testing
