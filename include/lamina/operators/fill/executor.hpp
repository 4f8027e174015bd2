// SPDX-License-Identifier: Apache-2.0
// lamina/operators/fill/executor.hpp - operators whose results are constants: fill_constant,
// assign_value.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Returns the shape of a constant: the attribute `shape` or, if the operator has no such
/// attribute, the recorded shape of Out. A dimension of -1 stands for the number of rows of Input.
template <class Real>
tensor_shape filled_shape(const call_context<Real>& ctx) {
  const std::vector<int> wanted = ctx.integer_list("shape");
  if (wanted.empty()) return ctx.output_shape("Out");
  tensor_shape shape;
  for (const int d : wanted)
    shape.push_back(d < 0 ? ctx.input("Input").shape()[0] : static_cast<std::size_t>(d));
  return shape;
}

/// Out[...] = value.
template <class Real>
void fill_constant_forward(call_context<Real>& ctx) {
  if (!ctx.wants("Out")) return;
  ctx.give("Out", tensor::filled<double>(filled_shape(ctx), ctx.attribute("value")));
}

/// Out = zeros in the shape of X.
template <class Real>
void fill_zeros_like_forward(call_context<Real>& ctx) {
  ctx.give("Out", tensor::zeros(ctx.input("X").type(), ctx.input("X").shape()));
}

/// Out = the given values.
template <class Real>
void assign_value_forward(call_context<Real>& ctx) {
  if (!ctx.wants("Out")) return;
  const std::vector<float> reals = ctx.real_list("fp32_values");
  const std::vector<int> whole = ctx.integer_list("int32_values");
  if (reals.empty())
    ctx.give("Out",
             tensor(filled_shape(ctx), std::vector<std::int32_t>(whole.begin(), whole.end())));
  else
    ctx.give("Out", tensor(filled_shape(ctx), reals));
}

template <class Real>
void add_fill_kernels(kernel_table<Real>& table) {
  table["fill_constant"] = fill_constant_forward<Real>;
  table["fill_zeros_like"] = fill_zeros_like_forward<Real>;
  table["assign_value"] = assign_value_forward<Real>;
}

}}}  // namespace lamina::kernel
