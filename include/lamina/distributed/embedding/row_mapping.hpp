// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/embedding/row_mapping.hpp - sparse memory for a process's rows of large
// tables, and a function that returns pages to the system.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#include <unistd.h>

#define LAMINA_HAS_MMAP 1
#else
#define LAMINA_HAS_MMAP 0
#endif

#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Memory that reads as zero and uses no physical pages until it is written.
class row_mapping {
 public:
  row_mapping() = default;
  /// `what` is the name of the table in errors. Throws lamina::error if the system has no address
  /// space left.
  LAMINA_COLD row_mapping(std::size_t bytes, const std::string& what) : size_(bytes) {
#if LAMINA_HAS_MMAP
    void* const found = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (found == MAP_FAILED)
      throw error(text() << "lamina: distributed: table " << what << ": expected addresses for "
                         << bytes << " bytes, found none: " << reason_of(errno));
    data_ = static_cast<std::byte*>(found);
#if defined(MADV_NOHUGEPAGE)
    // With huge pages, one fetched row would occupy memory for many rows of other processes.
    (void)::madvise(data_, bytes, MADV_NOHUGEPAGE);
#endif
#else
    throw error(text() << "lamina: distributed: table " << what
                       << ": expected a system with mmap, found another one; leave is_distributed "
                          "out");
#endif
  }
  row_mapping(row_mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  row_mapping& operator=(row_mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  row_mapping(const row_mapping&) = delete;
  row_mapping& operator=(const row_mapping&) = delete;
  ~row_mapping() {
#if LAMINA_HAS_MMAP
    if (data_ != nullptr) ::munmap(data_, size_);
#endif
  }

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  static std::size_t page() {
#if LAMINA_HAS_MMAP
    static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return size;
#else
    return 4096;
#endif
  }

  /// Announces that all bytes of [first, end) will be used, so that huge pages waste no memory.
  LAMINA_COLD void fill([[maybe_unused]] std::size_t first, [[maybe_unused]] std::size_t end) {
#if defined(MADV_HUGEPAGE)
    const auto [a, b] = pages_within(first, end);
    if (b > a) (void)::madvise(data_ + a, b - a, MADV_HUGEPAGE);
#endif
  }
  /// Returns the whole pages within bytes [first, end) to the system; they read as zero afterwards.
  void release(std::size_t first, std::size_t end) {
#if LAMINA_HAS_MMAP
    const auto [a, b] = pages_within(first, end);
    if (b <= a) return;
#if defined(__linux__)
    if (::madvise(data_ + a, b - a, MADV_DONTNEED) == 0) return;
#else
    if (::mmap(data_ + a, b - a, PROT_READ | PROT_WRITE, flags | MAP_FIXED, -1, 0) != MAP_FAILED)
      return;
#endif
    throw error(text() << "lamina: distributed: expected to give back " << b - a
                       << " bytes of a table, found: " << reason_of(errno));
#else
    (void)first, (void)end;
#endif
  }

 private:
#if LAMINA_HAS_MMAP
#if defined(MAP_NORESERVE)
  static constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
#else
  static constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#endif
#endif
  static std::pair<std::size_t, std::size_t> pages_within(std::size_t first, std::size_t end) {
    return {(first + page() - 1) / page() * page(), end / page() * page()};
  }

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Returns the memory of the whole pages within [first, end) to the system; their contents are
/// lost. The pages can still be read and written afterwards. Does nothing on systems without such a
/// call.
inline void release_pages([[maybe_unused]] float* first, [[maybe_unused]] float* end) noexcept {
#if defined(__linux__)
  const std::uintptr_t page = row_mapping::page();
  const std::uintptr_t a = (reinterpret_cast<std::uintptr_t>(first) + page - 1) / page * page,
                       b = reinterpret_cast<std::uintptr_t>(end) / page * page;
  if (b > a) (void)::madvise(reinterpret_cast<void*>(a), b - a, MADV_DONTNEED);
#endif
}

}}}  // namespace lamina::distributed
