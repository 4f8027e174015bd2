// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/row/layer.hpp - costs computed over whole rows or over all elements.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/loss/cross_entropy/layer.hpp>
#include <lamina/operators/loss/pointwise/layer.hpp>
#include <lamina/operators/loss/row/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of smooth_l1.
struct smooth_l1_attr {
  float sigma = 1;
  std::string_view name{};
};
/// Options of label_smooth.
struct label_smooth_attr {
  float epsilon = 0.1f;
  std::string_view name{};
};

/// The ways in which kldiv_loss combines the costs of elements.
enum class reduction : std::uint8_t { none, sum, mean, batchmean };

namespace detail {
template <class X>
constexpr auto smooth_l1(X x, X y, int inside, int outside, const smooth_l1_attr& attr) {
  program_builder& b = *x.builder;
  layer_helper layer(b, "smooth_l1_loss", attr.name);
  const int difference = layer.output_like(x.id);
  constexpr extents all = whole_shape<X>;
  constexpr extents shape{2, {all.at[0], 1}};
  const auto loss =
      layer.template output<handle_of<typename X::value_type, typename X::rows_type, shape>>();
  b.add_operator(schema_of<operators::smooth_l1_loss>(), {x.id, y.id, inside, outside},
                 {difference, loss.id}, b.attribute_list(attr.sigma));
  return layer.returns(loss);
}
}  // namespace detail

/// With d = inside * (x - y), returns outside * (d^2 sigma^2 / 2 if |d| < 1 / sigma^2, else |d| -
/// 0.5 / sigma^2), summed over each row, shape [-1, 1]. Source: Girshick 2015. Fluid: smooth_l1.
template <class X, class Y>
constexpr auto smooth_l1(X x, Y y, const options<smooth_l1_attr, X>& attr = {},
                         int line = __builtin_LINE()) {
  using fit = detail::alike<X, Y>;
  static_assert(check<fit::same, expects_type<X>, gets_type<Y>>,
                "lamina: loss: the inputs have one shape, one element type and the same rows");
  static_assert(check<fit::real, gets_type<X>>,
                "lamina: loss: the inputs are floating point; cast integers first");
  require_one_program(x, y, line);
  x.builder->require_option(attr.sigma > 0, line, "smooth_l1: sigma > 0");
  return detail::smooth_l1(x, X{y.builder, y.id}, -1, -1, attr);
}
template <class X, class Y, class V, class W>
requires is_variable<V>
constexpr auto smooth_l1(X x, Y y, V inside, W outside, const options<smooth_l1_attr, X>& attr = {},
                         int line = __builtin_LINE()) {
  using fit = detail::alike<X, Y, V, W>;
  static_assert(check<fit::same, expects_type<X>, gets_type<Y, V, W>>,
                "lamina: loss: the inputs have one shape, one element type and the same rows");
  static_assert(check<fit::real, gets_type<X>>,
                "lamina: loss: the inputs are floating point; cast integers first");
  require_one_program(x, y, line);
  require_one_program(x, inside, line);
  require_one_program(x, outside, line);
  x.builder->require_option(attr.sigma > 0, line, "smooth_l1: sigma > 0");
  return detail::smooth_l1(x, X{y.builder, y.id}, inside.id, outside.id, attr);
}

/// The cost of each element is target * (log target - x), or 0 if the target is not positive; x
/// holds logarithms of probabilities. Returns the mean of the costs over the elements (`mean`),
/// their sum (`sum`), their sum divided by the number of rows (`batchmean`), or the cost of each
/// element (`none`). Fluid: kldiv_loss.
template <reduction How = reduction::mean, class X, class Y>
constexpr auto kldiv_loss(X x, Y target, const options<loss_attr, X>& attr = {},
                          int line = __builtin_LINE()) {
  using fit = detail::alike<X, Y>;
  static_assert(check<fit::same, expects_type<X>, gets_type<Y>>,
                "lamina: loss: the inputs have one shape, one element type and the same rows");
  static_assert(check<fit::real, gets_type<X>>,
                "lamina: loss: the inputs are floating point; cast integers first");
  require_one_program(x, target, line);
  constexpr extents shape = How == reduction::none ? whole_shape<X> : extents{1, {1}};
  using out = handle_of<typename X::value_type, typename X::rows_type, shape>;
  program_builder& b = *x.builder;
  layer_helper layer(b, "kldiv_loss", attr.name);
  const out y = layer.template output<out>();
  const char* how = How == reduction::none   ? "none"
                    : How == reduction::sum  ? "sum"
                    : How == reduction::mean ? "mean"
                                             : "batchmean";
  b.add_operator(schema_of<operators::kldiv_loss>(), {x.id, target.id}, {y.id},
                 b.attribute_list(b.text(how)));
  return layer.returns(y);
}

