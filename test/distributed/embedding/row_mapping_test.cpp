// SPDX-License-Identifier: Apache-2.0
// Memory that takes no place until it is written, and none after it is released.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/embedding/row_mapping.hpp>

namespace {

using lamina::distributed::row_mapping;

}  // namespace

TEST_CASE("released pages are zero, and bytes beside them stay") {
  const std::size_t page = row_mapping::page();
  row_mapping m(8 * page, "t");
  for (std::size_t k = 0; k < m.size(); ++k) m.data()[k] = std::byte{7};
  m.release(page / 2, 3 * page + 5);  // pages 1 and 2 lie within
  m.release(5 * page + 1, 6 * page);  // no page does
  std::size_t zeros = 0;
  for (std::size_t k = 0; k < m.size(); ++k) zeros += m.data()[k] == std::byte{0} ? 1u : 0u;
  CHECK(zeros == 2 * page);
  CHECK(m.data()[page] == std::byte{0});
  CHECK(m.data()[3 * page - 1] == std::byte{0});
  row_mapping moved = std::move(m);
  moved.fill(0, moved.size());
  CHECK(moved.data()[3 * page] == std::byte{7});
}

TEST_CASE("a table for which the system has no addresses is named") {
  try {
    const row_mapping m(std::size_t{1} << 62, "words");
    FAIL("expected an error");
  } catch (const lamina::error& e) {
    CHECK(std::string(e.what()).starts_with(
        "lamina: distributed: table words: expected addresses for 4611686018427387904 bytes"));
  }
}

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
