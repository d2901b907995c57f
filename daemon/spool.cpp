// daemon/spool.cpp - records that wait on disk until the database is back.
#include "daemon/spool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/crc.hpp>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

namespace spintag::daemon {

namespace {

constexpr std::size_t kChecksumDigits = 8;
constexpr std::size_t kPrefix = kChecksumDigits + 1;  // and a space

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what) {
  throw SpoolError(file.string() + ": " + what + ": " + std::strerror(errno));
}

std::string checksum(std::string_view record) {
  boost::crc_32_type crc;
  crc.process_bytes(record.data(), record.size());
  std::array<char, kChecksumDigits + 1> text{};
  std::snprintf(text.data(), text.size(), "%08x", static_cast<unsigned>(crc.checksum()));
  return {text.data(), kChecksumDigits};
}

// The record of a line, if its checksum is right.
std::optional<std::string> read_line(const std::string& line) {
  if (line.size() < kPrefix || line[kChecksumDigits] != ' ') return std::nullopt;
  std::string record = line.substr(kPrefix);
  if (checksum(record) != line.substr(0, kChecksumDigits)) return std::nullopt;
  return record;
}

void write_all(int descriptor, std::string_view bytes, const std::filesystem::path& file) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(file, "cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

Spool::Spool(std::filesystem::path file, std::uint64_t max_bytes)
    : file_(std::move(file)), mark_(file_.string() + ".done"), max_bytes_(max_bytes) {
  descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (descriptor_ < 0) fail(file_, "cannot open");
  struct stat about {};
  if (::fstat(descriptor_, &about) != 0) fail(file_, "cannot read");
  size_ = static_cast<std::uint64_t>(about.st_size);
  cut_torn_tail();
  read_mark();
}

Spool::~Spool() { ::close(descriptor_); }

void Spool::append(std::string_view record) {
  const std::string line = checksum(record) + ' ' + std::string(record) + '\n';
  if (size_ + line.size() > max_bytes_) {
    throw SpoolError(file_.string() + ": holds " + std::to_string(size_) +
                     " bytes already: the record is lost (is the database coming back?)");
  }
  try {
    write_all(descriptor_, line, file_);
    if (::fdatasync(descriptor_) != 0) fail(file_, "cannot write to disk");
  } catch (const SpoolError&) {
    // Half a line must not spoil the next one; if even that fails, its checksum tells.
    if (::ftruncate(descriptor_, static_cast<off_t>(size_)) != 0) ++damaged_;
    throw;
  }
  size_ += line.size();
}

void Spool::replay(const std::function<void(const std::string& record)>& apply) {
  if (empty()) return;
  std::ifstream in(file_, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(done_));
  std::string line;
  while (done_ < size_ && std::getline(in, line)) {
    if (const auto record = read_line(line)) {
      apply(*record);
    } else {
      ++damaged_;
    }
    done_ += line.size() + 1;
    write_mark();
  }
  if (!in) throw SpoolError(file_.string() + ": cannot be read to its end");
  forget_all();
}

void Spool::cut_torn_tail() {
  if (size_ == 0) return;
  std::uint64_t end = size_;
  char last = 0;
  while (end > 0) {
    if (::pread(descriptor_, &last, 1, static_cast<off_t>(end - 1)) != 1)
      fail(file_, "cannot read");
    if (last == '\n') break;
    --end;
  }
  if (end == size_) return;
  if (::ftruncate(descriptor_, static_cast<off_t>(end)) != 0) fail(file_, "cannot mend");
  size_ = end;
  ++damaged_;
}

void Spool::read_mark() {
  std::ifstream in(mark_);
  std::uint64_t done = 0;
  if (in >> done && done <= size_) done_ = done;
}

void Spool::write_mark() {
  const std::filesystem::path fresh = mark_.string() + ".new";
  const int descriptor = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) fail(fresh, "cannot open");
  try {
    write_all(descriptor, std::to_string(done_) + '\n', fresh);
    if (::fdatasync(descriptor) != 0) fail(fresh, "cannot write to disk");
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  ::close(descriptor);
  if (::rename(fresh.c_str(), mark_.c_str()) != 0) fail(mark_, "cannot replace");
}

void Spool::forget_all() {
  // The mark goes first: without it everything is replayed once more, which does no harm; a mark
  // that outlived its records would pass over new ones.
  std::error_code error;
  if (!std::filesystem::remove(mark_, error) && error) {
    throw SpoolError(mark_.string() + ": cannot remove: " + error.message());
  }
  done_ = 0;
  if (::ftruncate(descriptor_, 0) != 0 || ::fdatasync(descriptor_) != 0)
    fail(file_, "cannot empty");
  size_ = 0;
}

}  // namespace spintag::daemon
