// daemon/web.cpp - the HTTP server's sockets, with Beast.
#include "daemon/web.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <thread>

#include "daemon/rfc3339.h"
#include "daemon/web/plays_desk.h"
#include "daemon/web/routes.h"

namespace spintag::daemon {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::use_awaitable;
using asio::ip::tcp;
using boost::system::error_code;
using Parser = http::request_parser<http::empty_body>;

constexpr std::uint32_t kMaxHead = 8 * 1024;   // of a request
constexpr std::size_t kMaxUnread = 64 * 1024;  // of a body that nobody wants
constexpr auto kLinger = std::chrono::seconds(1);
constexpr auto kPlaysTimeout = std::chrono::seconds(10);

/// A question for plays, between the connection's coroutine and the desk's thread.
struct Ticket {
  explicit Ticket(asio::io_context& io) : timer(io) {}
  asio::steady_timer timer;  ///< cancelled when `answer` is there
  std::optional<WebAnswer> answer;
};

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

/// Answers come from one place, so that none lacks a header.
http::response<http::string_body> make_response(const Parser::value_type& request,
                                                WebAnswer answer) {
  http::response<http::string_body> response(http::status(answer.status), request.version());
  response.set(http::field::server, "spintag/" SPINTAG_VERSION);
  response.set(http::field::content_type, answer.content_type);
  response.set(http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Referrer-Policy", "no-referrer");
  response.set("Content-Security-Policy",
               "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
               "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
               "frame-ancestors 'none'");
  if (answer.status == 405) response.set(http::field::allow, "GET, HEAD");
  if (answer.status == 401) {
    response.set(http::field::www_authenticate, "Basic realm=\"spintag\", charset=\"UTF-8\"");
  }
  response.body() = std::move(answer.body);
  response.prepare_payload();
  return response;
}

/// What a request that cannot be read is told; nothing when nobody is left to be told.
std::optional<WebAnswer> answer_to(const error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return error_answer(431, "the head of the request is too long");
  }
  if (error == http::error::end_of_stream || error == http::error::partial_message) return {};
  if (error.category() == http::make_error_code(http::error::bad_method).category()) {
    return error_answer(400, "not an HTTP request: " + error.message());
  }
  return {};
}

}  // namespace

struct WebServer::State {
  State(WebParams given, const StatusBoard& status)
      : params(std::move(given)), board(status), desk(params.database_url), acceptor(io) {}

  void listen() {
    const config::ListenAddress address = config::parse_listen(params.listen);
    const tcp::endpoint endpoint(asio::ip::make_address(address.host), address.port);
    try {
      acceptor.open(endpoint.protocol());
      acceptor.set_option(tcp::acceptor::reuse_address(true));
      acceptor.bind(endpoint);
      acceptor.listen();
    } catch (const boost::system::system_error& error) {
      throw ListenError(complaint(address, error.code()));
    }
  }

  std::string complaint(const config::ListenAddress& address, const error_code& error) const {
    const std::string port = std::to_string(address.port);
    std::string text = "web.listen: cannot listen on " + params.listen + " (address " +
                       address.host + ", port " + port + "): " + error.message();
    if (error == asio::error::address_in_use) {
      return text + ": another program uses the port (ss -ltnp 'sport = :" + port +
             "' names it); stop it, or set web.listen to another port";
    }
    if (error == asio::error::access_denied) {
      return text + ": ports below 1024 need a privilege; set web.listen to a higher one";
    }
    return text + ": set web.listen to an address of this machine, such as 127.0.0.1:8750";
  }

  asio::awaitable<void> accept() {
    for (;;) {
      error_code error;
      tcp::socket socket =
          co_await acceptor.async_accept(asio::redirect_error(use_awaitable, error));
      if (error == asio::error::operation_aborted) co_return;
      if (error) {  // no descriptors left, most likely: some come back when connections end
        asio::steady_timer pause(io, std::chrono::milliseconds(100));
        co_await pause.async_wait(asio::redirect_error(use_awaitable, error));
        continue;
      }
      if (connections >= params.max_connections) continue;  // closes it
      asio::co_spawn(io, serve(beast::tcp_stream(std::move(socket))), asio::detached);
    }
  }

