// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/concat/executor.hpp - operators that copy elements to other positions:
// transpose2, concat, split, stack, unstack, slice, crop, pad, expand.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

// Each of the operators of this file copies elements: out[i] = x[position[i]]. Its gradient is
// dx[position[i]] += dout[i]. One function computes the positions for the operator and for its
// gradient. The position `nowhere` stands for the pad value.
inline constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

/// Computes out[i] = x[position[i]] in the element type of X.
template <class Real>
void give_copied(call_context<Real>& ctx, const char* in, const char* out,
                 const tensor_shape& shape, const std::vector<std::size_t>& position,
                 double padding) {
  ctx.give(out, ctx.input(in).visit([&]<class T>(const xt::xarray<T>& x) {
    xt::xarray<T> y = xt::xarray<T>::from_shape(shape);
    for (std::size_t i = 0; i < y.size(); ++i)
      y.flat(i) = position[i] == nowhere ? number_cast<T>(padding) : x.flat(position[i]);
    return tensor(std::move(y));
  }));
}

/// dx[position[i]] += dout[i].
template <class Real>
void give_scattered(call_context<Real>& ctx, const char* grad, const char* out,
                    const std::vector<std::size_t>& position) {
  const auto& d = ctx.real(grad);
  auto dx = zeros<Real>(ctx.output_shape(out));
  for (std::size_t i = 0; i < d.size(); ++i)
    if (position[i] != nowhere) dx.flat(position[i]) += d.flat(i);
  ctx.give(out, std::move(dx));
}

/// Returns the coordinates of element i of an array with a given shape.
inline tensor_shape coordinates(std::size_t i, const tensor_shape& shape) {
  tensor_shape at(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; i /= shape[d]) at[d] = i % shape[d];
  return at;
}
/// The inverse of coordinates(): returns the index of the element with given coordinates.
inline std::size_t position_of(const tensor_shape& at, const tensor_shape& shape) {
  std::size_t position = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) position = position * shape[d] + at[d];
  return position;
}

/// The shape of a result, and for each of its elements, the position in the source from which it is
/// copied.
struct copy_plan {
  tensor_shape shape;
  std::vector<std::size_t> position;
};
/// Returns the plan for a result of shape `to`. from(coordinates in the result) returns the
/// position in the source.
template <class F>
copy_plan plan_copy(const tensor_shape& to, F from) {
  copy_plan plan{to, std::vector<std::size_t>(size_of(to))};
  for (std::size_t i = 0; i < plan.position.size(); ++i)
    plan.position[i] = from(coordinates(i, to));
  return plan;
}

template <class Real>
copy_plan slice_plan(const call_context<Real>& ctx, const tensor_shape& from) {
  const std::vector<int> axes = ctx.integer_list("axes"), starts = ctx.integer_list("starts"),
                         ends = ctx.integer_list("ends");
  tensor_shape to = from, begin(from.size(), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t d = ctx.checked_axis(axes[i], from.size());
    const int n = static_cast<int>(from[d]);
    const auto limit = [n](int x) { return x < 0 ? (x + n < 0 ? 0 : x + n) : (x > n ? n : x); };
    const int low = limit(starts[i]), high = limit(ends[i]);
    begin[d] = static_cast<std::size_t>(low);
    to[d] = high > low ? static_cast<std::size_t>(high - low) : 0;
  }
  return plan_copy(to, [&](tensor_shape at) {
    for (std::size_t d = 0; d < at.size(); ++d) at[d] += begin[d];
    return position_of(at, from);
  });
}

