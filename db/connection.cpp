// db/connection.cpp - one connection to PostgreSQL: the only file that knows libpqxx.
#include "db/connection.h"

#include <libpq-fe.h>
#include <poll.h>

#include <array>
#include <charconv>
#include <pqxx/connection>
#include <pqxx/errorhandler>
#include <pqxx/except>
#include <pqxx/nontransaction>
#include <pqxx/result>
#include <pqxx/transaction>
#include <pqxx/version>

#include "db/copy_stream.h"
#include "db/migrations.h"
#include "db/server_address.h"

#if defined(__SANITIZE_ADDRESS__) && PQXX_VERSION_MAJOR < 7
// libpqxx 6.4 forgets one PGresult, some 2 KiB, each time a connection breaks within a statement.
extern "C" const char* __lsan_default_suppressions() { return "leak:libpqxx-6"; }
#endif

namespace spintag::db {

namespace {

using Kind = StoreError::Kind;

#if PQXX_VERSION_MAJOR >= 7
using Link = pqxx::connection;

std::unique_ptr<Link> adopt(PGconn* raw) {
  return std::make_unique<Link>(pqxx::connection::seize_raw_connection(raw));
}
#else
/// libpqxx 6 connects through a policy. This one hands over a connection that is already made, and
/// never makes another: to connect again in silence, in the middle of something, is what libpqxx 6
/// does by default.
class HandedOver : public pqxx::connectionpolicy {
 public:
  using pqxx::connectionpolicy::connectionpolicy;
  handle do_startconnect(handle current) override {
    if (current == nullptr) current = std::exchange(next, nullptr);
    if (current == nullptr) throw pqxx::broken_connection("connection lost");
    return current;
  }
  static thread_local PGconn* next;
};
thread_local PGconn* HandedOver::next = nullptr;

using Link = pqxx::basic_connection_base<HandedOver>;

std::unique_ptr<Link> adopt(PGconn* raw) {
  HandedOver::next = raw;
  return std::make_unique<Link>(std::string());
}
#endif

pqxx::result execute(pqxx::transaction_base& transaction, const std::string& sql,
                     std::initializer_list<Param> params) {
  // Without parameters the simple protocol is used, which takes several statements at once, as
  // migrations need.
  if (params.size() == 0) return transaction.exec(sql);
#if PQXX_VERSION_MAJOR >= 7
  pqxx::params values;
  for (const Param& param : params) {
    if (param.text) {
      values.append(*param.text);
    } else {
      values.append();
    }
  }
  return transaction.exec_params(sql, values);
#else
  std::vector<const char*> values;
  for (const Param& param : params) values.push_back(param.text ? param.text->c_str() : nullptr);
  return transaction.exec_params(sql, pqxx::prepare::make_dynamic_params(values));
#endif
}

Rows copy_rows(const pqxx::result& result) {
  Rows rows(static_cast<std::size_t>(result.columns()));
  for (const auto& row : result) {
    for (const auto& field : row) {
      rows.append(field.is_null()
                      ? std::nullopt
                      : std::optional<std::string>(std::in_place, field.c_str(),
                                                   static_cast<std::size_t>(field.size())));
    }
  }
  return rows;
}

/// SQLSTATE classes (PostgreSQL, appendix A) that say "not now" rather than "not this": 08
/// connection, 40 rollback, 53 resources, 57 operator intervention, 58 system error, and 25006, a
/// standby that takes no writes yet.
Kind kind_of(const std::string& sqlstate) {
  for (const char* later : {"08", "40", "53", "57", "58", "25006"}) {
    if (sqlstate.starts_with(later)) return Kind::unreachable;
  }
  for (const char* schema : {"42P01", "42703", "3F000", "42501"}) {
    if (sqlstate == schema) return Kind::schema;  // a table is missing, or is not ours to use
  }
  return Kind::refused;
}

std::string one_line(std::string message) {
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
  for (char& c : message) {
    if (c == '\n') c = ' ';
  }
  return message;
}

}  // namespace

Param::Param(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.emplace(digits.data(), end.ptr);
}

std::int64_t Rows::integer(std::size_t row, std::size_t column) const {
  return std::stoll(text(row, column));
}

double Rows::real(std::size_t row, std::size_t column) const {
  return std::stod(text(row, column));
}

struct Connection::State {
  ServerAddress address;
  std::unique_ptr<Link> link;
  std::unique_ptr<pqxx::quiet_errorhandler> quiet;
  PGconn* raw = nullptr;  ///< owned by link
  pqxx::transaction_base* open_transaction = nullptr;
  bool read_only = false;
  bool setting_up = false;  ///< open() is asking its first questions

  void close() {
    quiet.reset();
    link.reset();
    raw = nullptr;
  }

  [[noreturn]] void fail_to_connect(const std::string& reason) {
    const std::string hint = connection_hint(reason);
    throw StoreError(Kind::unreachable, "cannot reach PostgreSQL at " + address.name + ": " +
                                            one_line(address.mask(reason)) +
                                            (hint.empty() ? "" : " (" + hint + ")"));
  }

  [[noreturn]] void fail_lost(const std::string& reason) {
    throw StoreError(Kind::unreachable,
                     "lost PostgreSQL at " + address.name + ": " + one_line(address.mask(reason)));
  }

