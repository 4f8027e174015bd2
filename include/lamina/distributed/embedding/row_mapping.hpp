// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/embedding/row_mapping.hpp - sparse memory for a process's rows of large
// tables, and a function that returns pages to the system.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/system/memory.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Memory that reads as zero and uses no physical pages until it is written.
class row_mapping {
 public:
  row_mapping() = default;
  /// `what` is the name of the table in errors. Throws lamina::error if the system has no address
  /// space left.
  LAMINA_COLD row_mapping(std::size_t bytes, const std::string& what) : size_(bytes) {
    data_ = static_cast<std::byte*>(lamina::detail::system::map_zeros(bytes, page(), false));
    if (data_ == nullptr)
      throw error(text() << "lamina: distributed: table " << what << ": expected addresses for "
                         << bytes << " bytes, found none: " << reason_of(errno));
    // With huge pages, one fetched row would occupy memory for many rows of other processes.
    lamina::detail::system::use_small_pages(data_, bytes);
  }
  row_mapping(row_mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  row_mapping& operator=(row_mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  row_mapping(const row_mapping&) = delete;
  row_mapping& operator=(const row_mapping&) = delete;
  ~row_mapping() {
    if (data_ != nullptr) lamina::detail::system::unmap_zeros(data_, size_);
  }

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  static std::size_t page() {
    static const std::size_t size = lamina::detail::system::page_size();
    return size;
  }

  /// Announces that all bytes of [first, end) will be used, so that huge pages waste no memory.
  LAMINA_COLD void fill(std::size_t first, std::size_t end) {
    const auto [a, b] = pages_within(first, end);
    if (b > a) lamina::detail::system::use_huge_pages(data_ + a, b - a);
  }
  /// Returns the whole pages within bytes [first, end) to the system; they read as zero afterwards.
  void release(std::size_t first, std::size_t end) {
    const auto [a, b] = pages_within(first, end);
    if (b <= a || lamina::detail::system::zero_pages(data_ + a, b - a)) return;
    throw error(text() << "lamina: distributed: expected to give back " << b - a
                       << " bytes of a table, found: " << reason_of(errno));
  }

 private:
  static std::pair<std::size_t, std::size_t> pages_within(std::size_t first, std::size_t end) {
    return {(first + page() - 1) / page() * page(), end / page() * page()};
  }

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Returns the memory of the whole pages within [first, end) to the system; their contents are
/// lost. The pages can still be read and written afterwards. Does nothing on systems without such a
/// call.
inline void release_pages(float* first, float* end) noexcept {
  const std::uintptr_t page = row_mapping::page();
  const std::uintptr_t a = (reinterpret_cast<std::uintptr_t>(first) + page - 1) / page * page,
                       b = reinterpret_cast<std::uintptr_t>(end) / page * page;
  if (b > a) lamina::detail::system::discard_pages(reinterpret_cast<void*>(a), b - a);
}

}}}  // namespace lamina::distributed
