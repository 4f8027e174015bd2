// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/frame_stack.hpp - the memory of iterations, last in, first out.
#pragma once

#include <cstddef>

#include <lamina/core/growing.hpp>
#include <lamina/engine/cpu/aligned_buffer.hpp>

namespace lamina::engine::cpu {

/// A stack of chunks that never move, so that what lies in it keeps its address while it grows. It
/// never shrinks: a run that needs no more than one before allocates nothing.
class frame_stack {
 public:
  /// A height of the stack, to go back to.
  struct mark {
    int chunk;
    std::size_t used;
  };

  frame_stack() = default;
  frame_stack(const frame_stack&) = delete;
  frame_stack& operator=(const frame_stack&) = delete;
  frame_stack(frame_stack&& other) noexcept { swap(other); }
  frame_stack& operator=(frame_stack&& other) noexcept {
    swap(other);
    return *this;
  }
  ~frame_stack() {
    for (int i = 0; i < chunks_.count; ++i) delete chunks_[i];
  }

  /// `floats` floats, aligned to 64 bytes; all memory is zero when it is used first.
  float* push(std::size_t floats) {
    const std::size_t wanted = (floats + 15) / 16 * 16;
    while (top_.chunk < chunks_.count && chunks_[top_.chunk]->size() - top_.used < wanted)
      top_ = {top_.chunk + 1, 0};
    if (top_.chunk == chunks_.count) {
      // Each chunk is as large as all before it.
      const std::size_t least = total_ < first_chunk ? first_chunk : total_;
      chunks_.push(new aligned_buffer(wanted > least ? wanted : least));
      total_ += chunks_[top_.chunk]->size();
    }
    float* const at = chunks_[top_.chunk]->data() + top_.used;
    top_.used += wanted;
    return at;
  }
  mark top() const { return top_; }
  /// Frees all that was pushed since.
  void reset(mark to) { top_ = to; }

 private:
  static constexpr std::size_t first_chunk = 1 << 14;

  void swap(frame_stack& other) noexcept {
    std::swap(chunks_.items, other.chunks_.items);
    std::swap(chunks_.count, other.chunks_.count);
    std::swap(chunks_.capacity, other.chunks_.capacity);
    std::swap(top_, other.top_);
    std::swap(total_, other.total_);
  }

  growing<aligned_buffer*> chunks_{};
  mark top_{0, 0};
  std::size_t total_ = 0;
};

}  // namespace lamina::engine::cpu
