// SPDX-License-Identifier: Apache-2.0
// Memory that takes no place until it is written, and none after it is released.

#include <cstddef>
#include <string>
#include <utility>

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
