// db/copy_stream.h - reads a binary COPY row by row, in constant memory.
// Source: PostgreSQL documentation, COPY, "Binary Format".
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

struct pg_conn;

namespace spintag::db {

/// Runs a COPY ... TO STDOUT (FORMAT binary) and calls `visit` with the fields of each row (a null
/// is an empty field).
/// @return the server's error, empty = none. If `visit` throws, the COPY is cancelled and the
/// exception passes.
std::string copy_stream(
    pg_conn* connection, const std::string& copy,
    const std::function<void(const std::vector<std::span<const std::byte>>&)>& visit);

/// Big-endian fields, as send functions of int8 and float8 write them.
std::int64_t read_int64(std::span<const std::byte> field);
double read_double(std::span<const std::byte> field);

/// Cuts a stream of bytes into rows, however it arrives.
class CopyParser {
 public:
  using Visit = std::function<void(const std::vector<std::span<const std::byte>>&)>;
  /// @throws StoreError(refused) if this is no binary COPY
  void push(std::span<const std::byte> bytes, const Visit& visit);
  bool finished() const { return finished_; }

 private:
  bool take_header();
  bool take_row(const Visit& visit);

  std::vector<std::byte> pending_;
  std::size_t begin_ = 0;  ///< of what is not taken yet
  std::vector<std::span<const std::byte>> fields_;
  bool header_taken_ = false;
  bool finished_ = false;
};

}  // namespace spintag::db
