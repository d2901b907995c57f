// daemon/webhook.h - one HTTP or HTTPS POST at a time to one address.
#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace spintag::daemon {

/// No answer: the name, the connection, the certificate or the time failed. The message holds no
/// secret.
class WebhookError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The request was cut because a stop was asked for; nobody knows whether it arrived.
class WebhookCut : public WebhookError {
 public:
  using WebhookError::WebhookError;
};

struct WebhookReply {
  int status = 0;
  std::string retry_after;  ///< header Retry-After; empty if there was none
};

/// Single-threaded; blocks its caller. TLS 1.2 or newer, certificate and host name verified, SNI
/// sent. Redirects are not followed: a signed body goes where the configuration says and nowhere
/// else. A new connection for each request.
class Webhook {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  /// @param url      http:// or https://; user and password in it become basic authentication
  /// @param ca_file  PEM file to verify against; empty = the system's certificates
  /// @throws WebhookError if the URL or the file cannot be used
  Webhook(const std::string& url, const std::string& ca_file);
  /// May wait for the system's name look-up, if one hangs.
  ~Webhook();

  /// Posts JSON and reads the head of the answer. Once `stop` is requested, at most `grace` is
  /// left.
  /// @param timeout  for everything: name, connection, request and answer
  /// @throws WebhookError
  WebhookReply post(const std::string& body, const Headers& headers,
                    std::chrono::milliseconds timeout, const std::stop_token& stop,
                    std::chrono::milliseconds grace = std::chrono::seconds(2));

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace spintag::daemon
