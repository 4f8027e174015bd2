// SPDX-License-Identifier: Apache-2.0
// lamina/operators/fill/executor.hpp - values from nothing and from chance: constants, random
// numbers, dropout.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/random.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/kernel_table.hpp>

namespace lamina::inline LAMINA_ABI::kernel {

/// The shape attribute, or the recorded shape where an operator has none. A dimension of -1 is that
/// of the rows of Input.
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

/// Out = 0 in the shape of X.
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

/// The random numbers of a variable, computed in float so that every engine has the same ones. A
/// parameter gets the same numbers in each run; any other variable gets new ones (core/random.hpp).
template <class Real, class F>
void give_random(call_context<Real>& ctx, random_type type, F number) {
  if (!ctx.wants("Out")) return;
  const variable_desc& to = ctx.output_desc("Out");
  const std::uint64_t own = static_cast<std::uint64_t>(ctx.attribute("seed"));
  const bool starts = to.kind == variable_kind::parameter;
  const std::uint64_t seed =
      own != 0 ? own : ctx.options().seed + (starts ? 0 : ctx.options().step);
  const std::uint64_t stream = starts ? static_cast<std::uint64_t>(to.index)
                                      : random_stream(type, ctx.ordinal(), ctx.next_iteration());
  auto out = zeros<float>(filled_shape(ctx));
  const std::size_t width = out.size() == 0 ? 0 : out.size() / out.shape()[0];
  const std::uint64_t first = to.rows == once::domain ? 0 : ctx.options().first_row * width;
  for (std::size_t i = 0; i < out.size(); ++i) out.flat(i) = number(seed, stream, first + i);
  ctx.give("Out", std::move(out));
}

/// Out ~ U(min, max).
template <class Real, random_type Type>
void uniform_random_forward(call_context<Real>& ctx) {
  const float low = static_cast<float>(ctx.attribute("min", -1));
  const float high = static_cast<float>(ctx.attribute("max", 1));
  give_random(ctx, Type, [=](std::uint64_t seed, std::uint64_t stream, std::uint64_t i) {
    return random_uniform_at(seed, stream, i, low, high);
  });
}

/// Out ~ N(mean, std^2), or the same cut at two deviations.
template <class Real, random_type Type>
void gaussian_random_forward(call_context<Real>& ctx) {
  const float mean = static_cast<float>(ctx.attribute("mean"));
  const float deviation = static_cast<float>(ctx.attribute("std", 1));
  give_random(ctx, Type, [=](std::uint64_t seed, std::uint64_t stream, std::uint64_t i) {
    return mean + deviation * (Type == random_type::truncated_normal
                                   ? random_truncated_normal_at(seed, stream, i)
                                   : random_normal_at(seed, stream, i));
  });
}

/// The factor of an element that is kept: 1, or 1 / (1 - p) with "upscale_in_train".
template <class Real>
Real dropout_factor(const call_context<Real>& ctx, bool test) {
  const Real p = ctx.real_attribute("dropout_prob", 0.5);
  const bool upscale = ctx.text("dropout_implementation") == "upscale_in_train";
  if (test) return upscale ? Real(1) : 1 - p;
  if (!upscale) return 1;
  return p >= 1 ? Real(0) : 1 / (1 - p);
}

/// Out = X * Mask * factor; in a test X * factor.
template <class Real>
void dropout_forward(call_context<Real>& ctx) {
  auto x = ctx.real("X");
  const bool test = ctx.flag("is_test");
  const Real factor = dropout_factor(ctx, test);
  xt::xarray<std::uint8_t> mask = zeros<std::uint8_t>(shape_of(x));
  const std::uint64_t seed = ctx.flag("fix_seed")
                                 ? static_cast<std::uint64_t>(ctx.attribute("seed"))
                                 : ctx.options().seed + ctx.options().step;
  const std::uint64_t stream = dropout_stream(ctx.ordinal(), ctx.next_iteration());
  const float p = static_cast<float>(ctx.attribute("dropout_prob", 0.5));
  const std::size_t width = matrix(shape_of(x), 1).columns;
  const std::uint64_t first = ctx.options().first_row * width;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool kept = test || dropout_keeps(seed, stream, first + i, p);
    mask.flat(i) = kept ? 1 : 0;
    x.flat(i) = kept ? x.flat(i) * factor : Real(0);
  }
  ctx.give("Out", std::move(x));
  ctx.give("Mask", std::move(mask));
}

/// dX = dOut * factor where Mask is 1, else 0, even if dOut is NaN or infinite.
template <class Real>
void dropout_gradient(call_context<Real>& ctx) {
  auto d = ctx.real("Out@GRAD");
  const auto mask = ctx.integers("Mask");
  const Real factor = dropout_factor(ctx, ctx.flag("is_test"));
  for (std::size_t i = 0; i < d.size(); ++i)
    d.flat(i) = mask.flat(i) != 0 ? d.flat(i) * factor : Real(0);
  ctx.give("X@GRAD", std::move(d));
}

template <class Real>
void add_fill_kernels(kernel_table<Real>& table) {
  table["fill_constant"] = fill_constant_forward<Real>;
  table["fill_zeros_like"] = fill_zeros_like_forward<Real>;
  table["assign_value"] = assign_value_forward<Real>;
  table["uniform_random"] = uniform_random_forward<Real, random_type::uniform>;
  table["gaussian_random"] = gaussian_random_forward<Real, random_type::normal>;
  table["truncated_gaussian_random"] = gaussian_random_forward<Real, random_type::truncated_normal>;
  table["uniform_random_batch_size_like"] = uniform_random_forward<Real, random_type::uniform_like>;
  table["gaussian_random_batch_size_like"] =
      gaussian_random_forward<Real, random_type::normal_like>;
  table["dropout"] = dropout_forward<Real>;
  table["dropout_grad"] = dropout_gradient<Real>;
}

}  // namespace lamina::inline LAMINA_ABI::kernel
