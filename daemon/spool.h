// daemon/spool.h - records that wait on disk until the database is back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace spintag::daemon {

/// The spool cannot be read or written. The message names the file.
class SpoolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Append-only file of lines "CRC32 record", each on disk before append() returns. A mark beside it
/// (FILE.done) says how far it has been replayed. Records must be such that applying one twice does
/// no harm: a crash between applying one and marking it repeats that one. Single-threaded; one
/// process at a time.
class Spool {
 public:
  /// Opens or makes the file. A torn last line (the power went while it was written) is cut off and
  /// counted as damaged. @throws SpoolError
  /// @param max_bytes  append() refuses beyond it: a database that never comes back must not fill
  ///                   the disk
  explicit Spool(std::filesystem::path file, std::uint64_t max_bytes = 256U << 20U);
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  /// @param record  one line of text, without a line break
  /// @throws SpoolError when it is not safely on disk
  void append(std::string_view record);

  /// Calls `apply` for each record not replayed yet, in order, and forgets it when `apply` returns.
  /// When `apply` throws, that record and those after it stay, and the exception passes.
  void replay(const std::function<void(const std::string& record)>& apply);

  bool empty() const { return done_ >= size_; }
  /// Lines whose checksum was wrong or that were torn; they are left out.
  std::size_t damaged() const { return damaged_; }

 private:
  void cut_torn_tail();
  void read_mark();
  void write_mark();
  void forget_all();

  std::filesystem::path file_;
  std::filesystem::path mark_;
  std::uint64_t max_bytes_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;  ///< of the file
  std::uint64_t done_ = 0;  ///< bytes of it that were replayed
  std::size_t damaged_ = 0;
};

}  // namespace spintag::daemon
