// SPDX-License-Identifier: Apache-2.0
// lamina/executor/paddle2_kernels.hpp - operators that PaddlePaddle 2 records in place of operators
// of Fluid. Only programs from files contain them.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

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

/// Out = X, broadcast to the integers in Shape or the attribute `shape`. A dimension in which X has
/// more than one element, or Shape has 1 or -1, keeps the extent of X.
struct expand_v2 : operator_definition {
  static constexpr const char* type = "expand_v2";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"Shape", false, true}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{{{"shape", attribute_type::integers}}};
};

/// Out = the elements of Input whose index along dimension axes[i] is starts[i], starts[i] +
/// strides[i], ... before ends[i]. Negative limits count from the end. StartsTensor, EndsTensor and
/// StridesTensor replace the attributes.
struct strided_slice : operator_definition {
  static constexpr const char* type = "strided_slice";
  static constexpr std::array<slot_desc, 4> inputs{{{"Input"},
                                                    {"StartsTensor", false, true},
                                                    {"EndsTensor", false, true},
                                                    {"StridesTensor", false, true}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 4> attributes{
      {{"axes", attribute_type::integers},
       {"starts", attribute_type::integers},
       {"ends", attribute_type::integers},
       {"strides", attribute_type::integers}}};
};

using paddle2_operators =
    operator_list<lookup_table_v2, flatten_contiguous_range, expand_v2, strided_slice>;

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

/// Returns the integers in a slot or, if it is empty, of an attribute.
template <class Real>
std::vector<std::int64_t> integers_or(const call_context<Real>& ctx, const char* slot,
                                      const char* attribute) {
  if (ctx.has(slot)) {
    const auto all = ctx.integers(slot);
    return {all.begin(), all.end()};
  }
  const std::vector<int> all = ctx.integer_list(attribute);
  return {all.begin(), all.end()};
}

template <class Real>
copy_plan expand_v2_plan(const call_context<Real>& ctx, const tensor_shape& given) {
  const std::vector<std::int64_t> wanted = integers_or(ctx, "Shape", "shape");
  const std::size_t rank = (std::max)(wanted.size(), given.size());
  tensor_shape from(rank - given.size(), 1);
  from.insert(from.end(), given.begin(), given.end());
  tensor_shape to = from;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::size_t d = rank - wanted.size() + i;
    const std::int64_t extent = wanted[i];
    if (extent == 1 || extent == -1) continue;
    if (extent < 0 || (from[d] != 1 && from[d] != static_cast<std::size_t>(extent)))
      ctx.fail(text("expected a shape to which ")
               << to_string(given) << " can be broadcast, found " << text().list(wanted));
    to[d] = static_cast<std::size_t>(extent);
  }
  return plan_copy(to, [&](tensor_shape at) {
    for (std::size_t d = 0; d < at.size(); ++d)
      if (from[d] == 1) at[d] = 0;
    return position_of(at, from);
  });
}

template <class Real>
copy_plan strided_slice_plan(const call_context<Real>& ctx, const tensor_shape& from) {
  const std::vector<int> axes = ctx.integer_list("axes");
  const std::vector<std::int64_t> starts = integers_or(ctx, "StartsTensor", "starts"),
                                  ends = integers_or(ctx, "EndsTensor", "ends"),
                                  strides = integers_or(ctx, "StridesTensor", "strides");
  if (starts.size() != axes.size() || ends.size() != axes.size() || strides.size() != axes.size())
    ctx.fail(text("expected a start, an end and a stride for each of ") << axes.size() << " axes");
  tensor_shape to = from;
  std::vector<std::int64_t> first(from.size(), 0), step(from.size(), 1);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t d = ctx.checked_axis(axes[i], from.size());
    const std::int64_t n = static_cast<std::int64_t>(from[d]), s = strides[i];
    if (s == 0) ctx.fail("expected strides that are not 0, found 0");
    // Limits lie in [0, n], or in [-1, n - 1] for a walk towards the front.
    const std::int64_t low = s > 0 ? 0 : -1, high = s > 0 ? n : n - 1;
    const auto limit = [&](std::int64_t x) {
      return std::clamp<std::int64_t>(x < 0 ? (x < -n ? low : x + n) : x, low, high);
    };
    const std::int64_t begin = limit(starts[i]), end = limit(ends[i]);
    const std::int64_t length = s > 0 ? end - begin : begin - end;
    first[d] = begin;
    step[d] = s;
    const std::int64_t size = s > 0 ? s
                              : s == (std::numeric_limits<std::int64_t>::min)()
                                  ? (std::numeric_limits<std::int64_t>::max)()
                                  : -s;
    to[d] = length <= 0 ? 0 : static_cast<std::size_t>((length - 1) / size + 1);
  }
  return plan_copy(to, [&](tensor_shape at) {
    for (std::size_t d = 0; d < at.size(); ++d)
      at[d] = static_cast<std::size_t>(first[d] + static_cast<std::int64_t>(at[d]) * step[d]);
    return position_of(at, from);
  });
}

template <class Real>
void add_paddle2_kernels(kernel_table<Real>& table) {
  table["lookup_table_v2"] = lookup_table_v2_forward<Real>;
  table["lookup_table_v2_grad"] = lookup_table_gradient<Real>;
  table["expand_v2"] = copy_forward<Real, expand_v2_plan<Real>>;
  table["strided_slice"] = copy_forward<Real, strided_slice_plan<Real>>;
  table["flatten_contiguous_range"] = flatten_contiguous_range_forward<Real>;
  table["flatten_contiguous_range_grad"] = flatten_contiguous_range_gradient<Real>;
}

}}}  // namespace lamina::kernel
