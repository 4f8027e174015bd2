// SPDX-License-Identifier: Apache-2.0
// frame_stack: memory that is aligned, zero at first, and never moves.
#include <cstdint>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/common/frame_stack.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>

using stack = lamina::engine::frame_stack<lamina::engine::cpu::buffer_chunks>;

TEST_CASE("frames are aligned, do not overlap and keep their values while the stack grows") {
  stack s;
  std::vector<float*> frames;
  for (int i = 0; i < 200; ++i) {
    const std::size_t floats = static_cast<std::size_t>(i * 37 % 900 + 1);
    float* const f = s.push(floats);
    REQUIRE(reinterpret_cast<std::uintptr_t>(f) % 64 == 0);
    REQUIRE((f[0] == 0 && f[floats - 1] == 0));
    for (std::size_t j = 0; j < floats; ++j) f[j] = static_cast<float>(i);
    frames.push_back(f);
  }
  for (int i = 0; i < 200; ++i) {
    const float expected = static_cast<float>(i);
    REQUIRE(frames[static_cast<std::size_t>(i)][0] == expected);
    REQUIRE(frames[static_cast<std::size_t>(i)][i * 37 % 900] == expected);
  }
}

TEST_CASE("after a reset the same memory is used again") {
  stack s;
  s.push(100);
  const stack::mark here = s.top();
  float* const first = s.push(50);
  float* const large = s.push(1 << 20);
  s.reset(here);
  CHECK(s.push(50) == first);
  CHECK(s.push(1 << 20) == large);
  stack moved(std::move(s));
  moved.reset(here);
  CHECK(moved.push(50) == first);
}