/// Returns (1 - epsilon) * label + epsilon / K, where K is the number of classes, the last
/// dimension of label. Source: Szegedy et al. 2016. Fluid: label_smooth.
template <class T, class R, int... D>
constexpr auto label_smooth(variable<T, R, D...> label,
                            const options<label_smooth_attr, T>& attr = {},
                            int line = __builtin_LINE()) {
  constexpr bool real = detail::is_real<T>;
  static_assert(check<real, gets_type<variable<T, R, D...>>>,
                "lamina: loss: the inputs are floating point; cast integers first");
  program_builder& b = *label.builder;
  b.require_option(attr.epsilon >= 0 && attr.epsilon <= 1, line, "label_smooth: 0 <= epsilon <= 1");
  layer_helper layer(b, "label_smooth", attr.name);
  const int y = layer.output_like(label.id);
  b.add_operator(schema_of<operators::label_smooth>(), {label.id, -1}, {y},
                 b.attribute_list(attr.epsilon));
  return layer.returns(variable<T, R, D...>{&b, y});
}
/// Returns (1 - epsilon) * label + epsilon * prior, where the prior distribution has the shape [1,
/// K].
template <class T, class R, int K, class U, class S, int... E>
constexpr auto label_smooth(variable<T, R, K> label, variable<U, S, E...> prior,
                            const options<label_smooth_attr, T>& attr = {},
                            int line = __builtin_LINE()) {
  using expected = variable<T, once, 1, K>;
  constexpr bool fits = __is_same(expected, variable<U, S, E...>);
  static_assert(check<fits, expects_type<expected>, gets_type<variable<U, S, E...>>>,
                "lamina: label_smooth: the prior is one row as wide as the labels");
  require_one_program(label, prior, line);
  program_builder& b = *label.builder;
  b.require_option(attr.epsilon >= 0 && attr.epsilon <= 1, line, "label_smooth: 0 <= epsilon <= 1");
  layer_helper layer(b, "label_smooth", attr.name);
  const int y = layer.output_like(label.id);
  b.add_operator(schema_of<operators::label_smooth>(), {label.id, prior.id}, {y},
                 b.attribute_list(attr.epsilon));
  return layer.returns(variable<T, R, K>{&b, y});
}

/// Returns, for each row x, the mean over j != label of log(1 + e^(x_j - x_label)). Source: Hidasi
/// et al. 2016. Fluid: bpr_loss.
template <class T, class R, int... D, class L, class S, int... E>
constexpr auto bpr_loss(variable<T, R, D...> x, variable<L, S, E...> label,
                        const options<cross_entropy_attr, T>& attr = {},
                        int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  using given = variable<L, S, E...>;
  constexpr bool fits = detail::hard_labels<in, given>;
  static_assert(check<fits, gets_type<in>, expects_type<detail::label_of<in>>, gets_type<given>>,
                "lamina: bpr_loss: labels are one int64 per row");
  require_one_program(x, label, line);
  layer_helper layer(*x.builder, "bpr_loss", attr.name);
  const auto y = layer.template output<detail::one_a_row<in>>();
  x.builder->add_operator(schema_of<operators::bpr_loss>(), {x.id, label.id}, {y.id});
  return layer.returns(y);
}

}}}  // namespace lamina::layer
