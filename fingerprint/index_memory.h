// fingerprint/index_memory.h - memory of an index while and after it is built: large arrays that
// many threads fill, and scratch that is given back piece by piece.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace spintag::fingerprint {

/// An array that nobody has written yet: its memory is first touched by the thread that fills it.
/// Large ones ask for huge pages, since a lookup goes anywhere.
template <class T>
class RawArray {
 public:
  RawArray() = default;
  explicit RawArray(std::size_t size) : size_(size) {
    constexpr std::size_t kHugePage = std::size_t{2} << 20;
    const std::size_t bytes = size * sizeof(T);
    const std::size_t alignment = bytes < 8 * kHugePage ? 64 : kHugePage;
    const std::size_t padded = (bytes + alignment - 1) / alignment * alignment;
    data_.reset(static_cast<T*>(std::aligned_alloc(alignment, std::max(padded, alignment))));
    if (!data_) throw std::bad_alloc();
    if (alignment == kHugePage) ::madvise(data_.get(), padded, MADV_HUGEPAGE);
  }
  T* data() const { return data_.get(); }
  T& operator[](std::size_t i) const { return data_.get()[i]; }
  std::span<T> span() const { return {data_.get(), size_}; }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
};

/// Postings of one part that fall into one region: what fits in four pages.
struct alignas(4096) Chunk {
  static constexpr std::size_t kPostings = 2'720;
  std::array<std::uint32_t, kPostings> words;
  std::array<std::uint16_t, kPostings> buckets;  ///< within the region
  Chunk* before;                                 ///< of the same part and region
  std::uint32_t used;
};
static_assert(sizeof(Chunk) == 4 * 4096);

/// Chunks for one part, handed out one after the other. Only those that were written take memory.
class ChunkArena {
 public:
  explicit ChunkArena(std::size_t most) : bytes_(most * sizeof(Chunk)) {
    void* mapped = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    first_ = next_ = static_cast<Chunk*>(mapped);
  }
  ~ChunkArena() { ::munmap(first_, bytes_); }
  ChunkArena(const ChunkArena&) = delete;
  ChunkArena& operator=(const ChunkArena&) = delete;

  Chunk* take(Chunk* before) {
    next_->before = before;
    next_->used = 0;
    return next_++;
  }
  /// Its memory; any thread may.
  static void give_back(Chunk* chunk) { ::madvise(chunk, sizeof(Chunk), MADV_DONTNEED); }

 private:
  std::size_t bytes_;
  Chunk* first_ = nullptr;
  Chunk* next_ = nullptr;
};

}  // namespace spintag::fingerprint
