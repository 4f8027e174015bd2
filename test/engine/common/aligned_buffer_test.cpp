// SPDX-License-Identifier: Apache-2.0
// aligned_buffer: aligned memory of zeros.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <new>
#include <string>
#include <utility>

#include "sanitized.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/common/aligned_buffer.hpp>

namespace {
/// The memory of this process that belongs to no file, in MiB; 0 where the system does not tell.
std::size_t resident_mebibytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::size_t kibibytes = 0;
  while (status >> word)
    if (word == "RssAnon:") status >> kibibytes;
  return kibibytes / 1024;
}
}  // namespace

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

TEST_CASE("a buffer that is not written is zero, and takes memory where it is written") {
  using lamina::engine::aligned_buffer;
  constexpr std::size_t mebibyte = (std::size_t{1} << 20) / sizeof(float);
  aligned_buffer b;
  for (const std::size_t floats : {std::size_t{100}, mebibyte, 5 * mebibyte, 64 * mebibyte + 16}) {
    b.resize_unwritten(floats);
    REQUIRE(b.size() == floats);
    CHECK(reinterpret_cast<std::uintptr_t>(b.data()) % 64 == 0);
    float sum = 0;
    for (std::size_t i = 0; i < floats; ++i) sum += b.data()[i];
    CHECK(sum == 0);
    b.data()[floats - 1] = 3;
    b.resize_unwritten(floats);
    CHECK(b.data()[floats - 1] == 3);
    aligned_buffer moved(std::move(b));
    CHECK(moved.data()[floats - 1] == 3);
    b = std::move(moved);
    CHECK(b.data()[floats - 1] == 3);
  }
  b.resize(10 * mebibyte);  // no longer pages of the system
  CHECK(b.data()[10 * mebibyte - 1] == 0);
  b.resize_unwritten(0);
  CHECK(b.data() == nullptr);

  const std::size_t before = resident_mebibytes();
  b.resize_unwritten(64 * mebibyte);
  b.use_small_pages();
  CHECK(resident_mebibytes() <= before + 8);
  for (std::size_t i = 0; i < b.size() / 4; ++i) b.data()[i] = 1;
  CHECK(resident_mebibytes() <= before + 16 + 8);
  aligned_buffer small(16);
  small.use_small_pages();
  aligned_buffer().use_small_pages();

  // Without so many addresses it is what resize() does without memory.
  if (!test::is_sanitized) {
    CHECK_THROWS_AS(b.resize_unwritten(std::size_t{1} << 58), std::bad_alloc);
    CHECK(b.size() == 0);
  }
}
