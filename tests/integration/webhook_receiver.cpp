// tests/integration/webhook_receiver.cpp - a real HTTP receiver, on POSIX sockets and OpenSSL.
#include "tests/integration/webhook_receiver.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <sstream>
#include <stdexcept>

namespace spintag::testing {
namespace {

/// A connection with or without TLS.
class Connection {
 public:
  Connection(int socket, SSL_CTX* tls) : socket_(socket) {
    timeval patience{5, 0};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (tls == nullptr) return;
    ssl_.reset(SSL_new(tls), SSL_free);
    SSL_set_fd(ssl_.get(), socket);
    good_ = SSL_accept(ssl_.get()) == 1;
  }
  ~Connection() { close(socket_); }

  bool good() const { return good_; }
  std::string read_some() {
    char bytes[4096];
    const ssize_t size =
        ssl_ ? SSL_read(ssl_.get(), bytes, sizeof bytes) : recv(socket_, bytes, sizeof bytes, 0);
    return size <= 0 ? std::string() : std::string(bytes, static_cast<std::size_t>(size));
  }
  void write(const std::string& text) {
    if (ssl_) {
      SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size()));
      SSL_shutdown(ssl_.get());
    } else {
      (void)!send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
    }
  }

 private:
  int socket_;
  std::shared_ptr<SSL> ssl_;
  bool good_ = true;
};

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Reads until the head and as much body as it announces are there. @return whether they came
bool read_request(Connection& connection, ReceivedRequest& request) {
  std::string text;
  std::size_t head = std::string::npos;
  while ((head = text.find("\r\n\r\n")) == std::string::npos) {
    const std::string more = connection.read_some();
    if (more.empty()) return false;
    text += more;
  }
  std::istringstream lines(text.substr(0, head));
  std::getline(lines, request.line);
  if (request.line.ends_with('\r')) request.line.pop_back();
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) {
      request.headers[lower(line.substr(0, colon))] = line.substr(colon + 2);
    }
  }
  request.body = text.substr(head + 4);
  const std::size_t wanted = std::stoul("0" + request.headers["content-length"]);
  while (request.body.size() < wanted) {
    const std::string more = connection.read_some();
    if (more.empty()) return false;
    request.body += more;
  }
  return true;
}

}  // namespace

WebhookReceiver::WebhookReceiver(Answer answer, const std::string& certificate,
                                 const std::string& key)
    : answer_(std::move(answer)) {
  std::signal(SIGPIPE, SIG_IGN);  // SSL_write to a client that has gone
  if (!certificate.empty()) {
    tls_.reset(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
    if (SSL_CTX_use_certificate_file(tls_.get(), certificate.c_str(), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_use_PrivateKey_file(tls_.get(), key.c_str(), SSL_FILETYPE_PEM) != 1) {
      throw std::runtime_error("certificate " + certificate);
    }
  }
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, any, size) != 0 || listen(listener_, 16) != 0 ||
      getsockname(listener_, any, &size) != 0) {
    throw std::runtime_error("no loopback port");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this](std::stop_token stop) { run(stop); });
}

WebhookReceiver::~WebhookReceiver() {
  thread_.request_stop();
  thread_.join();
  close(listener_);
}

std::string WebhookReceiver::url(const std::string& path) const {
  const std::string host = tls_ ? "https://localhost:" : "http://127.0.0.1:";
  return host + std::to_string(port_) + path;
}

std::vector<ReceivedRequest> WebhookReceiver::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

bool WebhookReceiver::wait_for(std::size_t count, std::chrono::seconds at_most) const {
  std::unique_lock lock(mutex_);
  return arrived_.wait_for(lock, at_most, [&] { return requests_.size() >= count; });
}

void WebhookReceiver::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd waiting{listener_, POLLIN, 0};
    if (poll(&waiting, 1, 20) <= 0) continue;
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection >= 0) serve(connection);
  }
}

void WebhookReceiver::serve(int socket) {
  Connection connection(socket, tls_.get());
  ReceivedRequest request;
  if (!connection.good() || !read_request(connection, request)) return;
  request.at = std::chrono::steady_clock::now();
  std::size_t n = 0;
  {
    const std::lock_guard lock(mutex_);
    n = requests_.size();
    requests_.push_back(request);
  }
  arrived_.notify_all();
  const std::string answer = answer_(request, n);
  if (!answer.empty()) connection.write(answer);
}

std::string http_answer(int status, const std::string& headers) {
  return "HTTP/1.1 " + std::to_string(status) + " Said\r\nContent-Length: 0\r\n" + headers + "\r\n";
}

}  // namespace spintag::testing
