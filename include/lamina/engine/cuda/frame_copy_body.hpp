// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/frame_copy_body.hpp - copies of the frame of a loop that a graph repeats: one
// an iteration, at a number that the device counts.
#pragma once

#include <lamina/engine/cuda/call_arguments.hpp>
#include <lamina/engine/cuda/pack.hpp>

namespace lamina::engine::cuda {

/// Keeps the frame of the iteration that was begun last.
struct keep_frame_body {
  struct arguments {
    const float* frame;
    float* copies;
    const unsigned* begun;
    int count;  // packs of a frame
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const std::ptrdiff_t at = std::ptrdiff_t{*a.begun - 1} * a.count + i;
    store_pack(a.copies + at * pack_width, load_constant(a.frame + std::ptrdiff_t{i} * pack_width));
  }
};

/// Brings back the frame of the iteration that the gradient of the loop has come to, the last one
/// first.
struct take_frame_body {
  struct arguments {
    const float* copies;
    float* frame;
    const unsigned *begun, *done;
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const std::ptrdiff_t at = std::ptrdiff_t{*a.begun - *a.done} * a.count + i;
    store_pack(a.frame + std::ptrdiff_t{i} * pack_width, load_constant(a.copies + at * pack_width));
  }
};

}  // namespace lamina::engine::cuda
