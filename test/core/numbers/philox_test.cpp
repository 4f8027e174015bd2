// SPDX-License-Identifier: Apache-2.0
// philox gives the numbers of its authors.
#include <cstdint>

#include <catch2/catch.hpp>

#include <lamina/core/numbers/philox.hpp>

// The vectors of Random123, file kat_vectors: counter, key, result.
TEST_CASE("philox 4x32-10 gives the numbers of its authors") {
  const auto is = [](const lamina::random_words& w, std::uint32_t a, std::uint32_t b,
                     std::uint32_t c, std::uint32_t d) {
    return w.word[0] == a && w.word[1] == b && w.word[2] == c && w.word[3] == d;
  };
  CHECK(is(lamina::philox(0, 0, 0), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  CHECK(is(lamina::philox(~0ull, ~0ull, ~0ull), 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  CHECK(is(lamina::philox(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88), 0xd16cfe09,
           0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST_CASE("uniform numbers are the words of a counter in turn, from 0 to below 1") {
  CHECK(lamina::uniform_from(0) == 0);
  CHECK(lamina::uniform_from(~0u) < 1);
  CHECK(lamina::uniform_from(~0u) == 1 - 0x1p-24f);
  for (std::uint64_t i = 0; i < 40; ++i)
    CHECK(lamina::uniform_at(5, 7, i) ==
          lamina::uniform_from(lamina::philox(5, 7, i / 4).word[i % 4]));
}
