// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/pool/cpu.hpp - the kernels of sequence_pool, which turns each sequence
// into one row.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/cpu/memory/array_layout.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/sequence/pool/common.hpp>
#include <lamina/operators/sequence/pool/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// Computes to[j] = factor * (x[0][j] + x[1][j] + ...) over `rows` rows, which must be at most 256.
template <class Real>
inline void pool_sum(const Real* x, std::ptrdiff_t stride, int rows, int width, Real factor,
                     Real* to) {
  for_each_position<Real>(width, [&](std::ptrdiff_t j, auto like) {
    using number = decltype(like);
    constexpr int together = 256;
    number sum(Real(0)), lost(Real(0));
    for (int first = 0; first < rows; first += together) {
      const int end = rows - first < together ? rows : first + together;
      number some = load(x + first * stride + j, like);
      for (int r = first + 1; r < end; ++r) some += load(x + r * stride + j, like);
      // Compensated summation (Kahan 1965): the digits that one addition loses are corrected in the
      // next one, unless they are infinite or NaN.
      const number next = some - lost, all = sum + next;
      const number rounded = (all - sum) - next;
      lost = math::select(rounded - rounded == number(Real(0)), rounded, number(Real(0)));
      sum = all;
    }
    store(to + j, sum * number(factor));
  });
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::sequence_pool> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);

 private:
  // A vector of indices has the same element type as the vector of maxima, so that both are
  // selected by the same comparison. At most 4096 rows are processed at a time, so that a float
  // represents each index exactly.
  template <class Real>
  static void maximum(const operand& x, int begin, int length, Real* to, std::int32_t* index) {
    constexpr int together = 4096;
    for (int r = 0; r < length; r += together)
      maximum_of_some(x, begin + r, length - r < together ? length - r : together, r == 0, to,
                      index);
  }
  template <class Real>
  static void maximum_of_some(const operand& x, int begin, int length, bool is_first, Real* to,
                              std::int32_t* index) {
    const Real* const from = x.row<const Real>(begin);
    for_each_position<Real>(x.columns, [&](std::ptrdiff_t j, auto like) {
      using number = decltype(like);
      number most = load(is_first ? from + j : to + j, like),
             position(is_first ? Real(0) : -Real(1));
      for (int r = is_first ? 1 : 0; r < length; ++r) {
        const number next = load(from + r * x.stride + j, like);
        const auto more = math::is_above(next, most);
        most = math::select(more, next, most);
        position = math::select(more, number(static_cast<Real>(r)), position);
      }
      store(to + j, most);
      if (index == nullptr) return;
      alignas(64) Real positions[lanes_in<Real>];
      store(positions, position);
      for (int l = 0; l < static_cast<int>(sizeof(number) / sizeof(Real)); ++l)
        if (positions[l] >= 0) index[j + l] = begin + static_cast<int>(positions[l]);
    });
  }
};

template <>
struct call_kernel<gradient_of<operators::sequence_pool>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::sequence_pool>::run(const call_context& c) {
  const operand x = c.input(0), out = c.output(0), index = c.output(1);
  const sequence_rows all = c.sequences(x);
  const pooling_type type = sequence_pool_of(c);
  const Real pad = static_cast<Real>(c.number(1));
  for (int s = 0; s < all.count; ++s) {
    const int begin = all.begin(s), length = all.length(s);
    Real* const to = out.row<Real>(s);
    const Real* const from = x.row<const Real>(begin);
    if (length == 0) {
      std::fill(to, to + out.columns, pad);
      if (index)
        std::fill(index.row<std::int32_t>(s), index.row<std::int32_t>(s) + out.columns, -1);
    } else if (type == pooling_type::first || type == pooling_type::last) {
      const Real* const row =
          type == pooling_type::first ? from : x.row<const Real>(all.end(s) - 1);
      std::copy(row, row + out.columns, to);
    } else if (type == pooling_type::max) {
      maximum(x, begin, length, to, index ? index.row<std::int32_t>(s) : nullptr);
    } else {
      detail::pool_sum(from, x.stride, length, out.columns, pool_factor<Real>(type, length), to);
    }
  }
}
LAMINA_INSTANCE(void call_kernel<operators::sequence_pool>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::sequence_pool>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::sequence_pool>>::run(const call_context& c) {
  const operand index = c.input(1), d = c.input(2), dx = c.output(0);
  if (!dx) return;
  const sequence_rows all = c.sequences(dx);
  const pooling_type type = sequence_pool_of(c);
  const bool picks =
      type == pooling_type::max || type == pooling_type::first || type == pooling_type::last;
  if (picks) clear(dx);
  for (int s = 0; s < all.count; ++s) {
    const int begin = all.begin(s), length = all.length(s);
    if (length == 0) continue;
    const Real* const from = d.row<const Real>(s);
    if (type == pooling_type::max) {
      const std::int32_t* const row = index.row<const std::int32_t>(s);
      for (int j = 0; j < dx.columns; ++j) dx.row<Real>(row[j])[j] = from[j];
    } else if (picks) {
      Real* const to = dx.row<Real>(type == pooling_type::first ? begin : all.end(s) - 1);
      std::copy(from, from + dx.columns, to);
    } else {
      const Real factor = pool_factor<Real>(type, length);
      for (int r = begin; r < begin + length; ++r)
        for_each_position<Real>(dx.columns, [&](std::ptrdiff_t j, auto like) {
          store(dx.row<Real>(r) + j, load(from + j, like) * decltype(like)(factor));
        });
    }
  }
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_pool>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::sequence_pool>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