template <class Real>
copy_plan crop_plan(const call_context<Real>& ctx, const tensor_shape& from) {
  std::vector<int> offsets = ctx.integer_list("offsets");
  if (ctx.has("Offsets")) {
    offsets.clear();
    for (const std::int64_t at : ctx.integers("Offsets")) offsets.push_back(static_cast<int>(at));
  }
  if (offsets.size() != from.size())
    ctx.fail("expected an offset for each dimension of " + to_string(from) + ", found " +
             std::to_string(offsets.size()));
  // In the gradient, Out@GRAD has the shape of the box.
  tensor_shape to;
  const char* const like = ctx.has("Out@GRAD") ? "Out@GRAD" : "Y";
  if (ctx.has(like)) {
    to = ctx.input(like).shape();
  } else {
    const std::vector<int> shape = ctx.integer_list("shape");
    for (std::size_t d = 0; d < shape.size(); ++d)
      to.push_back(static_cast<std::size_t>(
          shape[d] < 0 && d < from.size() ? static_cast<int>(from[d]) - offsets[d] : shape[d]));
  }
  bool inside = to.size() == from.size();
  for (std::size_t d = 0; inside && d < to.size(); ++d)
    inside = offsets[d] >= 0 && static_cast<std::size_t>(offsets[d]) + to[d] <= from[d];
  if (!inside)
    ctx.fail("expected a box inside of " + to_string(from) + ", found one of " + to_string(to));
  return plan_copy(to, [&](tensor_shape at) {
    for (std::size_t d = 0; d < at.size(); ++d) at[d] += static_cast<std::size_t>(offsets[d]);
    return position_of(at, from);
  });
}

template <class Real>
copy_plan pad_plan(const call_context<Real>& ctx, const tensor_shape& from) {
  const std::vector<int> paddings = ctx.integer_list("paddings");
  if (paddings.size() != 2 * from.size())
    ctx.fail("expected two paddings for each dimension of " + to_string(from) + ", found " +
             std::to_string(paddings.size()));
  tensor_shape to = from;
  for (std::size_t d = 0; d < to.size(); ++d)
    to[d] += static_cast<std::size_t>(paddings[2 * d] + paddings[2 * d + 1]);
  return plan_copy(to, [&](tensor_shape at) {
    for (std::size_t d = 0; d < at.size(); ++d) {
      const std::size_t before = static_cast<std::size_t>(paddings[2 * d]);
      if (at[d] < before || at[d] >= before + from[d]) return nowhere;
      at[d] -= before;
    }
    return position_of(at, from);
  });
}

template <class Real>
copy_plan expand_plan(const call_context<Real>& ctx, const tensor_shape& from) {
  const std::vector<int> times = ctx.integer_list("expand_times");
  if (times.size() != from.size())
    ctx.fail("expected one count for each dimension of " + to_string(from) + ", found " +
             std::to_string(times.size()));
  tensor_shape to = from;
  for (std::size_t d = 0; d < to.size(); ++d) to[d] *= static_cast<std::size_t>(times[d]);
  return plan_copy(to, [&](tensor_shape at) {
    for (std::size_t d = 0; d < at.size(); ++d) at[d] %= from[d];
    return position_of(at, from);
  });
}

template <class Real>
using copy_planner = copy_plan (*)(const call_context<Real>&, const tensor_shape&);

template <class Real, copy_planner<Real> Plan>
void copy_forward(call_context<Real>& ctx) {
  const char* in = ctx.schema().inputs[0].name;
  const tensor_shape from = ctx.input(in).shape();
  const copy_plan plan = Plan(ctx, from);
  const double padding = ctx.attribute("pad_value");
  if (ctx.wants("XShape")) {
    tensor_shape x_shape{0};
    x_shape.insert(x_shape.end(), from.begin(), from.end());
    ctx.give("XShape", tensor::zeros(ctx.input(in).type(), x_shape));
  }
  give_copied(ctx, in, "Out", plan.shape, plan.position, padding);
}
template <class Real, copy_planner<Real> Plan>
void copy_gradient(call_context<Real>& ctx) {
  const char* out = ctx.schema().outputs[0].name;
  if (!ctx.wants(out)) return;
  give_scattered(ctx, "Out@GRAD", out, Plan(ctx, ctx.output_shape(out)).position);
}

