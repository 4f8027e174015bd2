// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/sum/executor.hpp - sums of variables.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/kernel_table.hpp>

namespace lamina::inline LAMINA_ABI::kernel {

/// Out = X[0] + X[1] + ...; a sum of selected rows has the rows of all of them.
template <class Real>
void sum_forward(call_context<Real>& ctx) {
  auto out = ctx.real("X", 0);
  for (int i = 1; i < ctx.count("X"); ++i) {
    const auto& x = ctx.real("X", i);
    if (shape_of(x) != shape_of(out))
      ctx.fail("expected the shape " + to_string(shape_of(out)) + " in variable '" +
               ctx.input_name("X", i) + "', found " + to_string(shape_of(x)));
    out += x;
  }
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

}  // namespace lamina::inline LAMINA_ABI::kernel
