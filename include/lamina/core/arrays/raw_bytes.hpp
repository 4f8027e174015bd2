// SPDX-License-Identifier: Apache-2.0
// lamina/core/arrays/raw_bytes.hpp - uninitialised memory for bytes that will be overwritten.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include <lamina/core/system/memory.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Bytes aligned to 64. New bytes are uninitialised, unlike in a std::string. Large buffers request
/// huge pages, because one page fault per 4 KB would take longer than reading the bytes from a
/// file.
class raw_bytes {
 public:
  raw_bytes() = default;
  explicit raw_bytes(std::size_t count) { resize(count); }
  explicit raw_bytes(std::string_view bytes) : raw_bytes(bytes.size()) {
    if (!bytes.empty()) std::memcpy(data_, bytes.data(), bytes.size());
  }
  raw_bytes(raw_bytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  raw_bytes& operator=(raw_bytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  raw_bytes(const raw_bytes&) = delete;
  raw_bytes& operator=(const raw_bytes&) = delete;
  ~raw_bytes() { release(); }

  /// Allocates `count` bytes and frees the previous bytes.
  LAMINA_API LAMINA_COLD void resize(std::size_t count);

  char* data() noexcept { return data_; }
  const char* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  std::string_view view() const noexcept { return {data_, size_}; }

 private:
  static constexpr std::size_t large = std::size_t{4} << 20, page = std::size_t{2} << 20;
  static std::align_val_t alignment_of(std::size_t count) {
    return std::align_val_t{count >= large ? page : 64};
  }
  LAMINA_API LAMINA_COLD void release() noexcept;
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

#if LAMINA_DEFINES

void raw_bytes::resize(std::size_t count) {
  release();
  if (count == 0) return;
  const std::align_val_t alignment = alignment_of(count);
  data_ = static_cast<char*>(::operator new(count, alignment));
  size_ = count;
  if (count >= large) detail::system::use_huge_pages(data_, count);
}

void raw_bytes::release() noexcept {
  if (data_ != nullptr) ::operator delete(data_, alignment_of(size_));
  data_ = nullptr;
  size_ = 0;
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
