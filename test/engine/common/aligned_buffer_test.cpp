// SPDX-License-Identifier: Apache-2.0
// aligned_buffer: aligned memory of zeros.
#include <cstdint>
#include <utility>

#include <catch2/catch.hpp>

#include <lamina/engine/common/aligned_buffer.hpp>

TEST_CASE("a buffer is aligned, zero and moved, and keeps its content where its size does") {
  using lamina::engine::aligned_buffer;
  for (const std::size_t floats : {std::size_t{1}, std::size_t{100}, std::size_t{2} << 20}) {
    aligned_buffer b(floats);
    REQUIRE(b.size() == floats);
    CHECK(reinterpret_cast<std::uintptr_t>(b.data()) % 64 == 0);
    float sum = 0;
    for (std::size_t i = 0; i < floats; ++i) sum += b.data()[i];
    CHECK(sum == 0);
    b.data()[floats - 1] = 3;
    b.resize(floats);
    CHECK(b.data()[floats - 1] == 3);
    float* const at = b.data();
    aligned_buffer moved(std::move(b));
    CHECK(moved.data() == at);
    moved.resize(floats + 1);
    CHECK(moved.data()[floats - 1] == 0);
    moved.resize(0);
    CHECK(moved.data() == nullptr);
  }
}
