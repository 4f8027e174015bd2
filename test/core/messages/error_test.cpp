// SPDX-License-Identifier: Apache-2.0
// Errors carry their whole message, zero bytes included, and files an offset.
#include <string>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>

TEST_CASE("a message with a zero byte stays whole") {
  CHECK(lamina::error(std::string("a\0b", 3)).what() == std::string("a\\0b"));
}

TEST_CASE("a format_error names file, offset and reason") {
  try {
    throw lamina::format_error("weights.npy", 12, "expected a header");
  } catch (const lamina::error& e) {  // it is an error too
    CHECK(e.what() == std::string("lamina: weights.npy, offset 12: expected a header"));
    const auto& found = dynamic_cast<const lamina::format_error&>(e);
    CHECK(found.file() == "weights.npy");
    CHECK(found.offset() == 12);
  }
}
