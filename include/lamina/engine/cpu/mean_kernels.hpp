// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/mean_kernels.hpp - the mean of all elements.
#pragma once

#include <lamina/engine/cpu/fill_kernels.hpp>
#include <lamina/operators/mean.hpp>

namespace lamina::engine::cpu {

template <>
struct call_kernel<mean> {
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0), out = c.output(0);
    double sum = 0;
    for (int r = 0; r < x.rows; ++r) {
      double part = 0;
      if (x.type == dtype::float32)
        for (int j = 0; j < x.columns; ++j) part += static_cast<double>(x.row<const float>(r)[j]);
      else
        for (int j = 0; j < x.columns; ++j)
          part += load_as<double>(x.data, x.type, r * x.stride + j);
      sum += part;
    }
    const double count = static_cast<double>(x.rows) * x.columns;
    store_as(out.data, out.type, 0, count > 0 ? sum / count : 0.0);
  }
};

/// Float has a fused form; this serves the other types.
template <>
struct call_kernel<gradient_of<mean>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand slope = c.input(0), dx = c.output(0);
    if (!dx) return;
    const double count = static_cast<double>(dx.rows) * dx.columns;
    detail::fill(dx, load_as<double>(slope.data, slope.type, 0) / count);
  }
};

}  // namespace lamina::engine::cpu
