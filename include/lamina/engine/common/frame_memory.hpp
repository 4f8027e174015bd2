// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/frame_memory.hpp - the memory of frames. A frame keeps the values of one
// loop iteration that the gradient of the iteration reads. It has a head, which consists of
// addresses and sizes, and the values.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <lamina/engine/common/frame_stack.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// Host memory for the heads of frames. The values of frames may be in device memory.
class host_chunk {
 public:
  explicit host_chunk(std::size_t floats) : memory_((floats + 1) / 2), floats_(floats) {}
  float* data() { return reinterpret_cast<float*>(memory_.data()); }
  std::size_t size() const { return floats_; }

 private:
  std::vector<std::uint64_t> memory_;
  std::size_t floats_;
};
struct host_chunks {
  using chunk = host_chunk;
  static chunk* make(std::size_t floats) { return new chunk(floats); }
};

/// Two stacks, one for the heads of frames and one for their values. They are separate because the
/// padding between rows of values must hold finite numbers, and the words of a head, read as
/// floats, may be NaN: memory that held a head is never used for values.
template <class Chunks>
struct frame_memory {
  using word = std::uintptr_t;
  /// The heights of both stacks. A head stores the two heights in `mark_words` words.
  struct marks {
    typename frame_stack<host_chunks>::mark heads;
    typename frame_stack<Chunks>::mark values;
  };
  static constexpr int mark_words = 4;

  marks top() const { return {heads.top(), values.top()}; }
  void reset(const marks& to) {
    heads.reset(to.heads);
    values.reset(to.values);
  }
  /// Frees the memory between two stored heights if this memory is at the top of both stacks.
  /// Otherwise does nothing; other frames can be above it, because the gradients of several costs
  /// need not visit the loops in reverse order. The next run, at the latest, frees such memory.
  void free(const word* begin, const word* end) {
    if (!is_above(heads.top(), kept(end).heads) && !is_above(values.top(), kept(end).values))
      reset(kept(begin));
  }
  static void keep(const marks& m, word* to) {
    to[0] = static_cast<word>(m.heads.chunk), to[1] = m.heads.used;
    to[2] = static_cast<word>(m.values.chunk), to[3] = m.values.used;
  }

  frame_stack<host_chunks> heads{};
  frame_stack<Chunks> values{};

 private:
  static marks kept(const word* from) {
    return {{static_cast<int>(from[0]), from[1]}, {static_cast<int>(from[2]), from[3]}};
  }
  template <class Mark>
  static bool is_above(const Mark& a, const Mark& b) {
    return a.chunk > b.chunk || (a.chunk == b.chunk && a.used > b.used);
  }
};

}}}  // namespace lamina::engine
