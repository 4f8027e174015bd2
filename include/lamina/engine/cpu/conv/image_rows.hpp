// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/image_rows.hpp - the images of a mini-batch, a function that processes
// each finished image.
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

}}}  // namespace lamina::engine::cpu