/// Out = the inputs concatenated along dimension `axis`.
template <class Real>
void concat_forward(call_context<Real>& ctx) {
  const int n = ctx.count("X");
  tensor_shape shape = ctx.input("X", 0).shape();
  const std::size_t axis = ctx.axis("axis", shape.size());
  for (int k = 1; k < n; ++k) shape[axis] += ctx.input("X", k).shape()[axis];
  tensor out = ctx.input("X", 0).visit([&]<class T>(const xt::xarray<T>&) {
    xt::xarray<T> y = xt::xarray<T>::from_shape(shape);
    const lines to(shape, axis);
    std::size_t begin = 0;
    for (int k = 0; k < n; ++k) {
      xt::xarray<T> storage;
      const xt::xarray<T>& x = values_as(ctx.input("X", k), storage);
      const lines from(shape_of(x), axis);
      if (from.outer != to.outer || from.inner != to.inner)
        ctx.fail("expected inputs that differ along the axis only, found " +
                 to_string(shape_of(x)) + " beside " + to_string(ctx.input("X", 0).shape()));
      for (std::size_t o = 0; o < from.outer; ++o)
        for (std::size_t j = 0; j < from.n; ++j)
          for (std::size_t i = 0; i < from.inner; ++i)
            y.flat(to.at(o, begin + j, i)) = x.flat(from.at(o, j, i));
      begin += from.n;
    }
    return tensor(std::move(y));
  });
  ctx.give("Out", std::move(out));
}

/// Returns the part of `whole` that starts at index `begin` and has the extent `n` along dimension
/// `axis`.
template <class T>
xt::xarray<T> part_of(const xt::xarray<T>& whole, std::size_t axis, std::size_t begin,
                      std::size_t n) {
  tensor_shape shape = shape_of(whole);
  const lines from(shape, axis);
  shape[axis] = n;
  const lines to(shape, axis);
  xt::xarray<T> part = xt::xarray<T>::from_shape(shape);
  for (std::size_t o = 0; o < to.outer; ++o)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < to.inner; ++i)
        part.flat(to.at(o, j, i)) = whole.flat(from.at(o, begin + j, i));
  return part;
}

/// dX[k] = the part of dOut that X[k] has in Out.
template <class Real>
void concat_gradient(call_context<Real>& ctx) {
  const auto& d = ctx.real("Out@GRAD");
  const std::size_t axis = ctx.axis("axis", d.dimension());
  std::size_t begin = 0;
  for (int k = 0; k < ctx.output_count("X@GRAD"); ++k) {
    const std::size_t n = ctx.input("X", k).shape()[axis];
    ctx.give("X@GRAD", part_of(d, axis, begin, n), k);
    begin += n;
  }
}

/// Out[k] = part k of X along dimension `axis`.
template <class Real>
void split_forward(call_context<Real>& ctx) {
  const tensor x = ctx.input("X");
  const std::size_t axis = ctx.axis("axis", x.rank()), whole = x.shape()[axis];
  const std::vector<int> sections = ctx.integer_list("sections");
  const int parts = ctx.output_count("Out");
  std::size_t begin = 0;
  for (int k = 0; k < parts; ++k) {
    const std::size_t n = sections.empty()
                              ? whole / static_cast<std::size_t>(parts)
                              : static_cast<std::size_t>(sections[static_cast<std::size_t>(k)]);
    x.visit([&](const auto& a) { ctx.give("Out", part_of(a, axis, begin, n), k); });
    begin += n;
  }
  if (begin != whole)
    ctx.fail("expected parts that add up to " + std::to_string(whole) + ", found " +
             std::to_string(begin));
}

/// dX = the concatenated gradients of the outputs.
template <class Real>
void split_gradient(call_context<Real>& ctx) {
  if (!ctx.wants("X@GRAD")) return;
  auto dx = zeros<Real>(ctx.output_shape("X@GRAD"));
  const std::size_t axis = ctx.axis("axis", dx.dimension());
  const lines to(shape_of(dx), axis);
  std::size_t begin = 0;
  for (int k = 0; k < ctx.count("Out@GRAD"); ++k) {
    const auto& d = ctx.real("Out@GRAD", k);
    const lines from(shape_of(d), axis);
    for (std::size_t o = 0; o < from.outer; ++o)
      for (std::size_t j = 0; j < from.n; ++j)
        for (std::size_t i = 0; i < from.inner; ++i)
          dx.flat(to.at(o, begin + j, i)) = d.flat(from.at(o, j, i));
    begin += from.n;
  }
  ctx.give("X@GRAD", std::move(dx));
}

