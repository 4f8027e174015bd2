// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/mean_kernels.hpp - the mean of all elements.
#pragma once

#include <lamina/engine/cpu/call_context.hpp>
#include <lamina/operators/mean.hpp>

namespace lamina::engine::cpu {

template <>
struct call_kernel<mean> {
  static void run(const call_context& c) {
    const operand x = c.input(0);
    double sum = 0;
    for (int r = 0; r < x.rows; ++r) {
      const float* v = x.row<const float>(r);
      double part = 0;
      for (int j = 0; j < x.columns; ++j) part += static_cast<double>(v[j]);
      sum += part;
    }
    const double count = static_cast<double>(x.rows) * x.columns;
    *c.output(0).row<float>(0) = count > 0 ? static_cast<float>(sum / count) : 0.0f;
  }
};

}  // namespace lamina::engine::cpu
