// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/sequence_kernels.hpp - one row for each sequence: sequence_pool.
#pragma once

#include <cmath>
#include <cstdint>

#include <lamina/engine/call/sequence_pooling.hpp>
#include <lamina/engine/cpu/array_layout.hpp>
#include <lamina/engine/cpu/row_math.hpp>
#include <lamina/operators/sequence_pool.hpp>

namespace lamina::engine::cpu {

namespace detail {

/// to[j] = factor * (x[0][j] + x[1][j] + ...) over `rows` rows.
inline void pool_sum(const float* x, std::ptrdiff_t stride, int rows, int width, float factor,
                     float* to) {
  for_each_place(width, [&](std::ptrdiff_t j, auto like) {
    auto sum = load(x + j, like);
    for (int r = 1; r < rows; ++r) sum += load(x + r * stride + j, like);
    store(to + j, sum * decltype(like)(factor));
  });
}

}  // namespace detail

template <>
struct call_kernel<sequence_pool> {
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0), out = c.output(0), index = c.output(1);
    const sequence_rows all = c.sequences(x);
    const pool type = sequence_pool_of(c);
    const float pad = static_cast<float>(c.number(1));
    for (int s = 0; s < all.count; ++s) {
      const int begin = all.begin(s), length = all.length(s);
      float* const to = out.row<float>(s);
      const float* const from = x.row<const float>(begin);
      if (length == 0) {
        std::fill(to, to + out.columns, pad);
        if (index)
          std::fill(index.row<std::int32_t>(s), index.row<std::int32_t>(s) + out.columns, -1);
      } else if (type == pool::first || type == pool::last) {
        const float* const row = type == pool::first ? from : x.row<const float>(all.end(s) - 1);
        std::copy(row, row + out.columns, to);
      } else if (type == pool::max) {
        maximum(x, begin, length, to, index ? index.row<std::int32_t>(s) : nullptr);
      } else {
        detail::pool_sum(from, x.stride, length, out.columns, pool_factor(type, length), to);
      }
    }
  }

 private:
  static void maximum(const operand& x, int begin, int length, float* to, std::int32_t* index) {
    std::copy(x.row<const float>(begin), x.row<const float>(begin) + x.columns, to);
    if (index != nullptr) std::fill(index, index + x.columns, begin);
    for (int r = begin + 1; r < begin + length; ++r) {
      const float* const row = x.row<const float>(r);
      for (int j = 0; j < x.columns; ++j) {
        const bool more = row[j] > to[j];
        to[j] = more ? row[j] : to[j];
        if (index != nullptr) index[j] = more ? r : index[j];
      }
    }
  }
};

template <>
struct call_kernel<gradient_of<sequence_pool>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand index = c.input(1), d = c.input(2), dx = c.output(0);
    if (!dx) return;
    const sequence_rows all = c.sequences(dx);
    const pool type = sequence_pool_of(c);
    const bool picks = type == pool::max || type == pool::first || type == pool::last;
    if (picks) clear(dx);
    for (int s = 0; s < all.count; ++s) {
      const int begin = all.begin(s), length = all.length(s);
      if (length == 0) continue;
      const float* const from = d.row<const float>(s);
      if (type == pool::max) {
        const std::int32_t* const row = index.row<const std::int32_t>(s);
        for (int j = 0; j < dx.columns; ++j) dx.row<float>(row[j])[j] = from[j];
      } else if (picks) {
        float* const to = dx.row<float>(type == pool::first ? begin : all.end(s) - 1);
        std::copy(from, from + dx.columns, to);
      } else {
        const float factor = pool_factor(type, length);
        for (int r = begin; r < begin + length; ++r)
          for_each_place(dx.columns, [&](std::ptrdiff_t j, auto like) {
            store(dx.row<float>(r) + j, load(from + j, like) * decltype(like)(factor));
          });
      }
    }
  }
};

}  // namespace lamina::engine::cpu
