// SPDX-License-Identifier: Apache-2.0
// lamina/core/system/windows_memory.hpp - the functions of memory_functions.hpp on Windows, which
// declares the functions of the system as windows.hpp does.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <cstddef>

#include <lamina/core/system/memory_functions.hpp>

#define LAMINA_WINDOWS(type) __declspec(dllimport) type __stdcall
extern "C" {
LAMINA_WINDOWS(void*) VirtualAlloc(void*, std::size_t, unsigned long, unsigned long);
LAMINA_WINDOWS(int) VirtualFree(void*, std::size_t, unsigned long);
}
#undef LAMINA_WINDOWS

namespace lamina { inline namespace LAMINA_ABI { namespace detail { namespace system {

void* map_zeros(std::size_t size, std::size_t, bool) {
  constexpr unsigned long reserve_commit = 0x3000, read_write = 4;
  void* const found = ::VirtualAlloc(nullptr, size, reserve_commit, read_write);
  if (found == nullptr) errno = ENOMEM;
  return found;
}

void unmap_zeros(void* bytes, std::size_t) { ::VirtualFree(bytes, 0, 0x8000); }

bool zero_pages(void* bytes, std::size_t size) {
  constexpr unsigned long commit = 0x1000, decommit = 0x4000, read_write = 4;
  if (::VirtualFree(bytes, size, decommit) != 0 &&
      ::VirtualAlloc(bytes, size, commit, read_write) != nullptr)
    return true;
  errno = ENOMEM;
  return false;
}

void use_huge_pages(void*, std::size_t) {}
void use_small_pages(void*, std::size_t) {}
void discard_pages(void*, std::size_t) {}

std::size_t page_size() { return 4096; }

}}}}  // namespace lamina::detail::system
