// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/sync/release_pages.hpp - returns memory to the system and keeps its addresses.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>

#include <lamina/distributed/embedding/row_mapping.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

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
