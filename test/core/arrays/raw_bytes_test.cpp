// SPDX-License-Identifier: Apache-2.0
// raw_bytes: aligned memory that is moved and not copied.
#include <cstdint>
#include <string_view>
#include <utility>

#include <catch2/catch.hpp>

#include <lamina/core/arrays/raw_bytes.hpp>

TEST_CASE("raw bytes are aligned, hold what was copied into them, and move") {
  lamina::raw_bytes a(std::string_view("abc", 3));
  CHECK(a.view() == "abc");
  CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 64 == 0);
  const char* const at = a.data();
  lamina::raw_bytes b(std::move(a));
  CHECK(b.data() == at);
  lamina::raw_bytes c;
  CHECK(c.size() == 0);
  c = std::move(b);
  CHECK(c.view() == "abc");
  c.resize(std::size_t{5} << 20);  // large enough for large pages
  CHECK(reinterpret_cast<std::uintptr_t>(c.data()) % (std::size_t{2} << 20) == 0);
  c.data()[c.size() - 1] = 'z';
  c.resize(0);
  CHECK(c.data() == nullptr);
}
