// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device_buffer.hpp - memory of a backend, and memory of the host beside it.
#pragma once

#include <cstddef>
#include <utility>

namespace lamina::engine::cuda {

/// Bytes in the memory of a place; begins at a multiple of 256 bytes, and holds zeros at first.
template <class Backend>
class device_buffer {
 public:
  explicit device_buffer(Backend& b) : backend_(&b) {}
  device_buffer(device_buffer&& other) noexcept
      : backend_(other.backend_),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  device_buffer(const device_buffer&) = delete;
  device_buffer& operator=(const device_buffer&) = delete;
  ~device_buffer() { backend_->release(data_); }

  /// Makes room; the old contents are lost. Returns whether the memory is another one.
  bool reserve(std::size_t bytes) {
    if (bytes <= size_) return false;
    backend_->release(std::exchange(data_, nullptr));
    size_ = 0;
    data_ = backend_->allocate(bytes);
    size_ = bytes;
    return true;
  }
  char* data() const { return static_cast<char*>(data_); }
  std::size_t size() const { return size_; }

 private:
  Backend* backend_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Memory of the host that copies to and from a place start at.
template <class Backend>
class staging_buffer {
 public:
  explicit staging_buffer(Backend& b) : backend_(&b) {}
  staging_buffer(staging_buffer&& other) noexcept
      : backend_(other.backend_),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  staging_buffer(const staging_buffer&) = delete;
  staging_buffer& operator=(const staging_buffer&) = delete;
  ~staging_buffer() { backend_->release_staging(data_); }

  bool reserve(std::size_t bytes) {
    if (bytes <= size_) return false;
    backend_->release_staging(std::exchange(data_, nullptr));
    size_ = 0;
    data_ = backend_->allocate_staging(bytes);
    size_ = bytes;
    return true;
  }
  char* data() const { return static_cast<char*>(data_); }
  std::size_t size() const { return size_; }

 private:
  Backend* backend_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace lamina::engine::cuda
