// SPDX-License-Identifier: Apache-2.0
// lamina/core/system/posix_memory.hpp - the functions of memory_functions.hpp on POSIX.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

#include <lamina/core/system/memory_functions.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail { namespace system {

#if defined(MAP_NORESERVE)
inline constexpr int unreserved = MAP_NORESERVE;
#else
inline constexpr int unreserved = 0;
#endif

void* map_zeros(std::size_t size, std::size_t alignment, bool reserves) {
  const std::size_t page = page_size(), more = alignment > page ? alignment : 0;
  size = (size + page - 1) / page * page;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (reserves ? 0 : unreserved);
  void* const found = ::mmap(nullptr, size + more, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (found == MAP_FAILED) return nullptr;
  if (more == 0) return found;
  // Unmaps the parts before and after the aligned part.
  char* const begin = static_cast<char*>(found);
  const std::size_t before = (more - reinterpret_cast<std::uintptr_t>(found) % more) % more;
  if (before > 0) ::munmap(begin, before);
  if (before < more) ::munmap(begin + before + size, more - before);
  return begin + before;
}

void unmap_zeros(void* bytes, std::size_t size) { ::munmap(bytes, size); }

bool zero_pages(void* bytes, std::size_t size) {
#if defined(__linux__)
  return ::madvise(bytes, size, MADV_DONTNEED) == 0;
#else
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | unreserved;
  return ::mmap(bytes, size, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED;
#endif
}

void use_huge_pages([[maybe_unused]] void* bytes, [[maybe_unused]] std::size_t size) {
#if defined(MADV_HUGEPAGE)
  ::madvise(bytes, size, MADV_HUGEPAGE);
#endif
}

void use_small_pages([[maybe_unused]] void* bytes, [[maybe_unused]] std::size_t size) {
#if defined(MADV_NOHUGEPAGE)
  ::madvise(bytes, size, MADV_NOHUGEPAGE);
#endif
}

void discard_pages([[maybe_unused]] void* bytes, [[maybe_unused]] std::size_t size) {
#if defined(__linux__)
  ::madvise(bytes, size, MADV_DONTNEED);
#endif
}

std::size_t page_size() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

}}}}  // namespace lamina::detail::system