  asio::awaitable<void> serve(beast::tcp_stream stream) {
    struct Count {
      std::size_t& connections;
      explicit Count(std::size_t& counter) : connections(counter) { ++connections; }
      ~Count() { --connections; }
    };
    const Count count(connections);
    beast::flat_buffer buffer(2 * kMaxHead);
    error_code error;
    while (co_await serve_one(stream, buffer)) {
    }
    // A socket closed with unread bytes is reset, and the answer may be lost: read what comes, a
    // while.
    stream.socket().shutdown(tcp::socket::shutdown_send, error);
    stream.expires_after(kLinger);
    for (std::size_t unread = kMaxUnread; unread > 0 && !error;) {
      buffer.clear();
      unread -=
          co_await stream.async_read_some(buffer.prepare(std::min<std::size_t>(unread, kMaxHead)),
                                          asio::redirect_error(use_awaitable, error));
    }
  }

  /// @return whether the connection stays open
  asio::awaitable<bool> serve_one(beast::tcp_stream& stream, beast::flat_buffer& buffer) {
    error_code error;
    if (buffer.size() == 0) {
      stream.expires_after(params.idle_timeout);
      const std::size_t size = co_await stream.async_read_some(
          buffer.prepare(kMaxHead), asio::redirect_error(use_awaitable, error));
      if (error) co_return false;
      buffer.commit(size);
    }
    Parser parser;
    parser.header_limit(kMaxHead);
    stream.expires_after(params.request_timeout);
    co_await http::async_read_header(stream, buffer, parser,
                                     asio::redirect_error(use_awaitable, error));
    if (error) {
      if (auto answer = answer_to(error))
        co_await send(stream, parser.get(), std::move(*answer), false);
      co_return false;
    }
    // A body is not read: it would be taken for the next request, so that the connection ends.
    const bool keep = parser.keep_alive() && parser.is_done();
    co_return co_await send(stream, parser.get(), co_await answer(parser.get()), keep);
  }

  asio::awaitable<WebAnswer> answer(const Parser::value_type& request) {
    const WebRequest plain{view(request.method_string()), view(request.target()),
                           view(request[http::field::authorization])};
    auto routed = route(plain, board.snapshot(), params.token, utc_now());
    if (auto* const ready = std::get_if<WebAnswer>(&routed)) co_return std::move(*ready);
    co_return co_await ask_desk(std::get<PlaysQuestion>(std::move(routed)));
  }

  asio::awaitable<WebAnswer> ask_desk(PlaysQuestion question) {
    const auto ticket = std::make_shared<Ticket>(io);
    ticket->timer.expires_after(kPlaysTimeout);
    const bool taken = desk.ask(std::move(question), [this, ticket](WebAnswer found) {
      asio::post(io, [ticket, found = std::move(found)]() mutable {
        ticket->answer = std::move(found);
        ticket->timer.cancel();
      });
    });
    if (!taken) co_return error_answer(503, "too many questions at once; ask again in a moment");
    error_code cancelled;
    co_await ticket->timer.async_wait(asio::redirect_error(use_awaitable, cancelled));
    if (ticket->answer) co_return std::move(*ticket->answer);
    co_return error_answer(503, "the database takes too long");
  }

  asio::awaitable<bool> send(beast::tcp_stream& stream, const Parser::value_type& request,
                             WebAnswer answer, bool keep) {
    auto response = make_response(request, std::move(answer));
    response.keep_alive(keep);
    http::response_serializer<http::string_body> serializer(response);
    error_code error;
    stream.expires_after(params.request_timeout);
    if (request.method() == http::verb::head) {
      co_await http::async_write_header(stream, serializer,
                                        asio::redirect_error(use_awaitable, error));
    } else {
      co_await http::async_write(stream, serializer, asio::redirect_error(use_awaitable, error));
    }
    co_return keep && !error;
  }

  void start() {
    asio::co_spawn(io, accept(), asio::detached);
    thread = std::jthread([this] {
      pthread_setname_np(pthread_self(), "web");
      while (!io.stopped()) {
        try {
          io.run();
        } catch (const std::exception& error) {  // one request's fault is not the server's end
          spdlog::error("web: {}", error.what());
        }
      }
    });
  }

  const WebParams params;
  const StatusBoard& board;
  std::size_t connections = 0;  ///< of the web thread alone
  asio::io_context io{1};
  PlaysDesk desk;  ///< after io: its thread ends before io does
  tcp::acceptor acceptor;
  std::jthread thread;
};

WebServer::WebServer(WebParams params, const StatusBoard& board)
    : state_(std::make_unique<State>(std::move(params), board)) {
  state_->listen();
  state_->start();
}

WebServer::~WebServer() {
  state_->io.stop();
  state_->thread.join();
}

std::uint16_t WebServer::port() const noexcept {
  error_code error;
  return state_->acceptor.local_endpoint(error).port();
}

}  // namespace spintag::daemon
