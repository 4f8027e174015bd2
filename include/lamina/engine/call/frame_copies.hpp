// SPDX-License-Identifier: Apache-2.0
// lamina/engine/call/frame_copies.hpp - frames of loops along whose iterations the host does not
// walk.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <lamina/engine/call/block_schedule.hpp>
#include <lamina/engine/call/frame_stack.hpp>

namespace lamina::engine {

/// What stands for the frames of such a loop: kernels use one frame, and each iteration leaves a
/// copy of it.
struct frame_copies {
  float* frame;
  float* copies;       // one behind the other
  std::size_t floats;  // of a frame; 0 where nothing is kept
  std::uint64_t most;  // copies that there is room for
};

/// Those of all loops of a program.
template <class Tables>
class loops_with_copies {
 public:
  /// Somebody has walked along a loop: it had so many iterations.
  void note_walk(int loop, std::uint64_t iterations) {
    longest_[loop] = std::max(longest_[loop], iterations);
  }
  /// Takes memory for one frame, and for twice as many copies as any walk has needed.
  /// rows(domain): how many there are; place(kept_rows, data): where they lie from now on.
  template <class Chunks, class Rows, class Place>
  void make(int loop, frame_stack<Chunks>& memory, std::uint64_t limit, const Rows& rows,
            const Place& place) {
    const loop_desc& of = Tables::table.loops[loop];
    const auto floats_of = [&](const kept_rows& kept) {
      return (static_cast<std::size_t>(kept.width) * static_cast<std::size_t>(rows(kept.domain)) +
              15) /
             16 * 16;
    };
    std::size_t floats = 0;
    for (int k = of.kept; k < of.kept + of.kept_count; ++k)
      floats += floats_of(Tables::table.kept[k]);
    copies_[loop] = {nullptr, nullptr, floats, limit};
    if (floats == 0) return;
    const std::uint64_t most = std::min(std::max<std::uint64_t>(2 * longest_[loop], 16), limit);
    float* const frame = memory.push(floats * (static_cast<std::size_t>(most) + 1));
    copies_[loop] = {frame, frame + floats, floats, most};
    float* at = frame;
    for (int k = of.kept; k < of.kept + of.kept_count; ++k) {
      place(Tables::table.kept[k], at);
      at += floats_of(Tables::table.kept[k]);
    }
  }
  const frame_copies& of(int loop) const { return copies_[loop]; }

 private:
  std::uint64_t longest_[at_least_one(Tables::loop_count)] = {};
  frame_copies copies_[at_least_one(Tables::loop_count)] = {};
};
/// Of an engine whose loops are all walked along.
struct no_copies {};

}  // namespace lamina::engine
