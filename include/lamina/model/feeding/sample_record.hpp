// SPDX-License-Identifier: Apache-2.0
// lamina/model/feeding/sample_record.hpp - converts samples to bytes, for files of samples.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/files/little_endian.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/io/archive/crc32.hpp>
#include <lamina/model/feeding/sample_fields.hpp>

// The record of a sample begins with the CRC-32 of its layout. The fields follow in order,
// little-endian: a number as its bytes, an array of fixed size as its elements, and a text or
// vector as the number of its elements (64 bits) and the elements. The layout is a text that
// describes the types of the fields, with a blank after each field, such as "f4*64 i8 ": "f4" and
// "f8" are floats, "i1" to "i8" signed integers, "u1" to "u8" unsigned integers, "b" is a Boolean,
// "s" a text, "X*" a vector of X, and "X*N" an array of N elements X. The number is the size in
// bytes.
namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

template <class T>
struct field_codec;

/// Thrown if bytes are not a valid sample, with the reason.
struct no_sample {
  std::string reason;
};

/// The bytes of a record, which are read from the front. The functions throw no_sample if too few
/// bytes are left.
struct record_bytes {
  std::string_view left;

  std::string_view take(std::uint64_t n) {
    if (n > left.size())
      throw no_sample{text("expected ")
                      << n << " bytes of a sample, found the end after " << left.size()};
    const std::string_view taken = left.substr(0, n);
    left.remove_prefix(n);
    return taken;
  }
  /// Reads the number of elements of a vector. Each element must have at least `least` bytes, so a
  /// number that exceeds the bytes left throws no_sample before memory is allocated.
  std::size_t count(std::size_t least) {
    const auto n = from_little_endian<std::uint64_t>(take(8).data());
    if (n > left.size() / least)
      throw no_sample{text("expected at most ")
                      << left.size() / least << " elements of a sample, found " << n};
    return n;
  }
};

template <class T>
requires std::is_arithmetic_v<T>
struct field_codec<T> {
  static constexpr std::size_t least = sizeof(T);
  static std::string layout() {
    if (std::is_same_v<T, bool>) return "b";
    return (std::is_floating_point_v<T> ? "f"
            : std::is_signed_v<T>       ? "i"
                                        : "u") +
           std::to_string(sizeof(T));
  }
  static void write(const T& value, std::string& to) { append_little_endian(to, value); }
  static void read(T& value, record_bytes& from) {
    const std::string_view bytes = from.take(sizeof value);
    if (std::is_same_v<T, bool> && static_cast<unsigned char>(bytes[0]) > 1)
      throw no_sample{text("expected 0 or 1, found ")
                      << static_cast<unsigned>(static_cast<unsigned char>(bytes[0]))};
    value = from_little_endian<T>(bytes.data());
  }
};
template <>
struct field_codec<std::string> {
  static constexpr std::size_t least = 8;
  static std::string layout() { return "s"; }
  static void write(const std::string& value, std::string& to) {
    field_codec<std::uint64_t>::write(value.size(), to);
    to += value;
  }
  static void read(std::string& value, record_bytes& from) {
    const std::size_t n = from.count(1);
    value = from.take(n);
  }
};
template <class T, std::size_t N>
requires(N > 0) struct field_codec<std::array<T, N>> {
  static constexpr std::size_t least = N * field_codec<T>::least;
  static std::string layout() { return field_codec<T>::layout() + "*" + std::to_string(N); }
  static void write(const std::array<T, N>& value, std::string& to) {
    for (const T& element : value) field_codec<T>::write(element, to);
  }
  static void read(std::array<T, N>& value, record_bytes& from) {
    for (T& element : value) field_codec<T>::read(element, from);
  }
};
template <class T>
struct field_codec<std::vector<T>> {
  static constexpr std::size_t least = 8;
  static std::string layout() { return field_codec<T>::layout() + "*"; }
  static void write(const std::vector<T>& value, std::string& to) {
    field_codec<std::uint64_t>::write(value.size(), to);
    for (const auto& element : value) field_codec<T>::write(element, to);
  }
  static void read(std::vector<T>& value, record_bytes& from) {
    const std::size_t n = from.count(field_codec<T>::least);
    value.clear();
    value.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
      T element{};
      field_codec<T>::read(element, from);
      value.push_back(std::move(element));
    }
  }
};

/// The types of the fields of a sample, as a tuple.
template <class S>
struct stored_fields {
  static constexpr int count = fields_of<0, S>();
  static_assert(
      count > 0,
      "lamina: files of samples: a sample is a number, a text, a container, a tuple, or a "
      "struct of up to ten of them");
  struct list {
    template <class... Field>
    std::tuple<std::remove_cvref_t<Field>...> operator()(const Field&...) const {
      return {};
    }
  };
  using type = decltype(with_fields<count>(std::declval<const S&>(), list()));
};

template <class S>
std::string layout_of() {
  return []<class... Field>(const std::tuple<Field...>*) {
    return (std::string() + ... + (field_codec<Field>::layout() + " "));
  }(static_cast<const typename stored_fields<S>::type*>(nullptr));
}
template <class S>
std::uint32_t layout_sum() {
  static const std::uint32_t sum = [] {
    const std::string layout = layout_of<S>();
    return crc32_of(layout.data(), layout.size());
  }();
  return sum;
}

}  // namespace detail

/// Converts a sample to bytes. The fields may be numbers, texts, and std::array or std::vector of
/// these, also nested.
template <class S>
std::string to_record(const S& sample) {
  std::string bytes;
  detail::field_codec<std::uint32_t>::write(detail::layout_sum<S>(), bytes);
  detail::with_fields<detail::stored_fields<S>::count>(sample, [&](const auto&... field) {
    (detail::field_codec<std::remove_cvref_t<decltype(field)>>::write(field, bytes), ...);
  });
  return bytes;
}

namespace detail {
/// Converts the bytes of a record to a sample; throws no_sample if they are not valid.
template <class S>
S sample_of(std::string_view record) {
  record_bytes from{record};
  std::uint32_t sum = 0;
  field_codec<std::uint32_t>::read(sum, from);
  if (sum != layout_sum<S>())
    throw no_sample{text("expected a sample of the fields '")
                    << layout_of<S>() << "', found one of others"};
  typename stored_fields<S>::type fields;
  std::apply(
      [&](auto&... field) {
        (field_codec<std::remove_cvref_t<decltype(field)>>::read(field, from), ...);
      },
      fields);
  if (!from.left.empty())
    throw no_sample{text("expected the end of a sample, found ")
                    << from.left.size() << " more bytes"};
  return std::apply([](auto&... field) { return S{std::move(field)...}; }, fields);
}
}  // namespace detail

/// Converts the result of to_record() to a sample. Throws lamina::error if the bytes belong to a
/// sample with other fields, or if there are too few or too many.
template <class S>
S from_record(std::string_view record) {
  try {
    return detail::sample_of<S>(record);
  } catch (const detail::no_sample& failure) {
    throw error("lamina: from_record: " + failure.reason);
  }
}

}}  // namespace lamina
