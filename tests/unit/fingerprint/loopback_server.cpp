// tests/unit/fingerprint/loopback_server.cpp - an HTTP server on 127.0.0.1 that misbehaves as a
// test wishes.
#include "tests/unit/fingerprint/loopback_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>

namespace spintag::fingerprint::audio_test {

ServedConnection::ServedConnection(int fd, SSL_CTX* tls)
    : fd_(fd), tls_(tls != nullptr ? SSL_new(tls) : nullptr, &SSL_free) {
  if (!tls_) return;
  SSL_set_fd(tls_.get(), fd_);
  SSL_accept(tls_.get());  // a failed handshake shows as a request that never comes
}

ServedConnection::~ServedConnection() {
  if (tls_) SSL_shutdown(tls_.get());
  ::close(fd_);
}

long ServedConnection::receive(char* buffer, std::size_t bytes) {
  if (tls_) return SSL_read(tls_.get(), buffer, static_cast<int>(bytes));
  return ::recv(fd_, buffer, bytes, 0);
}

std::string ServedConnection::receive_request() {
  std::string request;
  std::array<char, 4096> buffer{};
  while (request.find("\r\n\r\n") == std::string::npos) {
    const long got = receive(buffer.data(), buffer.size());
    if (got <= 0) return {};
    request.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return request;
}

bool ServedConnection::send(const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const std::size_t left = bytes.size() - sent;
    const long now = tls_ ? SSL_write(tls_.get(), bytes.data() + sent, static_cast<int>(left))
                          : ::send(fd_, bytes.data() + sent, left, MSG_NOSIGNAL);
    if (now <= 0) return false;
    sent += static_cast<std::size_t>(now);
  }
  return true;
}

void ServedConnection::send_ok(const std::string& type, const std::string& body,
                               const std::string& headers) {
  send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: " + type +
       "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body);
}

void ServedConnection::wait_until_closed() {
  std::array<char, 4096> buffer{};
  while (receive(buffer.data(), buffer.size()) > 0) {
  }
}

void ServedConnection::shut_down() const { ::shutdown(fd_, SHUT_RDWR); }

LoopbackServer::LoopbackServer(Handler handler, const std::string& certificate_file,
                               const std::string& key_file)
    : handler_(std::move(handler)), tls_(nullptr, &SSL_CTX_free) {
  if (!certificate_file.empty()) {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
    tls_.reset(SSL_CTX_new(TLS_server_method()));
    if (SSL_CTX_use_certificate_chain_file(tls_.get(), certificate_file.c_str()) != 1 ||
        SSL_CTX_use_PrivateKey_file(tls_.get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
      throw std::runtime_error("the test's certificate cannot be used");
    }
  }
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, generic, bytes) != 0 || ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, generic, &bytes) != 0) {
    throw std::runtime_error("no loopback port");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::jthread([this] { accept_all(); });
}

LoopbackServer::~LoopbackServer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const ServedConnection* connection : open_) connection->shut_down();
  }
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  workers_.clear();
  ::close(listener_);
}

void LoopbackServer::accept_all() {
  while (!stopping_) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    workers_.emplace_back([this, fd] { serve(fd); });
  }
}

void LoopbackServer::serve(int fd) {
  ServedConnection connection(fd, tls_.get());
  std::list<ServedConnection*>::iterator place;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    place = open_.insert(open_.end(), &connection);
  }
  const std::string request = connection.receive_request();
  if (!request.empty()) {
    const auto begin = request.find(' ') + 1;
    const std::string path = request.substr(begin, request.find(' ', begin) - begin);
    {
      const std::lock_guard lock(mutex_);
      paths_.push_back(path);
    }
    handler_(path, request, connection);
  }
  const std::lock_guard lock(mutex_);
  open_.erase(place);
}

std::string LoopbackServer::url(const std::string& path, const std::string& host) const {
  return (tls_ ? "https://" : "http://") + host + ":" + std::to_string(port_) + path;
}

std::vector<std::string> LoopbackServer::requested_paths() const {
  const std::lock_guard lock(mutex_);
  return paths_;
}

}  // namespace spintag::fingerprint::audio_test
