// db/connection.h - one connection to PostgreSQL: statements, transactions and COPY, with this
// room's errors.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/sql_text.h"
#include "db/store.h"

namespace spintag::db {

/// A value for $1, $2, ...: text as PostgreSQL reads it, or null. Strings are cleaned (see
/// clean_utf8), so that no tag and no stream title makes a statement fail.
struct Param {
  std::optional<std::string> text;

  Param(std::nullopt_t) {}
  Param(std::string_view value) : text(clean_utf8(value)) {}
  Param(const std::string& value) : text(clean_utf8(value)) {}
  Param(const char* value) : text(clean_utf8(value)) {}
  Param(double value);
  Param(TimePoint value) : text(format_time(value)) {}
  Param(const std::optional<TimePoint>& value) {
    if (value) text = format_time(*value);
  }
  template <std::integral T>
  Param(T value) {
    if constexpr (std::same_as<T, bool>) {
      text = value ? "t" : "f";
    } else {
      text = std::to_string(value);
    }
  }
};

/// A result, copied out of the connection.
class Rows {
 public:
  explicit Rows(std::size_t columns) : columns_(columns) {}
  void append(std::optional<std::string> cell) { cells_.push_back(std::move(cell)); }

  std::size_t size() const { return columns_ == 0 ? 0 : cells_.size() / columns_; }
  bool empty() const { return cells_.empty(); }
  bool is_null(std::size_t row, std::size_t column) const { return !cell(row, column); }
  const std::string& text(std::size_t row, std::size_t column) const { return *cell(row, column); }
  std::int64_t integer(std::size_t row, std::size_t column) const;
  double real(std::size_t row, std::size_t column) const;
  bool truth(std::size_t row, std::size_t column) const { return text(row, column) == "t"; }
  TimePoint time(std::size_t row, std::size_t column) const {
    return parse_time(text(row, column));
  }
  std::optional<TimePoint> time_if_any(std::size_t row, std::size_t column) const {
    return is_null(row, column) ? std::nullopt : std::optional(time(row, column));
  }

 private:
  const std::optional<std::string>& cell(std::size_t row, std::size_t column) const {
    return cells_.at(row * columns_ + column);
  }

  std::size_t columns_;
  std::vector<std::optional<std::string>> cells_;  ///< row-major
};

/// Connects when it is first used and again after a loss, always bringing the schema up to date.
/// Statements see the schema `spintag` alone, UTC and UTF-8. Throws StoreError only; exceptions of
/// a caller's function pass through. A connection that was found dead between calls is made again
/// without a word; one that dies within a call throws StoreError(unreachable).
class Connection {
 public:
  /// @throws StoreError(refused) if the URL cannot be read
  explicit Connection(std::string url);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// One statement: in the transaction that is open, else by itself.
  Rows query(const std::string& sql, std::initializer_list<Param> params = {});

  /// Runs `body` in a transaction that commits when it returns and rolls back when it throws.
  /// Transactions do not nest.
  void transaction(const std::function<void()>& body);

  /// A transaction that reads one state of the database (repeatable read, read only).
  void snapshot(const std::function<void()>& body);

  /// The rows of `select` in binary form, one call of `visit` a row; its fields are valid during
  /// that call, which must not use this connection.
  using Fields = std::vector<std::span<const std::byte>>;
  void copy_out(const std::string& select, const std::function<void(const Fields&)>& visit);

  void open();  ///< connects if it is not connected
  bool in_transaction() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace spintag::db
