// SPDX-License-Identifier: Apache-2.0
// Memory that is given back: whole pages alone.

#include <cstddef>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/distributed/embedding/row_mapping.hpp>
#include <lamina/distributed/sync/release_pages.hpp>

TEST_CASE("the whole pages of a range are given back, and may be written again") {
  using lamina::distributed::release_pages;
  using lamina::distributed::row_mapping;
  const std::size_t page = row_mapping::page() / sizeof(float);
  const row_mapping memory(8 * row_mapping::page(), "test");
  float* const at = reinterpret_cast<float*>(memory.data());
  const auto fill = [&] {
    for (std::size_t k = 0; k < 8 * page; ++k) at[k] = 1;
  };
  /// The pages that hold zeros, as a string of eight digits.
  const auto released = [&] {
    std::vector<char> found(8, '1');
    for (std::size_t k = 0; k < 8 * page; ++k)
      if (at[k] != 0) found[k / page] = '0';
    return std::string(found.begin(), found.end());
  };
#if defined(__linux__)
  const std::string expected[] = {"01100000", "01000000", "00000000"};
#else
  const std::string expected[] = {"00000000", "00000000", "00000000"};
#endif
  fill();
  release_pages(at + page, at + 3 * page);
  CHECK(released() == expected[0]);
  fill();
  release_pages(at + 1, at + 3 * page - 1);
  CHECK(released() == expected[1]);
  fill();
  release_pages(at + 1, at + page + 5);  // no whole page
  release_pages(at + page + 3, at + page + 3);
  release_pages(nullptr, nullptr);
  CHECK(released() == expected[2]);
}
