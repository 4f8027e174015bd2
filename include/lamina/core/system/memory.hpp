// SPDX-License-Identifier: Apache-2.0
// lamina/core/system/memory.hpp - the functions for pages of memory that lamina calls, with the
// bodies for the system for which the compiler compiles.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/system/memory_functions.hpp>

#if LAMINA_DEFINES
#if defined(_WIN32)
#include <lamina/core/system/windows_memory.hpp>
#elif defined(__unix__) || defined(__APPLE__)
#include <lamina/core/system/posix_memory.hpp>
#else
// Without pages, as on microcontrollers and WebAssembly: memory comes from operator new alone.
namespace lamina { inline namespace LAMINA_ABI { namespace detail { namespace system {

void* map_zeros(std::size_t, std::size_t, bool) { return nullptr; }
void unmap_zeros(void*, std::size_t) {}
bool zero_pages(void*, std::size_t) { return false; }
void use_huge_pages(void*, std::size_t) {}
void use_small_pages(void*, std::size_t) {}
void discard_pages(void*, std::size_t) {}
std::size_t page_size() { return 4096; }

}}}}  // namespace lamina::detail::system
#endif
#endif  // LAMINA_DEFINES
