// db/copy_stream.cpp - reads a binary COPY row by row, in constant memory.
#include "db/copy_stream.h"

#include <libpq-fe.h>

#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <string_view>

#include "db/store.h"

namespace spintag::db {

namespace {

using Result = std::unique_ptr<PGresult, decltype(&PQclear)>;

std::uint64_t read_big_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (const std::byte byte : bytes) value = value << 8 | std::to_integer<std::uint64_t>(byte);
  return value;
}

/// Reads results until there is none; the connection is then ready for the next statement.
std::string drain(PGconn* connection) {
  std::string error;
  while (const Result result{PQgetResult(connection), &PQclear}) {
    const auto status = PQresultStatus(result.get());
    if (status == PGRES_COPY_OUT) {
      char* data = nullptr;
      while (PQgetCopyData(connection, &data, 0) > 0) PQfreemem(data);
    } else if (status != PGRES_COMMAND_OK) {
      error = PQresultErrorMessage(result.get());
    }
    if (PQstatus(connection) != CONNECTION_OK) break;
  }
  return error;
}

void cancel(PGconn* connection) {
  const std::unique_ptr<PGcancel, decltype(&PQfreeCancel)> request(PQgetCancel(connection),
                                                                   &PQfreeCancel);
  std::array<char, 256> reason{};
  if (request) PQcancel(request.get(), reason.data(), static_cast<int>(reason.size()));
  char* data = nullptr;
  while (PQgetCopyData(connection, &data, 0) > 0) PQfreemem(data);
  drain(connection);
}

}  // namespace

std::int64_t read_int64(std::span<const std::byte> field) {
  return static_cast<std::int64_t>(read_big_endian(field));
}

double read_double(std::span<const std::byte> field) {
  return std::bit_cast<double>(read_big_endian(field));
}

bool CopyParser::take_header() {
  constexpr std::string_view kSignature("PGCOPY\n\377\r\n\0", 11);
  const std::span<const std::byte> bytes = std::span(pending_).subspan(begin_);
  if (bytes.size() < 19) return false;
  if (std::memcmp(bytes.data(), kSignature.data(), kSignature.size()) != 0) {
    throw StoreError(StoreError::Kind::refused, "the server's COPY is not in binary form");
  }
  const auto extension_bytes = static_cast<std::size_t>(read_big_endian(bytes.subspan(15, 4)));
  if (bytes.size() < 19 + extension_bytes) return false;
  begin_ += 19 + extension_bytes;
  header_taken_ = true;
  return true;
}

bool CopyParser::take_row(const Visit& visit) {
  constexpr std::uint64_t kTrailer = 0xFFFF;
  constexpr std::uint64_t kNull = 0xFFFFFFFF;
  const std::span<const std::byte> bytes = std::span(pending_).subspan(begin_);
  if (bytes.size() < 2) return false;
  const std::uint64_t columns = read_big_endian(bytes.first(2));
  if (columns == kTrailer) {
    finished_ = true;
    return false;
  }
  fields_.clear();
  std::size_t at = 2;
  for (std::uint64_t i = 0; i < columns; ++i) {
    if (bytes.size() < at + 4) return false;
    const std::uint64_t length = read_big_endian(bytes.subspan(at, 4));
    at += 4;
    const std::size_t size = length == kNull ? 0 : static_cast<std::size_t>(length);
    if (bytes.size() < at + size) return false;
    fields_.push_back(bytes.subspan(at, size));
    at += size;
  }
  begin_ += at;
  visit(fields_);
  return true;
}

void CopyParser::push(std::span<const std::byte> bytes, const Visit& visit) {
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(begin_));
  begin_ = 0;
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  if (!header_taken_ && !take_header()) return;
  while (!finished_ && take_row(visit)) {
  }
}

std::string copy_stream(PGconn* connection, const std::string& copy,
                        const CopyParser::Visit& visit) {
  const Result started(PQexec(connection, copy.c_str()), &PQclear);
  if (PQresultStatus(started.get()) != PGRES_COPY_OUT) return PQerrorMessage(connection);
  CopyParser parser;
  int length = 0;
  try {
    char* data = nullptr;
    while ((length = PQgetCopyData(connection, &data, 0)) > 0) {
      const std::unique_ptr<char, decltype(&PQfreemem)> owned(data, &PQfreemem);
      parser.push(std::as_bytes(std::span(data, static_cast<std::size_t>(length))), visit);
    }
  } catch (...) {
    cancel(connection);
    throw;
  }
  if (length == -2) return PQerrorMessage(connection);
  std::string error = drain(connection);
  if (error.empty() && !parser.finished()) error = "the COPY ended before its trailer";
  return error;
}

}  // namespace spintag::db