  /// Translates the exception that is being handled; our own and a caller's pass.
  [[noreturn]] void rethrow() {
    const bool lost = raw == nullptr || PQstatus(raw) == CONNECTION_BAD;
    try {
      throw;
    } catch (const pqxx::in_doubt_error& error) {
      fail_lost(std::string("whether the last change was kept is not known: ") + error.what());
    } catch (const pqxx::broken_connection& error) {
      fail_lost(error.what());
    } catch (const pqxx::sql_error& error) {
      if (lost) fail_lost(error.what());
      throw StoreError(kind_of(error.sqlstate()), "PostgreSQL at " + address.name + ": " +
                                                      one_line(address.mask(error.what())));
    } catch (const pqxx::failure& error) {
      if (lost) fail_lost(error.what());
      throw StoreError(Kind::refused, "PostgreSQL at " + address.name + ": " +
                                          one_line(address.mask(error.what())));
    }
  }

  /// Whether the server has hung up since the last call. Costs a poll, not a round trip.
  bool has_died() {
    pollfd waiting{PQsocket(raw), POLLIN, 0};
    while (PQstatus(raw) == CONNECTION_OK && ::poll(&waiting, 1, 0) > 0) {
      if (PQconsumeInput(raw) == 0) return true;
    }
    return PQstatus(raw) != CONNECTION_OK;
  }

  void connect() {
    std::vector<const char*> keywords;
    std::vector<const char*> values;
    for (const auto& [keyword, value] : address.options) {
      keywords.push_back(keyword.c_str());
      values.push_back(value.c_str());
    }
    keywords.push_back(nullptr);
    values.push_back(nullptr);
    std::unique_ptr<PGconn, decltype(&PQfinish)> fresh(
        PQconnectdbParams(keywords.data(), values.data(), 1), &PQfinish);
    if (!fresh) throw std::bad_alloc();
    if (PQstatus(fresh.get()) != CONNECTION_OK) fail_to_connect(PQerrorMessage(fresh.get()));
    raw = fresh.get();
    link = adopt(fresh.release());
    quiet = std::make_unique<pqxx::quiet_errorhandler>(*link);
  }
};

Connection::Connection(std::string url) : state_(std::make_unique<State>()) {
  state_->address = parse_address(url);
}

Connection::~Connection() {
  if (state_) state_->close();
}

bool Connection::in_transaction() const { return state_->open_transaction != nullptr; }

void Connection::open() {
  State& state = *state_;
  if (state.setting_up) return;
  if (state.open_transaction != nullptr) {
    if (PQstatus(state.raw) != CONNECTION_OK) state.fail_lost("the transaction is gone");
    return;
  }
  if (state.link && !state.has_died()) return;
  state.close();
  state.setting_up = true;
  try {
    state.connect();
    query(
        "set search_path to spintag; set timezone to 'UTC'; set datestyle to 'ISO'; set "
        "intervalstyle to 'postgres';"
        " set client_min_messages to warning; set extra_float_digits to 1");
    bring_up_to_date(*this);
    state.setting_up = false;
  } catch (...) {
    state.setting_up = false;
    state.close();
    throw;
  }
}

Rows Connection::query(const std::string& sql, std::initializer_list<Param> params) {
  State& state = *state_;
  open();
  try {
    if (state.open_transaction != nullptr) {
      return copy_rows(execute(*state.open_transaction, sql, params));
    }
    pqxx::nontransaction alone(*state.link);
    return copy_rows(execute(alone, sql, params));
  } catch (...) {
    state.rethrow();
  }
}

void Connection::transaction(const std::function<void()>& body) {
  State& state = *state_;
  if (state.open_transaction != nullptr) {
    throw StoreError(Kind::refused, state.read_only ? "a change inside a snapshot"
                                                    : "a change inside another change");
  }
  open();
  try {
    pqxx::work work(*state.link);
    state.open_transaction = &work;
    body();
    state.open_transaction = nullptr;
    work.commit();
  } catch (...) {
    state.open_transaction = nullptr;
    state.rethrow();
  }
}

void Connection::snapshot(const std::function<void()>& body) {
  State& state = *state_;
  if (state.open_transaction != nullptr) {
    throw StoreError(Kind::refused, "a snapshot inside a transaction");
  }
  open();
  try {
    pqxx::nontransaction session(*state.link);
    session.exec("begin isolation level repeatable read, read only");
    state.open_transaction = &session;
    state.read_only = true;
    body();
    state.open_transaction = nullptr;
    state.read_only = false;
    session.exec("commit");
  } catch (...) {
    state.open_transaction = nullptr;
    state.read_only = false;
    if (PQstatus(state.raw) == CONNECTION_OK) PQclear(PQexec(state.raw, "rollback"));
    state.rethrow();
  }
}

void Connection::copy_out(const std::string& select,
                          const std::function<void(const Fields&)>& visit) {
  open();
  State& state = *state_;
  std::string error;
  try {
    error = copy_stream(state.raw, "copy (" + select + ") to stdout (format binary)", visit);
  } catch (...) {
    state.rethrow();
  }
  if (error.empty()) return;
  if (PQstatus(state.raw) != CONNECTION_OK) state.fail_lost(error);
  throw StoreError(Kind::refused, "PostgreSQL at " + state.address.name + ": " +
                                      one_line(state.address.mask(error)));
}

}  // namespace spintag::db
