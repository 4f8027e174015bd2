// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/aligned_buffer.hpp - zero-initialised float arrays, aligned to 64 bytes for
// vector instructions; large arrays use huge pages if the system has them.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace lamina::inline LAMINA_ABI::engine {

/// An array of floats that begins at a multiple of 64 bytes. New memory is zeroed, because kernels
/// require the padding of rows to hold finite numbers.
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

  /// Reserves memory for `floats` floats; the old contents are lost.
  void resize(std::size_t floats) {
    if (floats == size_) return;
    release();
    if (floats == 0) return;
    const std::size_t bytes = floats * sizeof(float);
    data_ = static_cast<float*>(::operator new(bytes, alignment_of(floats)));
    size_ = floats;
#if defined(MADV_HUGEPAGE)
    // This is advice only, so a failure does not matter.
    if (bytes >= large_bytes) (void)::madvise(data_, bytes, MADV_HUGEPAGE);
#endif
    std::memset(data_, 0, bytes);
  }

  float* data() noexcept { return data_; }
  const float* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  // The TLB of a processor holds a few hundred pages. With pages of 2 MiB, loops over many
  // megabytes cause fewer TLB misses.
  static constexpr std::size_t page_bytes = std::size_t{2} << 20;
  static constexpr std::size_t large_bytes = 2 * page_bytes;
  static constexpr std::align_val_t alignment_of(std::size_t floats) {
    return std::align_val_t{floats * sizeof(float) >= large_bytes ? page_bytes : 64};
  }

  void release() noexcept {
    if (data_ != nullptr) ::operator delete(data_, alignment_of(size_));
    data_ = nullptr;
    size_ = 0;
  }
  float* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace lamina::inline LAMINA_ABI::engine
