// SPDX-License-Identifier: Apache-2.0
// gzip: members, and streams that are damaged.
#include <string>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/io/archive/gzip.hpp>

#if LAMINA_HAS_ZLIB

namespace {

// "lamina", by gzip -n.
const std::string packed(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x49\xcc\xcd\xcc\x4b\x04\x00\xe9\xf8\x27\x25\x06"
    "\x00\x00\x00",
    26);

std::string unpacked(const std::string& bytes) {
  return lamina::detail::unpack_gzip(bytes, "file.gz");
}

}  // namespace

TEST_CASE("a gzip file is the content of all of its members") {
  CHECK(unpacked(packed) == "lamina");
  CHECK(unpacked(packed + packed) == "laminalamina");
}

TEST_CASE("a gzip file that is truncated, changed or followed by other bytes is refused") {
  for (std::size_t n = 1; n < packed.size(); ++n)
    CHECK_THROWS_AS(unpacked(packed.substr(0, n)), lamina::format_error);
  std::string changed = packed;
  changed[18] = static_cast<char>(changed[18] ^ 1);  // of the checksum
  CHECK_THROWS_AS(unpacked(changed), lamina::format_error);
  CHECK_THROWS_AS(unpacked(packed + "x"), lamina::format_error);
}

#endif
