// SPDX-License-Identifier: Apache-2.0
// lamina/core/files/little_endian.hpp - converts numbers between the byte order of the machine and
// that of files, which is little-endian. On a little-endian machine nothing is converted.
#pragma once

#include <lamina/core/config.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

inline constexpr bool is_little_endian = std::endian::native == std::endian::little;

/// Reverses the bytes of each number in place. `bytes` is the size of all numbers together, and
/// `each` is the size of one number.
inline void reverse_each(void* numbers, std::size_t bytes, std::size_t each) {
  auto* const all = static_cast<unsigned char*>(numbers);
  for (std::size_t begin = 0; begin + each <= bytes; begin += each)
    for (std::size_t i = begin, j = begin + each; i + 1 < j; ++i) {
      const unsigned char first = all[i];
      all[i] = all[--j];
      all[j] = first;
    }
}

/// Converts numbers in place from the byte order of the machine to little-endian, or back. The
/// arguments are those of reverse_each().
inline void convert_little_endian(void* numbers, std::size_t bytes, std::size_t each) {
  if constexpr (!is_little_endian) reverse_each(numbers, bytes, each);
}

/// Returns the number at little-endian bytes, which may be unaligned.
template <class T>
requires std::is_arithmetic_v<T> T from_little_endian(const void* bytes) {
  T value{};
  std::memcpy(&value, bytes, sizeof value);
  convert_little_endian(&value, sizeof value, sizeof value);
  return value;
}

/// Appends the little-endian bytes of a number.
template <class T>
requires std::is_arithmetic_v<T>
void append_little_endian(std::string& to, T value) {
  convert_little_endian(&value, sizeof value, sizeof value);
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// The little-endian bytes of an array of numbers. On a little-endian machine they are the bytes of
/// the array, which must outlive this object, and otherwise a converted copy.
class little_endian_bytes {
 public:
  /// The arguments are those of reverse_each().
  little_endian_bytes(const void* numbers, std::uint64_t bytes, std::size_t each)
      : view_(static_cast<const char*>(numbers), static_cast<std::size_t>(bytes)) {
    if (is_little_endian || each == 1) return;
    converted_ = view_;
    convert_little_endian(converted_.data(), converted_.size(), each);
    view_ = converted_;
  }
  little_endian_bytes(const little_endian_bytes&) = delete;
  little_endian_bytes& operator=(const little_endian_bytes&) = delete;

  std::string_view view() const { return view_; }
  const char* data() const { return view_.data(); }
  std::size_t size() const { return view_.size(); }

 private:
  std::string converted_{};
  std::string_view view_;
};

}}}  // namespace lamina::detail
