// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device/device_buffer.hpp - buffers in the memory of a backend, and host
// buffers for copies to and from them.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <utility>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// Throws lamina::error because the device does not have enough memory. Sizes are in bytes.
/// `planned` is the total for the mini-batch, or 0 if the request is not part of a plan.
[[noreturn]] LAMINA_COLD inline void fail_memory(std::size_t asked, std::size_t planned,
                                                 std::size_t in_use, std::size_t free,
                                                 std::size_t total) {
  text message("lamina: cuda: out of memory: asked for ");
  message << asked << " bytes";
  if (planned > 0) message << ", where " << planned << " are planned for this mini-batch,";
  throw error(message << " with " << in_use << " in use by this program; " << free << " of "
                      << total << " are free");
}

/// As long as an object lives, the error message of a failed allocation reports the total bytes of
/// the memory plan.
template <class Backend>
class planned_memory {
 public:
  planned_memory(Backend& b, std::size_t bytes) : backend_(b) { backend_.set_planned(bytes); }
  planned_memory(const planned_memory&) = delete;
  planned_memory& operator=(const planned_memory&) = delete;
  ~planned_memory() { backend_.set_planned(0); }

 private:
  Backend& backend_;
};

/// A buffer that a backend allocates: in device memory or, with Staging, in host memory for copies.
/// It is aligned to 256 bytes and zero-initialised.
template <class Backend, bool Staging>
class backend_buffer {
 public:
  explicit backend_buffer(Backend& b) : backend_(&b) {}
  backend_buffer(backend_buffer&& other) noexcept
      : backend_(other.backend_),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  backend_buffer(const backend_buffer&) = delete;
  backend_buffer& operator=(const backend_buffer&) = delete;
  ~backend_buffer() { release(); }

  /// Reserves at least `bytes` bytes. If the buffer must grow, its contents are lost. Returns
  /// whether the address has changed.
  bool reserve(std::size_t bytes) {
    if (bytes <= size_) return false;
    release();
    size_ = 0;
    if constexpr (Staging)
      data_ = backend_->allocate_staging(bytes);
    else
      data_ = backend_->allocate(bytes);
    size_ = bytes;
    return true;
  }
  char* data() const { return static_cast<char*>(data_); }
  std::size_t size() const { return size_; }

 private:
  void release() {
    void* const old = std::exchange(data_, nullptr);
    if (old == nullptr) return;
    if constexpr (Staging)
      backend_->release_staging(old);
    else
      backend_->release(old, size_);
  }

  Backend* backend_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A buffer in device memory.
template <class Backend>
using device_buffer = backend_buffer<Backend, false>;
/// A buffer in host memory for copies to and from a device.
template <class Backend>
using staging_buffer = backend_buffer<Backend, true>;

}}}  // namespace lamina::engine::cuda
