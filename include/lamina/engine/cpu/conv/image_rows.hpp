// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/image_rows.hpp - the images of a mini-batch, a function that processes
// each finished image, and a class that divides scratch memory into parts.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/core/arrays/padding.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The images of a mini-batch, `stride` floats apart.
struct image_rows {
  float* data;
  std::ptrdiff_t stride;
};

/// A function that processes each image of a result as soon as the image is finished. `run` gets
/// the index of the image in the mini-batch.
struct image_epilogue {
  void (*run)(const void* context, int row) = nullptr;
  const void* context = nullptr;

  void operator()(int row) const {
    if (run != nullptr) run(context, row);
  }
};

/// Divides scratch memory into parts, each aligned to 64 bytes. If it is constructed without
/// memory, it only counts how many floats the parts need.
class scratch_parts {
 public:
  explicit scratch_parts(float* at = nullptr) : begin_(at), at_(0) {}
  float* floats(std::ptrdiff_t n) {
    float* const p = begin_ == nullptr ? nullptr : begin_ + at_;
    at_ += (n + alignment_floats - 1) / alignment_floats * alignment_floats;
    return p;
  }
  int* integers(std::ptrdiff_t n) { return reinterpret_cast<int*>(floats(n)); }
  std::ptrdiff_t used() const { return at_; }

 private:
  float* begin_;
  std::ptrdiff_t at_;
};

}}}  // namespace lamina::engine::cpu
