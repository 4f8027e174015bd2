// SPDX-License-Identifier: Apache-2.0
// lamina/core/system/memory_functions.hpp - the functions for pages of memory that lamina calls, as
// each system must provide them. Include memory.hpp, which has the bodies. These functions are
// apart from those of system_functions.hpp because a static evaluator needs them alone.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

namespace lamina { inline namespace LAMINA_ABI { namespace detail { namespace system {

/// Maps `size` bytes that are zero and take no memory until they are written, at a multiple of
/// `alignment`, a power of two; on Windows, at a multiple of 64 KiB. If `reserves`, the system may
/// refuse a size for which it lacks memory now. Returns null if the system refuses.
LAMINA_API_COLD void* map_zeros(std::size_t size, std::size_t alignment, bool reserves);
LAMINA_API_COLD void unmap_zeros(void* bytes, std::size_t size);
/// Gives whole pages of map_zeros() back to the system; they then are zero again.
LAMINA_API_COLD bool zero_pages(void* bytes, std::size_t size);
/// Hints: the system may place this memory in huge pages; it should use small pages; the contents
/// of these whole pages are no longer needed. A system may ignore them.
LAMINA_API_COLD void use_huge_pages(void* bytes, std::size_t size);
LAMINA_API_COLD void use_small_pages(void* bytes, std::size_t size);
LAMINA_API_COLD void discard_pages(void* bytes, std::size_t size);
/// Returns the number of bytes of a page.
LAMINA_API_COLD std::size_t page_size();

}}}}  // namespace lamina::detail::system
