// SPDX-License-Identifier: Apache-2.0
// lamina/layers/random_choice.hpp - random choices with given probabilities.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/operators/activation/softmax/layer.hpp>
#include <lamina/operators/elementwise/assign/layer.hpp>
#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/operators/elementwise/compare/layer.hpp>
#include <lamina/operators/elementwise/sum/layer.hpp>
#include <lamina/operators/elementwise/unary/layer.hpp>
#include <lamina/operators/random/distribution/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of bernoulli and gumbel_noise.
struct random_choice_attr {
  int seed = 0;  // as in uniform_random
  std::string_view name{};
};
/// Options of gumbel_softmax.
struct gumbel_softmax_attr {
  float temperature = 1;
  int seed = 0;  // as in uniform_random
  std::string_view name{};
};

namespace detail {

/// Uniform numbers of [0, 1) in the shape of x, which has rows.
template <class T, class R, int... D>
constexpr auto uniform_like(variable<T, R, D...> x, float low, int seed) {
  return uniform_random_batch_size_like<D...>(x, {.min = low, .max = 1, .seed = seed});
}

}  // namespace detail

/// 1 with probability p, else 0, for each element of p: a number of [0, 1); p <= 0 gives 0, and p
/// >= 1 gives 1. No gradient flows to p. PyTorch: bernoulli.
template <class R, int... D>
constexpr auto bernoulli(variable<float, R, D...> p,
                         const options<random_choice_attr, R>& attr = {}) {
  layer_helper layer(*p.builder, "bernoulli", attr.name);
  return layer.returns(cast<float>(less_than(detail::uniform_like(p, 0, attr.seed), p)));
}

/// Noise of the Gumbel distribution, -log(-log(u)) with uniform u, in the shape of x. The number of
/// the largest of x_i + noise_i is i with the probability softmax(x)_i.
template <class R, int... D>
constexpr auto gumbel_noise(variable<float, R, D...> x,
                            const options<random_choice_attr, R>& attr = {}) {
  layer_helper layer(*x.builder, "gumbel_noise", attr.name);
  // From the smallest normal number on: the logarithm of 0 would be infinite.
  const auto u = detail::uniform_like(x, 1.1754944e-38f, attr.seed);
  return layer.returns(scale(log(scale(log(u), -1)), -1));
}

/// softmax((x + g) / temperature) along the last dimension, where g is gumbel_noise(x): a sample of
/// the distribution softmax(x) that is nearly one-hot at low temperatures and has a gradient.
/// Source: Jang et al. 2017. PyTorch: gumbel_softmax with hard=False.
template <class R, int... D>
constexpr auto gumbel_softmax(variable<float, R, D...> x,
                              const options<gumbel_softmax_attr, R>& attr = {},
                              int line = __builtin_LINE()) {
  x.builder->require_option(attr.temperature > 0, line, "gumbel_softmax: temperature > 0");
  layer_helper layer(*x.builder, "gumbel_softmax", attr.name);
  const auto noisy = elementwise_add(x, gumbel_noise(x, {.seed = attr.seed}));
  return layer.returns(softmax(scale(noisy, 1.0 / attr.temperature)));
}

}}}  // namespace lamina::layer
