// fingerprint/snapshot.cpp - the index as a file: written whole or not at all, checked, then
// mapped.
//
// Layout, native byte order, every array at a multiple of 64 bytes:
//   FileHeader | for each shard: ShardHeader, tracks, directory, words, packed, metadata
// The checksum is SHA-256 of everything after the file header.
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "fingerprint/index.h"
#include "fingerprint/index_shard.h"
#include "fingerprint/profile.h"

namespace spintag::fingerprint {
namespace {

namespace fs = std::filesystem;

constexpr std::array<char, 8> kMagic{'S', 'P', 'T', 'I', 'N', 'D', 'E', 'X'};
constexpr std::uint32_t kFormat = 2;  ///< 2: no landmarks of held notes
constexpr std::uint32_t kByteOrder = 0x01020304;
constexpr std::size_t kAlignment = 64;

struct alignas(kAlignment) FileHeader {
  std::array<char, 8> magic = kMagic;
  std::uint32_t format = kFormat;
  std::uint32_t byte_order = kByteOrder;
  std::uint32_t profile_version = BroadcastProfile::version;
  std::uint32_t shards = 0;
  std::int64_t stamp = 0;
  std::uint64_t payload_bytes = 0;
  std::array<unsigned char, 32> sha256{};
};

struct alignas(kAlignment) ShardHeader {
  std::uint64_t tracks = 0;
  std::uint64_t directory = 0;
  std::uint64_t words = 0;
  std::uint64_t packed = 0;
  std::uint64_t metadata = 0;
  std::uint32_t units = 0;
};

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1)
      throw IndexError("SHA-256 is not available");
  }
  void add(const void* data, std::size_t bytes) { EVP_DigestUpdate(context_.get(), data, bytes); }
  std::array<unsigned char, 32> finish() {
    std::array<unsigned char, 32> digest{};
    EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr);
    return digest;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

[[noreturn]] void fail(const fs::path& file, const std::string& what) {
  throw IndexError("index snapshot " + file.string() + ": " + what);
}

[[noreturn]] void fail_errno(const fs::path& file, const std::string& doing) {
  fail(file, doing + ": " + std::generic_category().message(errno));
}

