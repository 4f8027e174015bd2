// SPDX-License-Identifier: Apache-2.0
// lamina/operators/fill/cpu.hpp - values from nothing: constants and random numbers.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>

#include <lamina/core/random.hpp>
#include <lamina/engine/cpu/memory/array_layout.hpp>
#include <lamina/operators/fill/definition.hpp>

namespace lamina::inline LAMINA_ABI::engine::cpu {

namespace detail {

inline void fill(const operand& to, double value) {
  if (to.rows == 0 || to.columns == 0) return;
  store_as(to.data, to.type, 0, value);
  // Copies bytes, which works for every type: the filled part doubles with each copy until the
  // first row is full; then every other row is a copy of it.
  const std::size_t width = static_cast<std::size_t>(size_of(to.type));
  const std::size_t row = width * static_cast<std::size_t>(to.columns);
  const std::size_t step = width * static_cast<std::size_t>(to.stride);
  char* const first = static_cast<char*>(to.data);
  for (std::size_t n = width; n < row; n *= 2)
    std::memcpy(first + n, first, n < row - n ? n : row - n);
  for (int r = 1; r < to.rows; ++r)
    std::memcpy(first + static_cast<std::size_t>(r) * step, first, row);
}

/// Out = number(seed, stream, i) at the i-th element in the order of rows. A batch counts its rows
/// from the beginning of the whole mini-batch. Parameters are filled by the startup program
/// (model/initialize.hpp).
template <class F>
void fill_random(const call_context& c, random_type type, F number) {
  constexpr int seed_attribute = 4;
  const operand out = c.output(0);
  const std::uint64_t own = static_cast<std::uint64_t>(c.number(seed_attribute));
  const std::uint64_t seed = own != 0 ? own : c.run().seed + c.run().step;
  const std::uint64_t stream =
      random_stream(type, static_cast<std::uint64_t>(c.ordinal()), c.run().iteration);
  std::uint64_t i = out.domain == 0 ? 0
                                    : static_cast<std::uint64_t>(c.run().first_row[out.domain]) *
                                          static_cast<std::uint64_t>(out.columns);
  for (int r = 0; r < out.rows; ++r)
    for (int j = 0; j < out.columns; ++j, ++i)
      store_as(out.data, out.type, r * out.stride + j, number(seed, stream, i));
}

inline void fill_uniform(const call_context& c, random_type type) {
  const float low = static_cast<float>(c.number(2)), high = static_cast<float>(c.number(3));
  fill_random(c, type, [=](std::uint64_t seed, std::uint64_t stream, std::uint64_t i) {
    return random_uniform_at(seed, stream, i, low, high);
  });
}
inline void fill_normal(const call_context& c, random_type type) {
  const float mean = static_cast<float>(c.number(2)), deviation = static_cast<float>(c.number(3));
  fill_random(c, type, [=](std::uint64_t seed, std::uint64_t stream, std::uint64_t i) {
    return mean + deviation * random_normal_at(seed, stream, i);
  });
}

}  // namespace detail

template <>
struct call_kernel<fill_constant> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    detail::fill(c.output(0), c.number(2));
  }
};

template <>
struct call_kernel<assign_value> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand out = c.output(0);
    const int reals = c.list_size(2), integers = c.list_size(3);
    const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(out.rows) * out.columns;
    if ((reals > 0 ? reals : integers) != size)
      fail(c, {"expected ", size, " values, found ", reals > 0 ? reals : integers});
    int i = 0;
    for (int r = 0; r < out.rows; ++r)
      for (int j = 0; j < out.columns; ++j, ++i) {
        const std::ptrdiff_t at = r * out.stride + j;
        if (reals > 0)
          store_as(out.data, out.type, at, c.real_at(2, i));
        else
          store_as(out.data, out.type, at, c.integer_at(3, i));
      }
  }
};

template <>
struct call_kernel<uniform_random> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    detail::fill_uniform(c, random_type::uniform);
  }
};
template <>
struct call_kernel<uniform_random_batch_size_like> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    detail::fill_uniform(c, random_type::uniform_like);
  }
};
template <>
struct call_kernel<gaussian_random> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    detail::fill_normal(c, random_type::normal);
  }
};
template <>
struct call_kernel<gaussian_random_batch_size_like> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    detail::fill_normal(c, random_type::normal_like);
  }
};

template <>
struct call_kernel<truncated_gaussian_random> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const float mean = static_cast<float>(c.number(2)), deviation = static_cast<float>(c.number(3));
    detail::fill_random(c, random_type::truncated_normal,
                        [=](std::uint64_t seed, std::uint64_t stream, std::uint64_t i) {
                          return mean + deviation * random_truncated_normal_at(seed, stream, i);
                        });
  }
};

}  // namespace lamina::inline LAMINA_ABI::engine::cpu
