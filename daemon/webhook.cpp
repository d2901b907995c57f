// daemon/webhook.cpp - a POST with Beast, over TCP or TLS.
#include "daemon/webhook.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <exception>
#include <functional>
#include <optional>

#include "daemon/signature.h"

namespace spintag::daemon {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = asio::ssl;
using asio::use_awaitable;
using asio::ip::tcp;
using Clock = std::chrono::steady_clock;
using Request = http::request<http::string_body>;

constexpr std::uint32_t kMaxHead = 16 * 1024;          // of an answer
constexpr auto kLook = std::chrono::milliseconds(50);  // how often a stop is looked for

struct Target {
  bool tls = false;
  std::string user;  ///< "user:password"; may be empty
  std::string host;  ///< without brackets
  std::string port;
  std::string path;  ///< with query
  std::string host_header;
};

Target parse_url(const std::string& url) {
  Target target;
  target.tls = url.starts_with("https://");
  if (!target.tls && !url.starts_with("http://")) throw WebhookError("not an http or https URL");
  std::string rest = url.substr(target.tls ? 8 : 7);
  rest.erase(std::min(rest.find('#'), rest.size()));
  const std::size_t path = std::min(rest.find_first_of("/?"), rest.size());
  target.path = rest.substr(path);
  if (!target.path.starts_with('/')) target.path.insert(0, "/");
  std::string authority = rest.substr(0, path);
  if (const std::size_t at = authority.rfind('@'); at != std::string::npos) {
    target.user = authority.substr(0, at);
    authority.erase(0, at + 1);
  }
  target.host_header = authority;
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.find(':', bracket == std::string::npos ? 0 : bracket);
  target.port = colon == std::string::npos ? "" : authority.substr(colon + 1);
  if (target.port.empty()) target.port = target.tls ? "443" : "80";
  target.host = authority.substr(0, colon);
  if (target.host.starts_with('[') && target.host.ends_with(']')) {
    target.host = target.host.substr(1, target.host.size() - 2);
  }
  if (target.host.empty()) throw WebhookError("the URL names no host");
  return target;
}

bool is_address(const std::string& host) {
  boost::system::error_code error;
  asio::ip::make_address(host, error);
  return !error;
}

/// One request under way. It outlives an abandoned post() until its last handler has run.
struct Exchange {
  std::string step = "looking up the host";  ///< for the message when it fails
  bool abandoned = false;
  bool finished = false;
  std::exception_ptr error;
  WebhookReply reply;
  std::function<void()> close;  ///< cuts the connection, once there is one
};

/// Forgets how to cut the connection before the stream goes, however the coroutine ends.
struct ForgetClose {
  Exchange& exchange;
  ~ForgetClose() { exchange.close = nullptr; }
};

template <class Stream>
asio::awaitable<void> talk(Stream& stream, const Request& request, Exchange& exchange) {
  exchange.step = "sending";
  co_await http::async_write(stream, request, use_awaitable);
  exchange.step = "waiting for the answer";
  beast::flat_buffer buffer(kMaxHead);
  http::response_parser<http::empty_body> parser;
  parser.header_limit(kMaxHead);
  parser.skip(true);
  co_await http::async_read_header(stream, buffer, parser, use_awaitable);
  exchange.reply.status = static_cast<int>(parser.get().result_int());
  exchange.reply.retry_after = std::string(parser.get()[http::field::retry_after]);
}

asio::awaitable<void> connect(beast::tcp_stream& stream, const Target& target, Exchange& exchange) {
  tcp::resolver resolver(co_await asio::this_coro::executor);
  const auto found = co_await resolver.async_resolve(target.host, target.port, use_awaitable);
  if (exchange.abandoned) throw WebhookError("abandoned");
  exchange.step = "connecting";
  exchange.close = [&stream] { stream.close(); };
  co_await stream.async_connect(found, use_awaitable);
}

asio::awaitable<void> run_plain(asio::io_context& io, const Target& target, Request request,
                                std::shared_ptr<Exchange> exchange) {
  beast::tcp_stream stream(io);
  const ForgetClose forget{*exchange};
  co_await connect(stream, target, *exchange);
  co_await talk(stream, request, *exchange);
}

asio::awaitable<void> run_tls(asio::io_context& io, ssl::context& tls, const Target& target,
                              Request request, std::shared_ptr<Exchange> exchange) {
  beast::ssl_stream<beast::tcp_stream> stream(io, tls);
  const ForgetClose forget{*exchange};
  if (!is_address(target.host) &&
      SSL_set_tlsext_host_name(stream.native_handle(), target.host.c_str()) != 1) {
    throw WebhookError("the host name is too long");
  }
  stream.set_verify_callback(ssl::host_name_verification(target.host));
  co_await connect(beast::get_lowest_layer(stream), target, *exchange);
  exchange->step = "TLS";
  co_await stream.async_handshake(ssl::stream_base::client, use_awaitable);
  co_await talk(stream, request, *exchange);
}

std::string why(const Exchange& exchange) {
  try {
    std::rethrow_exception(exchange.error);
  } catch (const boost::system::system_error& error) {
    return exchange.step + ": " + error.code().message();
  } catch (const std::exception& error) {
    return exchange.step + ": " + error.what();
  }
}

}  // namespace

