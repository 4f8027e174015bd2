// SPDX-License-Identifier: Apache-2.0
// lamina/core/files/file_mapping.hpp - maps a file into memory, so that its bytes are read without
// a copy.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <utility>

#include <lamina/core/system/memory.hpp>
#include <lamina/core/system/system.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The bytes of an open file, as read-only memory. The system reads a page of the file when the
/// program first accesses it. If another process shortens the file while it is mapped, an access
/// after its new end ends the program by a signal; to replace a file, rename a new one, as
/// written_file does.
class file_mapping {
 public:
  file_mapping() = default;
  /// Maps the first `size` bytes of a file that is open for reading. If the system cannot map it,
  /// data() is null.
  LAMINA_API LAMINA_COLD file_mapping(int file, std::size_t size);
  file_mapping(file_mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  file_mapping& operator=(file_mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  LAMINA_API LAMINA_COLD ~file_mapping();

  const char* data() const { return static_cast<const char*>(data_); }
  std::size_t size() const { return size_; }
  /// Tells the system that the program has read these bytes, so that their pages no longer count
  /// as memory of the program. A later access reads them again.
  LAMINA_API LAMINA_COLD void release(std::size_t begin, std::size_t end) const;

 private:
  const void* data_ = nullptr;
  std::size_t size_ = 0;
};

#if LAMINA_DEFINES

file_mapping::file_mapping(int file, std::size_t size) {
  if (size == 0) return;
  data_ = detail::system::map_file(file, size);
  if (data_ != nullptr) size_ = size;
}

file_mapping::~file_mapping() {
  if (data_ != nullptr) detail::system::unmap_file(data_, size_);
}

void file_mapping::release(std::size_t begin, std::size_t end) const {
  const std::size_t page = detail::system::page_size();
  begin = begin / page * page;
  end = end / page * page;  // the last page may contain the beginning of the next value
  if (data_ != nullptr && begin < end && end <= size_)
    detail::system::forget_file_pages(data() + begin, end - begin);
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
