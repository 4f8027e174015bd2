// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/assign/executor.hpp - the operators assign, cast and increment.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/executor/call_context.hpp>
#include <lamina/operators/elementwise/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Out = X.
template <class Real>
void copy_value(call_context<Real>& ctx) {
  ctx.give("Out", tensor(ctx.input("X")));
}

/// Out = X + step, computed in the element type of X.
template <class Real>
void increment_forward(call_context<Real>& ctx) {
  if (!is_floating(ctx.input("X").type())) return pointwise(ctx);
  const double step = ctx.attribute("step", 1);
  ctx.give("Out", ctx.input("X").visit([&]<class T>(const xt::xarray<T>& x) {
    xt::xarray<T> out = x;
    for (std::size_t i = 0; i < out.size(); ++i)
      out.flat(i) = static_cast<T>(out.flat(i) + static_cast<T>(step));
    return tensor(std::move(out));
  }));
}

/// Out = X converted to the element type of Out. If this is an integer type, a number out of its
/// range becomes the nearest integer in the range.
template <class Real>
void cast_value(call_context<Real>& ctx) {
  const dtype to = ctx.output_desc("Out").type;
  const tensor& x = ctx.input("X");
  ctx.give("Out", is_floating(to) ? tensor(x) : x.cast(to));
}

template <class Real>
void add_assign_kernels(kernel_table<Real>& table) {
  table["assign"] = copy_value<Real>;
  table["cast"] = cast_value<Real>;
  table["increment"] = increment_forward<Real>;
}

}}}  // namespace lamina::kernel