struct Webhook::State {
  Target target;
  ssl::context tls{ssl::context::tls_client};
  asio::io_context io{1};

  Request make_request(const std::string& body, const Headers& headers) const {
    Request request(http::verb::post, target.path, 11);
    request.set(http::field::host, target.host_header);
    request.set(http::field::user_agent, "spintag/" SPINTAG_VERSION);
    request.set(http::field::content_type, "application/json");
    if (!target.user.empty()) {
      request.set(http::field::authorization, "Basic " + encode_base64(target.user));
    }
    for (const auto& [name, value] : headers) request.set(name, value);
    request.keep_alive(false);
    request.body() = body;
    request.prepare_payload();
    return request;
  }

  void start(Request request, const std::shared_ptr<Exchange>& exchange) {
    const auto done = [exchange](std::exception_ptr error) {
      exchange->error = std::move(error);
      exchange->finished = true;
    };
    io.restart();
    if (target.tls) {
      asio::co_spawn(io, run_tls(io, tls, target, std::move(request), exchange), done);
    } else {
      asio::co_spawn(io, run_plain(io, target, std::move(request), exchange), done);
    }
  }
};

Webhook::Webhook(const std::string& url, const std::string& ca_file)
    : state_(std::make_unique<State>()) {
  state_->target = parse_url(url);
  if (!state_->target.tls) return;
  boost::system::error_code error;
  if (ca_file.empty()) {
    state_->tls.set_default_verify_paths(error);
  } else {
    state_->tls.load_verify_file(ca_file, error);
  }
  if (error) throw WebhookError("certificates of authorities: " + error.message());
  state_->tls.set_verify_mode(ssl::verify_peer);
  SSL_CTX_set_min_proto_version(state_->tls.native_handle(), TLS1_2_VERSION);
}

Webhook::~Webhook() = default;

WebhookReply Webhook::post(const std::string& body, const Headers& headers,
                           std::chrono::milliseconds timeout, const std::stop_token& stop,
                           std::chrono::milliseconds grace) {
  const auto exchange = std::make_shared<Exchange>();
  Clock::time_point deadline = Clock::now() + timeout;
  bool stopping = false;
  state_->start(state_->make_request(body, headers), exchange);
  while (!exchange->finished && Clock::now() < deadline) {
    if (stop.stop_requested() && !std::exchange(stopping, true)) {
      deadline = std::min(deadline, Clock::now() + grace);
    }
    state_->io.run_one_until(std::min(deadline, Clock::now() + kLook));
  }
  if (!exchange->finished) {
    exchange->abandoned = true;
    const std::string step = exchange->step;
    if (exchange->close) std::exchange(exchange->close, nullptr)();
    state_->io.poll();  // lets the cut connection go; a name look-up may stay behind until it ends
    if (stopping) throw WebhookCut(step + ": cut by the stop of spintag");
    throw WebhookError(step + ": nothing within " + std::to_string(timeout.count()) + " ms");
  }
  if (exchange->error) throw WebhookError(why(*exchange));
  return exchange->reply;
}

}  // namespace spintag::daemon
