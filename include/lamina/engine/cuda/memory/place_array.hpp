// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/memory/place_array.hpp - frames and arrays of tensors in the memory of a
// place.
#pragma once

#include <cstddef>

#include <lamina/engine/common/tensor_array.hpp>
#include <lamina/engine/cuda/device/device_buffer.hpp>

namespace lamina::engine::cuda {

/// Memory of a place for a stack. The host knows where everything in it lies.
template <class Backend>
class place_chunk {
 public:
  place_chunk(Backend& b, std::size_t floats) : buffer_(b) {
    buffer_.reserve(floats * sizeof(float));
  }
  float* data() const { return reinterpret_cast<float*>(buffer_.data()); }
  std::size_t size() const { return buffer_.size() / sizeof(float); }

 private:
  device_buffer<Backend> buffer_;
};
template <class Backend>
struct place_chunks {
  using chunk = place_chunk<Backend>;
  chunk* make(std::size_t floats) { return new chunk(*backend, floats); }

  Backend* backend = nullptr;
};
template <class Backend>
using place_array = engine::tensor_array<place_chunks<Backend>>;

}  // namespace lamina::engine::cuda
