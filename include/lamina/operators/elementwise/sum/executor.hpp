// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/sum/executor.hpp - sums of variables.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/wrapping.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Out = X[0] + X[1] + ..., where integers wrap around. A sum of selected_rows (sparse gradients)
/// contains each row that at least one input contains.
template <class Real>
void sum_forward(call_context<Real>& ctx) {
  tensor out = with_values(ctx, "X", [&]<class T>(const xt::xarray<T>& first) {
    xt::xarray<T> sum = first;
    for (int i = 1; i < ctx.count("X"); ++i) {
      xt::xarray<T> storage;
      const xt::xarray<T>& x = values_as(ctx.input("X", i), storage);
      if (shape_of(x) != shape_of(sum))
        ctx.fail("expected the shape " + to_string(shape_of(sum)) + " in variable '" +
                 ctx.input_name("X", i) + "', found " + to_string(shape_of(x)));
      T* const to = sum.data();
      const T* const from = x.data();
      for (std::size_t k = 0; k < sum.size(); ++k) to[k] = math::wrapping_sum(to[k], from[k]);
    }
    return tensor(std::move(sum));
  });
  if (std::set<std::int64_t>* const rows = ctx.selected_output("Out")) {
    std::set<std::int64_t> all;
    for (int i = 0; i < ctx.count("X"); ++i)
      if (const auto* const part = ctx.selected_rows("X", i))
        all.insert(part->begin(), part->end());
    *rows = std::move(all);
  }
  ctx.give("Out", std::move(out));
}

template <class Real>
void add_sum_kernels(kernel_table<Real>& table) {
  table["sum"] = sum_forward<Real>;
}

}}}  // namespace lamina::kernel
