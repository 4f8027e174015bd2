// SPDX-License-Identifier: Apache-2.0
// Pages of memory: they begin as zeros, and are zeros again when the system has had them back.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <catch2/catch.hpp>

#include <lamina/core/system/memory.hpp>

namespace {

namespace sys = lamina::detail::system;

}  // namespace

TEST_CASE("memory that starts as zeros can be given back") {
  const std::size_t page = sys::page_size(), size = 64 * page;
  char* const bytes = static_cast<char*>(sys::map_zeros(size, std::size_t{1} << 16, true));
  REQUIRE(bytes != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(bytes) % (std::size_t{1} << 16) == 0);
  CHECK(std::count(bytes, bytes + size, 0) == static_cast<std::ptrdiff_t>(size));
  std::fill_n(bytes, size, 'x');
  CHECK(sys::zero_pages(bytes + page, 2 * page));
  CHECK(bytes[0] == 'x');
  CHECK(std::count(bytes, bytes + size, 0) == static_cast<std::ptrdiff_t>(2 * page));
  sys::use_huge_pages(bytes, size);
  sys::use_small_pages(bytes, size);
  CHECK(bytes[size - 1] == 'x');
  sys::unmap_zeros(bytes, size);
}