/// A file descriptor that closes itself.
class File {
 public:
  File(const fs::path& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// Writes a temporary file beside the real one; commit() makes it the real one, otherwise it is
/// removed.
class Writer {
 public:
  explicit Writer(fs::path file)
      : file_(std::move(file)),
        temporary_(file_.string() + ".tmp" + std::to_string(::getpid())),
        out_(temporary_, O_WRONLY | O_CREAT | O_TRUNC) {
    if (!out_.is_open()) fail_errno(file_, "cannot be written");
  }
  ~Writer() {
    if (!committed_) ::unlink(temporary_.c_str());
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void write(const void* data, std::size_t bytes) {
    const auto* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = ::write(out_.fd(), at, bytes);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail_errno(file_, "writing failed (is the disk full?)");
      at += written;
      bytes -= static_cast<std::size_t>(written);
    }
  }
  /// Payload: counted, hashed and padded to kAlignment.
  void write_payload(const void* data, std::size_t bytes) {
    static constexpr std::array<char, kAlignment> kZeros{};
    write(data, bytes);
    write(kZeros.data(), aligned(bytes) - bytes);
    hash_.add(data, bytes);
    hash_.add(kZeros.data(), aligned(bytes) - bytes);
    payload_ += aligned(bytes);
  }
  template <class T>
  void write_payload(std::span<const T> values) {
    write_payload(values.data(), values.size_bytes());
  }
  void commit(FileHeader header) {
    header.payload_bytes = payload_;
    header.sha256 = hash_.finish();
    if (::lseek(out_.fd(), 0, SEEK_SET) != 0) fail_errno(file_, "writing failed");
    write(&header, sizeof header);
    if (::fsync(out_.fd()) != 0) fail_errno(file_, "writing failed (is the disk full?)");
    if (::rename(temporary_.c_str(), file_.c_str()) != 0) fail_errno(file_, "cannot be replaced");
    committed_ = true;
    const File folder(file_.has_parent_path() ? file_.parent_path() : fs::path("."),
                      O_RDONLY | O_DIRECTORY);
    if (folder.is_open()) ::fsync(folder.fd());
  }

 private:
  fs::path file_;
  std::string temporary_;
  File out_;
  Sha256 hash_;
  std::uint64_t payload_ = 0;
  bool committed_ = false;
};

/// A read-only mapping; shards keep it alive.
class Mapping {
 public:
  explicit Mapping(const fs::path& file) {
    const File in(file, O_RDONLY);
    if (!in.is_open()) fail_errno(file, "cannot be read");
    struct stat info {};
    if (::fstat(in.fd(), &info) != 0) fail_errno(file, "cannot be read");
    size_ = static_cast<std::size_t>(info.st_size);
    if (size_ < sizeof(FileHeader)) fail(file, "is no index snapshot (too short)");
    void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, in.fd(), 0);
    if (mapped == MAP_FAILED) fail_errno(file, "cannot be mapped");
    data_ = static_cast<const std::byte*>(mapped);
  }
  ~Mapping() {
    if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Hands out arrays from a mapped payload, never beyond its end.
class Cursor {
 public:
  Cursor(const fs::path& file, std::span<const std::byte> bytes) : file_(file), rest_(bytes) {}
  template <class T>
  std::span<const T> take(std::uint64_t count) {
    if (count > rest_.size() / sizeof(T) || aligned(count * sizeof(T)) > rest_.size())
      fail(file_, "is damaged (cut short)");
    const auto* first = reinterpret_cast<const T*>(rest_.data());
    rest_ = rest_.subspan(aligned(count * sizeof(T)));
    return {first, static_cast<std::size_t>(count)};
  }

 private:
  const fs::path& file_;
  std::span<const std::byte> rest_;
};

void check_header(const fs::path& file, const FileHeader& header,
                  std::span<const std::byte> bytes) {
  if (header.magic != kMagic) fail(file, "is no index snapshot");
  if (header.byte_order != kByteOrder) fail(file, "was written on a machine of another byte order");
  if (header.format != kFormat)
    fail(file, "has format " + std::to_string(header.format) + ", this spintag reads " +
                   std::to_string(kFormat));
  if (header.profile_version != BroadcastProfile::version) {
    fail(file, "was made with fingerprint version " + std::to_string(header.profile_version) +
                   ", this spintag uses " + std::to_string(BroadcastProfile::version) +
                   " (export it again)");
  }
  if (bytes.size() - sizeof(FileHeader) != header.payload_bytes)
    fail(file, "is damaged (wrong length)");
  Sha256 hash;
  hash.add(bytes.data() + sizeof(FileHeader), bytes.size() - sizeof(FileHeader));
  if (hash.finish() != header.sha256) fail(file, "is damaged (checksum)");
}

}  // namespace

void Index::save(const fs::path& file, std::int64_t stamp) const {
  // Tracks that were removed are left behind.
  std::vector<std::shared_ptr<const IndexShard>> clean;
  for (const auto& shard : shards_) clean.push_back(shard->compacted());
  Writer writer(file);
  FileHeader header;
  header.stamp = stamp;
  header.shards = static_cast<std::uint32_t>(clean.size());
  writer.write(&header, sizeof header);
  for (const auto& shard : clean) {
    const ShardArrays& arrays = shard->arrays();
    ShardHeader sizes;
    sizes.tracks = arrays.tracks.size();
    sizes.directory = arrays.directory.size();
    sizes.words = arrays.words.size();
    sizes.packed = arrays.packed.size();
    sizes.metadata = arrays.metadata.size();
    sizes.units = arrays.units;
    writer.write_payload(&sizes, sizeof sizes);
    writer.write_payload(arrays.tracks);
    writer.write_payload(arrays.directory);
    writer.write_payload(arrays.words);
    writer.write_payload(arrays.packed);
    writer.write_payload(arrays.metadata);
  }
  writer.commit(header);
}

Index::Loaded Index::load(const fs::path& file) {
  const auto mapping = std::make_shared<Mapping>(file);
  const std::span<const std::byte> bytes = mapping->bytes();
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  check_header(file, header, bytes);
  Cursor cursor(file, bytes.subspan(sizeof(FileHeader)));
  auto index = std::make_shared<Index>();
  for (std::uint32_t i = 0; i < header.shards; ++i) {
    const ShardHeader sizes = cursor.take<ShardHeader>(1).front();
    ShardArrays arrays;
    arrays.tracks = cursor.take<ShardTrack>(sizes.tracks);
    arrays.directory = cursor.take<std::uint32_t>(sizes.directory);
    arrays.words = cursor.take<std::uint32_t>(sizes.words);
    arrays.packed = cursor.take<std::byte>(sizes.packed);
    arrays.metadata = cursor.take<char>(sizes.metadata);
    arrays.units = sizes.units;
    index->shards_.push_back(std::make_shared<IndexShard>(arrays, mapping));
  }
  return {index, header.stamp};
}

}  // namespace spintag::fingerprint
