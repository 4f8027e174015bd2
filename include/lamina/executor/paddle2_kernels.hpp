// SPDX-License-Identifier: Apache-2.0
// lamina/executor/paddle2_kernels.hpp - operators that PaddlePaddle 2 records in place of operators
// of Fluid. Only programs from files contain them.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/embedding/lookup_table/executor.hpp>
#include <lamina/operators/operator_definition.hpp>
#include <lamina/operators/shape/reshape/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace fluid {

/// Out[..., :] = W[Ids[...], :], that is, lookup_table for Ids without a last dimension of 1.
struct lookup_table_v2 : operator_definition {
  static constexpr const char* type = "lookup_table_v2";
  static constexpr std::array<slot_desc, 2> inputs{{{"W"}, {"Ids"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"padding_idx", attribute_type::long_integer, -1}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 3;
};

/// Merges the dimensions from start_axis to stop_axis into one.
struct flatten_contiguous_range : operator_definition {
  static constexpr const char* type = "flatten_contiguous_range";
  static constexpr auto inputs = slots_x;
  static constexpr std::array<slot_desc, 2> outputs{{{"Out"}, {"XShape", false, false, true}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"start_axis", attribute_type::integer, 1}, {"stop_axis", attribute_type::integer, 1}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_outputs = 2;
};

using paddle2_operators = operator_list<lookup_table_v2, flatten_contiguous_range>;

}}}  // namespace lamina::fluid

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

template <class Real>
void lookup_table_v2_forward(call_context<Real>& ctx) {
  const auto& table = ctx.real("W");
  tensor_shape shape = ctx.input("Ids").shape();
  shape.push_back(table.shape()[1]);
  ctx.give("Out", rows_of<Real>(ctx, table, "Ids", padding_of(ctx), shape));
}

template <class Real>
void flatten_contiguous_range_forward(call_context<Real>& ctx) {
  const tensor& x = ctx.input("X");
  const tensor_shape from = x.shape();
  const std::size_t start = ctx.axis("start_axis", from.size(), 1);
  const std::size_t stop = ctx.axis("stop_axis", from.size(), 1);
  if (start > stop)
    ctx.fail("expected start_axis before stop_axis, found " + std::to_string(start) + " and " +
             std::to_string(stop));
  tensor_shape to(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(start));
  to.push_back(1);
  for (std::size_t d = start; d <= stop; ++d) to.back() *= from[d];
  to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(stop) + 1, from.end());
  x.visit([&](const auto& values) { ctx.give("Out", reshaped(values, to)); });
}
template <class Real>
void flatten_contiguous_range_gradient(call_context<Real>& ctx) {
  if (!ctx.wants("X@GRAD")) return;
  ctx.give("X@GRAD", reshaped(xt::xarray<Real>(ctx.real("Out@GRAD")), ctx.output_shape("X@GRAD")));
}

template <class Real>
void add_paddle2_kernels(kernel_table<Real>& table) {
  table["lookup_table_v2"] = lookup_table_v2_forward<Real>;
  table["lookup_table_v2_grad"] = lookup_table_gradient<Real>;
  table["flatten_contiguous_range"] = flatten_contiguous_range_forward<Real>;
  table["flatten_contiguous_range_grad"] = flatten_contiguous_range_gradient<Real>;
}

}}}  // namespace lamina::kernel
