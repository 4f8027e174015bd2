// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/reshape/executor.hpp - the operators reshape2, squeeze2, unsqueeze2 and
// flatten2, which change the shape and keep the order of the elements.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/operators/shape/concat/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

template <class Real>
using shape_rule = tensor_shape (*)(const call_context<Real>&, const tensor_shape&);

/// Returns the shape of reshape2: the integers in Shape or ShapeTensor, else the attribute `shape`.
/// A 0 stands for the extent of X in the same dimension; one -1 is computed from the number of
/// elements.
template <class Real>
tensor_shape reshape_rule(const call_context<Real>& ctx, const tensor_shape& from) {
  std::vector<int> wanted = ctx.integer_list("shape");
  const char* const slot = ctx.has("Shape") ? "Shape" : "ShapeTensor";
  if (ctx.has(slot)) wanted.clear();
  for (int i = 0; i < ctx.count(slot); ++i)
    if (ctx.has(slot, i))
      for (const std::int64_t extent : ctx.integers(slot, i))
        wanted.push_back(static_cast<int>(extent));
  tensor_shape to(wanted.size());
  std::size_t known = 1, inferred = wanted.size();
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    if (wanted[d] == 0 && d >= from.size())
      ctx.fail("expected a dimension of X to copy, found the shape " + to_string(from));
    if (wanted[d] == -1)
      inferred = d;
    else
      known *= to[d] = wanted[d] == 0 ? from[d] : static_cast<std::size_t>(wanted[d]);
  }
  if (inferred < to.size() && known > 0) to[inferred] = size_of(from) / known;
  return to;
}

template <class Real>
tensor_shape squeeze_rule(const call_context<Real>& ctx, const tensor_shape& from) {
  std::vector<bool> left_out(from.size(), false);
  const std::vector<int> axes = ctx.integer_list("axes");
  for (const int a : axes) left_out[ctx.checked_axis(a, from.size())] = true;
  tensor_shape to;
  for (std::size_t d = 0; d < from.size(); ++d)
    if (axes.empty() ? from[d] != 1 : !left_out[d]) to.push_back(from[d]);
  return to;
}

template <class Real>
tensor_shape unsqueeze_rule(const call_context<Real>& ctx, const tensor_shape& from) {
  const std::vector<int> axes = ctx.integer_list("axes");
  tensor_shape to = from;
  for (const int a : axes)
    to.insert(to.begin() + static_cast<std::ptrdiff_t>(ctx.checked_axis(a, to.size() + 1)), 1);
  return to;
}

template <class Real>
tensor_shape flatten_rule(const call_context<Real>& ctx, const tensor_shape& from) {
  const matrix m(from, static_cast<std::size_t>(ctx.integer("axis", 1)));
  return {m.rows, m.columns};
}

/// Out = X with another shape. XShape has the shape [0, X's shape] and no elements.
template <class Real, shape_rule<Real> Rule>
void shape_forward(call_context<Real>& ctx) {
  tensor x = ctx.input("X");
  const tensor_shape from = x.shape();
  const tensor_shape to = Rule(ctx, from);
  if (size_of(to) != size_of(from))
    ctx.fail("expected a shape of " + std::to_string(size_of(from)) + " elements, found " +
             to_string(to));
  tensor_shape x_shape{0};
  x_shape.insert(x_shape.end(), from.begin(), from.end());
  ctx.give("XShape", tensor::zeros(x.type(), x_shape));
  ctx.give("Out", x.visit([&]<class T>(const xt::xarray<T>& a) {
    return tensor(reshaped(xt::xarray<T>(a), to));
  }));
}
template <class Real>
void shape_gradient(call_context<Real>& ctx) {
  if (!ctx.wants("X@GRAD")) return;
  ctx.give("X@GRAD", reshaped(xt::xarray<Real>(ctx.real("Out@GRAD")), ctx.output_shape("X@GRAD")));
}

template <class Real>
copy_plan transpose_plan(const call_context<Real>& ctx, const tensor_shape& from) {
  const std::vector<int> axis = ctx.integer_list("axis");
  if (axis.size() != from.size())
    ctx.fail("expected one axis for each dimension of " + to_string(from) + ", found " +
             std::to_string(axis.size()));
  tensor_shape to(from.size());
  for (std::size_t d = 0; d < to.size(); ++d) to[d] = from[ctx.checked_axis(axis[d], to.size())];
  return plan_copy(to, [&](const tensor_shape& at) {
    tensor_shape source(at.size());
    for (std::size_t d = 0; d < at.size(); ++d)
      source[ctx.checked_axis(axis[d], at.size())] = at[d];
    return position_of(source, from);
  });
}

template <class Real>
void add_reshape_kernels(kernel_table<Real>& table) {
  table["reshape2"] = shape_forward<Real, reshape_rule<Real>>;
  table["squeeze2"] = shape_forward<Real, squeeze_rule<Real>>;
  table["unsqueeze2"] = shape_forward<Real, unsqueeze_rule<Real>>;
  table["flatten2"] = shape_forward<Real, flatten_rule<Real>>;
  for (const char* name : {"reshape2_grad", "squeeze2_grad", "unsqueeze2_grad", "flatten2_grad"})
    table[name] = shape_gradient<Real>;
  table["transpose2"] = copy_forward<Real, transpose_plan<Real>>;
  table["transpose2_grad"] = copy_gradient<Real, transpose_plan<Real>>;
}

}}}  // namespace lamina::kernel