/// Stacks the variables of slot `in` along a new dimension `axis` of the variable in slot `out`.
template <class Real>
void give_stacked(call_context<Real>& ctx, const char* in, const char* out) {
  const std::size_t n = static_cast<std::size_t>(ctx.count(in));
  tensor_shape shape = ctx.input(in, 0).shape();
  const std::size_t axis = ctx.axis("axis", shape.size() + 1);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), n);
  const lines l(shape, axis);
  ctx.give(out, ctx.input(in, 0).visit([&]<class T>(const xt::xarray<T>&) {
    auto y = zeros<T>(shape);
    for (std::size_t k = 0; k < n; ++k) {
      xt::xarray<T> storage;
      const xt::xarray<T>& x = values_as(ctx.input(in, static_cast<int>(k)), storage);
      if (x.size() != l.outer * l.inner)
        ctx.fail("expected inputs of one shape, found " + to_string(shape_of(x)) + " beside " +
                 to_string(ctx.input(in, 0).shape()));
      for (std::size_t o = 0; o < l.outer; ++o)
        for (std::size_t i = 0; i < l.inner; ++i) y.flat(l.at(o, k, i)) = x.flat(o * l.inner + i);
    }
    return tensor(std::move(y));
  }));
}
template <class Real>
void stack_forward(call_context<Real>& ctx) {
  give_stacked(ctx, "X", "Y");
}
template <class Real>
void unstack_gradient(call_context<Real>& ctx) {
  give_stacked(ctx, "Y@GRAD", "X@GRAD");
}
template <class Real>
void stack_gradient(call_context<Real>& ctx) {
  const auto& d = ctx.real("Y@GRAD");
  tensor_shape shape = shape_of(d);
  const std::size_t axis = ctx.axis("axis", shape.size());
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  for (int k = 0; k < ctx.output_count("X@GRAD"); ++k)
    ctx.give("X@GRAD", reshaped(part_of(d, axis, static_cast<std::size_t>(k), 1), shape), k);
}

/// Y[k] = the slice of X at index k along dimension `axis`, without this dimension.
template <class Real>
void unstack_forward(call_context<Real>& ctx) {
  const tensor x = ctx.input("X");
  tensor_shape shape = x.shape();
  const std::size_t axis = ctx.axis("axis", shape.size());
  if (shape[axis] != static_cast<std::size_t>(ctx.output_count("Y")))
    ctx.fail("expected " + std::to_string(shape[axis]) + " outputs, found " +
             std::to_string(ctx.output_count("Y")));
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  for (int k = 0; k < ctx.output_count("Y"); ++k)
    x.visit([&](const auto& a) {
      ctx.give("Y", reshaped(part_of(a, axis, static_cast<std::size_t>(k), 1), shape), k);
    });
}

template <class Real>
void add_shape_kernels(kernel_table<Real>& table) {
  table["crop"] = copy_forward<Real, crop_plan<Real>>;
  table["crop_grad"] = copy_gradient<Real, crop_plan<Real>>;
  table["unstack"] = unstack_forward<Real>;
  table["unstack_grad"] = unstack_gradient<Real>;
  table["slice"] = copy_forward<Real, slice_plan<Real>>;
  table["slice_grad"] = copy_gradient<Real, slice_plan<Real>>;
  table["pad"] = copy_forward<Real, pad_plan<Real>>;
  table["pad_grad"] = copy_gradient<Real, pad_plan<Real>>;
  table["expand"] = copy_forward<Real, expand_plan<Real>>;
  table["expand_grad"] = copy_gradient<Real, expand_plan<Real>>;
  table["concat"] = concat_forward<Real>;
  table["concat_grad"] = concat_gradient<Real>;
  table["split"] = split_forward<Real>;
  table["split_grad"] = split_gradient<Real>;
  table["stack"] = stack_forward<Real>;
  table["stack_grad"] = stack_gradient<Real>;
}

}}}  // namespace lamina::kernel
