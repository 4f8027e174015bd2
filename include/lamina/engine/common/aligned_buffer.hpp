// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/aligned_buffer.hpp - arrays of floats that start as zeros and are aligned to
// 64 bytes for vector instructions. Large arrays use huge pages if the operating system has them.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include <lamina/core/system/memory.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// An array of floats that begins at a multiple of 64 bytes. New memory is zeroed: kernels also
/// compute with the padding after each row, so uninitialised padding could bring a NaN into a
/// result.
class aligned_buffer {
 public:
  aligned_buffer() = default;
  explicit aligned_buffer(std::size_t floats) { resize(floats); }
  aligned_buffer(aligned_buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        is_mapped_(std::exchange(other.is_mapped_, false)) {}
  aligned_buffer& operator=(aligned_buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(is_mapped_, other.is_mapped_);
    return *this;
  }
  aligned_buffer(const aligned_buffer&) = delete;
  aligned_buffer& operator=(const aligned_buffer&) = delete;
  ~aligned_buffer() { release(); }

  /// Allocates memory for `floats` floats, which are 0; the old contents are lost. Does nothing if
  /// the array already has this size.
  void resize(std::size_t floats) {
    if (floats == size_) return;
    release();
    if (floats == 0) return;
    const std::size_t bytes = floats * sizeof(float);
    data_ = static_cast<float*>(::operator new(bytes, alignment_of(floats)));
    size_ = floats;
    if (bytes >= large_bytes) lamina::detail::system::use_huge_pages(data_, bytes);
    std::memset(data_, 0, bytes);
  }
  /// Like resize(), for an array of which the caller may write only a part. On Linux, a page of a
  /// large array takes no memory until the caller writes to it.
  LAMINA_API LAMINA_COLD void resize_unwritten(std::size_t floats);
  /// Turns huge pages off for a large array of which only a part is used, so that one written
  /// number takes a page of 4 KiB and not 2 MiB.
  LAMINA_API LAMINA_COLD void use_small_pages() noexcept;

  float* data() noexcept { return data_; }
  const float* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  // A processor caches the addresses of a few hundred pages (in its TLB). With pages of 2 MiB,
  // loops over many megabytes miss this cache less often.
  static constexpr std::size_t page_bytes = std::size_t{2} << 20;
  static constexpr std::size_t large_bytes = 2 * page_bytes;
  static constexpr std::align_val_t alignment_of(std::size_t floats) {
    return std::align_val_t{floats * sizeof(float) >= large_bytes ? page_bytes : 64};
  }

  static std::size_t bytes_of_pages(std::size_t floats) {
    return (floats * sizeof(float) + page_bytes - 1) / page_bytes * page_bytes;
  }
  /// Maps memory for the array. Returns false if the system refuses, for example for lack of
  /// address space.
  LAMINA_API LAMINA_COLD bool map(std::size_t floats);
  LAMINA_API LAMINA_COLD void unmap() noexcept;
  void release() noexcept {
    if (is_mapped_)
      unmap();
    else if (data_ != nullptr)
      ::operator delete(data_, alignment_of(size_));
    data_ = nullptr;
    size_ = 0;
    is_mapped_ = false;
  }
  float* data_ = nullptr;
  std::size_t size_ = 0;
  bool is_mapped_ = false;  // allocated by mmap, in whole huge pages
};

#if LAMINA_DEFINES

void aligned_buffer::resize_unwritten(std::size_t floats) {
  if (floats * sizeof(float) >= large_bytes && floats != size_) {
    release();
    if (map(floats)) return;
  }
  resize(floats);
}

void aligned_buffer::use_small_pages() noexcept {
  if (size_ * sizeof(float) >= large_bytes)
    lamina::detail::system::use_small_pages(data_, size_ * sizeof(float));
}

bool aligned_buffer::map(std::size_t floats) {
  const std::size_t bytes = bytes_of_pages(floats);
  void* const found = lamina::detail::system::map_zeros(bytes, page_bytes, true);
  if (found == nullptr) return false;
  data_ = static_cast<float*>(found);
  size_ = floats;
  is_mapped_ = true;
  lamina::detail::system::use_huge_pages(data_, bytes);
  return true;
}

void aligned_buffer::unmap() noexcept {
  lamina::detail::system::unmap_zeros(data_, bytes_of_pages(size_));
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine
