// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/squared_l2_kernels.hpp - norms of all elements, and the squared distance of two
// rows: l1_norm, squared_l2_norm, squared_l2_distance.
#pragma once

#include <cmath>

#include <lamina/engine/cpu/row_math.hpp>
#include <lamina/operators/squared_l2.hpp>

namespace lamina::engine::cpu {

template <>
struct call_kernel<l1_norm> {
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0);
    require_float(c, x);
    double sum = 0;  // over all rows, of sums of a row each
    for (int r = 0; r < x.rows; ++r) {
      float row = 0;
      for (int j = 0; j < x.columns; ++j) row += std::abs(x.row<const float>(r)[j]);
      sum += static_cast<double>(row);
    }
    *c.output(0).row<float>(0) = static_cast<float>(sum);
  }
};
template <>
struct call_kernel<gradient_of<l1_norm>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0), dx = c.output(0);
    if (!dx) return;
    const float slope = *c.input(1).row<const float>(0);
    for (int r = 0; r < x.rows; ++r)
      for (int j = 0; j < x.columns; ++j) {
        const float v = x.row<const float>(r)[j];
        dx.row<float>(r)[j] = v > 0 ? slope : v < 0 ? -slope : 0.0f;
      }
  }
};

template <>
struct call_kernel<squared_l2_norm> {
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0);
    require_float(c, x);
    double sum = 0;
    for (int r = 0; r < x.rows; ++r)
      sum += static_cast<double>(squared_distance(x.row<const float>(r), 0, x.columns));
    *c.output(0).row<float>(0) = static_cast<float>(sum);
  }
};
template <>
struct call_kernel<gradient_of<squared_l2_norm>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0), dx = c.output(0);
    if (!dx) return;
    const float slope = 2 * *c.input(1).row<const float>(0);
    for (int r = 0; r < x.rows; ++r)
      for (int j = 0; j < x.columns; ++j) dx.row<float>(r)[j] = slope * x.row<const float>(r)[j];
  }
};

template <>
struct call_kernel<squared_l2_distance> {
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0), y = c.input(1), difference = c.output(0), out = c.output(1);
    require_float(c, x);
    for (int r = 0; r < x.rows; ++r) {
      const float* const left = x.row<const float>(r);
      const float* const right = y.row<const float>(y.rows == 1 ? 0 : r);
      float sum = 0;
      for (int j = 0; j < x.columns; ++j) {
        const float d = left[j] - right[j];
        if (difference) difference.row<float>(r)[j] = d;
        sum += d * d;
      }
      if (out) *out.row<float>(r) = sum;
    }
  }
};
template <>
struct call_kernel<gradient_of<squared_l2_distance>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand y = c.input(1), difference = c.input(2), slope = c.input(3);
    const operand dx = c.output(0), dy = c.output(1);
    const bool shared = dy && dy.rows == 1 && y.rows == 1;
    if (shared) clear(dy);
    for (int r = 0; r < difference.rows; ++r) {
      const float twice = 2 * *slope.row<const float>(r);
      const float* const d = difference.row<const float>(r);
      for (int j = 0; j < difference.columns; ++j) {
        const float g = twice * d[j];
        if (dx) dx.row<float>(r)[j] = g;
        if (shared)
          dy.row<float>(0)[j] -= g;
        else if (dy)
          dy.row<float>(r)[j] = -g;
      }
    }
  }
};

}  // namespace lamina::engine::cpu
