// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/prelu_maxout/executor.hpp - prelu and maxout, activations that are
// not pointwise.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Returns, for each element of X, the position of its slope in Alpha.
template <class Real>
std::vector<std::size_t> alpha_positions(const call_context<Real>& ctx) {
  const tensor_shape shape = ctx.input("X").shape();
  const std::string mode = ctx.text("mode");
  const std::size_t alphas = ctx.input("Alpha").size(), row = matrix(shape, 1).columns;
  const bool channel = mode == "channel" && shape.size() > 1;
  const std::size_t expected = channel ? shape[1] : (mode == "element" ? row : 1);
  if (alphas != expected)
    ctx.fail("expected " + std::to_string(expected) + " numbers in variable '" +
             ctx.input_name("Alpha") + "' for the mode '" + mode + "', found " +
             std::to_string(alphas));
  const std::size_t inner = channel ? row / shape[1] : 1;
  std::vector<std::size_t> position(size_of(shape));
  for (std::size_t i = 0; i < position.size(); ++i) position[i] = i / inner % alphas;
  return position;
}

/// Out = x if x > 0, else alpha * x.
template <class Real>
void prelu_forward(call_context<Real>& ctx) {
  auto x = ctx.real("X");
  const auto& alpha = ctx.real("Alpha");
  const std::vector<std::size_t> position = alpha_positions(ctx);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x.flat(i) <= 0) x.flat(i) *= alpha.flat(position[i]);
  ctx.give("Out", std::move(x));
}

/// dx = dy if x > 0, else alpha * dy; dalpha = the sum of dy * x where x <= 0.
template <class Real>
void prelu_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& alpha = ctx.real("Alpha");
  const auto& d = ctx.real("Out@GRAD");
  const std::vector<std::size_t> position = alpha_positions(ctx);
  auto dx = zeros<Real>(shape_of(x));
  auto dalpha = zeros<double>(shape_of(alpha));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool on = x.flat(i) > 0;
    dx.flat(i) = on ? d.flat(i) : alpha.flat(position[i]) * d.flat(i);
    if (!on) dalpha.flat(position[i]) += static_cast<double>(d.flat(i) * x.flat(i));
  }
  ctx.give("X@GRAD", std::move(dx));
  ctx.give("Alpha@GRAD", xt::xarray<Real>(xt::cast<Real>(dalpha)));
}

/// Returns, for each element of Out, the position in X of the element from which it is taken: the
/// largest of `groups` channels; if several are equally large, the first of them.
template <class Real>
std::vector<std::size_t> largest_channels(const call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const lines l(shape_of(x), 1);
  const std::size_t groups = static_cast<std::size_t>(ctx.integer("groups", 1));
  if (groups == 0 || l.n % groups != 0)
    ctx.fail("expected groups that divide " + std::to_string(l.n) + " channels, found " +
             std::to_string(groups));
  std::vector<std::size_t> position;
  for (std::size_t o = 0; o < l.outer; ++o)
    for (std::size_t c = 0; c < l.n; c += groups)
      for (std::size_t i = 0; i < l.inner; ++i) {
        std::size_t best = l.at(o, c, i);
        for (std::size_t g = 1; g < groups; ++g)
          if (math::is_above(x.flat(l.at(o, c + g, i)), x.flat(best))) best = l.at(o, c + g, i);
        position.push_back(best);
      }
  return position;
}

template <class Real>
void maxout_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const std::vector<std::size_t> position = largest_channels(ctx);
  tensor_shape shape = shape_of(x);
  shape[1] /= static_cast<std::size_t>(ctx.integer("groups", 1));
  auto out = zeros<Real>(shape);
  for (std::size_t i = 0; i < position.size(); ++i) out.flat(i) = x.flat(position[i]);
  ctx.give("Out", std::move(out));
}
template <class Real>
void maxout_gradient(call_context<Real>& ctx) {
  const auto& d = ctx.real("Out@GRAD");
  const std::vector<std::size_t> position = largest_channels(ctx);
  auto dx = zeros<Real>(shape_of(ctx.real("X")));
  for (std::size_t i = 0; i < position.size(); ++i) dx.flat(position[i]) += d.flat(i);
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void add_activation_kernels(kernel_table<Real>& table) {
  table["prelu"] = prelu_forward<Real>;
  table["prelu_grad"] = prelu_gradient<Real>;
  table["maxout"] = maxout_forward<Real>;
  table["maxout_grad"] = maxout_gradient<Real>;
}

}}}  // namespace lamina::kernel
