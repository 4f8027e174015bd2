// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/memory/device_tensor_array.hpp - device memory for frames and tensor arrays.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/common/tensor_array.hpp>
#include <lamina/engine/cuda/device/device_buffer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// A chunk of device memory for a frame_stack. The host computes all addresses in it.
template <class Backend>
class device_chunk {
 public:
  device_chunk(Backend& b, std::size_t floats) : buffer_(b) {
    buffer_.reserve(floats * sizeof(float));
  }
  float* data() const { return reinterpret_cast<float*>(buffer_.data()); }
  std::size_t size() const { return buffer_.size() / sizeof(float); }

 private:
  device_buffer<Backend> buffer_;
};
template <class Backend>
struct device_chunks {
  using chunk = device_chunk<Backend>;
  chunk* make(std::size_t floats) { return new chunk(*backend, floats); }

  Backend* backend = nullptr;
};
template <class Backend>
using device_tensor_array = engine::tensor_array<device_chunks<Backend>>;

}}}  // namespace lamina::engine::cuda
