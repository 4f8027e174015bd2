// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/aligned_buffer.hpp - memory for vectors: aligned to 64 bytes, zeroed.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

namespace lamina::engine::cpu {

/// An array of floats that begins at a multiple of 64 bytes. Padding must hold finite numbers, so
/// new memory is zeroed.
class aligned_buffer {
 public:
  aligned_buffer() = default;
  explicit aligned_buffer(std::size_t floats) { resize(floats); }
  aligned_buffer(aligned_buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  aligned_buffer& operator=(aligned_buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  aligned_buffer(const aligned_buffer&) = delete;
  aligned_buffer& operator=(const aligned_buffer&) = delete;
  ~aligned_buffer() { release(); }

  /// Makes room for `floats`; the old contents are lost.
  void resize(std::size_t floats) {
    if (floats == size_) return;
    release();
    if (floats == 0) return;
    data_ = static_cast<float*>(::operator new (floats * sizeof(float), std::align_val_t{64}));
    size_ = floats;
    std::memset(data_, 0, floats * sizeof(float));
  }

  float* data() noexcept { return data_; }
  const float* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  void release() noexcept {
    if (data_ != nullptr) ::operator delete (data_, std::align_val_t{64});
    data_ = nullptr;
    size_ = 0;
  }
  float* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace lamina::engine::cpu
