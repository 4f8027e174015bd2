// SPDX-License-Identifier: Apache-2.0
// lamina/core/system/plain_memory.hpp - the functions of memory_functions.hpp on systems without
// pages, such as microcontrollers and WebAssembly: memory comes from operator new alone.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/core/system/memory_functions.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail { namespace system {

void* map_zeros(std::size_t, std::size_t, bool) { return nullptr; }
void unmap_zeros(void*, std::size_t) {}
bool zero_pages(void*, std::size_t) { return false; }
void use_huge_pages(void*, std::size_t) {}
void use_small_pages(void*, std::size_t) {}
void discard_pages(void*, std::size_t) {}
std::size_t page_size() { return 4096; }

}}}}  // namespace lamina::detail::system
