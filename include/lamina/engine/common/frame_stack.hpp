// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/frame_stack.hpp - a stack allocator for the frames of loop iterations.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <utility>

#include <lamina/core/compile_time/constexpr_vector.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// A stack of floats in chunks that never move, so pushed values keep their addresses while the
/// stack grows. The stack keeps its chunks: a run that needs no more memory than an earlier run
/// allocates nothing. `Chunks` allocates a chunk by `Chunks::chunk* make(floats)`; a chunk has
/// data() and size(), the number of its floats.
template <class Chunks>
class frame_stack {
 public:
  /// A height of the stack, to which reset() returns.
  struct mark {
    int chunk;
    std::size_t used;
  };

  frame_stack() = default;
  explicit frame_stack(Chunks from) : from_(from) {}
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

  /// Allocates `floats` floats, aligned to 64 bytes. Memory of a new chunk is zero; memory that
  /// reset() freed keeps its old contents.
  float* push(std::size_t floats) {
    const std::size_t wanted = (floats + 15) / 16 * 16;
    while (top_.chunk < chunks_.count && chunks_[top_.chunk]->size() - top_.used < wanted)
      top_ = {top_.chunk + 1, 0};
    if (top_.chunk == chunks_.count) {
      // Each chunk is at least as large as all earlier chunks together.
      const std::size_t least = total_ < first_chunk ? first_chunk : total_;
      // Before make(), so a failure of reserve() leaks no chunk.
      if (chunks_.count == chunks_.capacity)
        chunks_.reserve(chunks_.capacity == 0 ? 64 : 4 * chunks_.capacity);
      chunks_.push(from_.make(wanted > least ? wanted : least));
      total_ += chunks_[top_.chunk]->size();
    }
    float* const at = chunks_[top_.chunk]->data() + top_.used;
    top_.used += wanted;
    return at;
  }
  mark top() const { return top_; }
  /// Frees everything that was pushed after top() returned `to`.
  void reset(mark to) { top_ = to; }

 private:
  static constexpr std::size_t first_chunk = 1 << 14;

  void swap(frame_stack& other) noexcept {
    std::swap(from_, other.from_);
    std::swap(chunks_.items, other.chunks_.items);
    std::swap(chunks_.count, other.chunks_.count);
    std::swap(chunks_.capacity, other.chunks_.capacity);
    std::swap(top_, other.top_);
    std::swap(total_, other.total_);
  }

  [[no_unique_address]] Chunks from_{};
  constexpr_vector<typename Chunks::chunk*> chunks_{};
  mark top_{0, 0};
  std::size_t total_ = 0;
};

}}}  // namespace lamina::engine
