// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/pointwise/layer.hpp - costs that are computed for each element.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/elementwise/binary/definition.hpp>
#include <lamina/operators/elementwise/unary/definition.hpp>
#include <lamina/operators/loss/pointwise/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of the costs of this file that need no others than a name.
struct loss_attr {
  std::string_view name{};
};
/// Options of sigmoid_cross_entropy_with_logits.
struct sigmoid_cross_entropy_with_logits_attr {
  int ignore_index = -100;  // elements with this label cost 0
  std::string_view name{};
};
/// Options of log_loss.
struct log_loss_attr {
  float epsilon = 1e-4f;  // keeps the logarithms finite
  std::string_view name{};
};
/// Options of margin_rank_loss.
struct margin_rank_loss_attr {
  float margin = 0.1f;
  std::string_view name{};
};

namespace detail {

/// Whether the inputs of a cost have the same shape, rows and floating point type.
template <class First, class... More>
struct alike {
  static constexpr bool same = (__is_same(First, More) && ...);
  static constexpr bool real = !same || is_real<typename First::value_type>;
};

/// Records operator Op with two inputs. If `Keeps`, Op has an additional first output, which only
/// the gradient reads.
template <class Op, bool Keeps = false, class X, class Y>
constexpr auto pair_loss(X x, Y y, const char* key, std::string_view name, int line,
                         int attributes = -1) {
  using fit = detail::alike<X, Y>;
  static_assert(check<fit::same, expects_type<X>, gets_type<Y>>,
                "lamina: loss: the inputs have one shape, one element type and the same rows");
  static_assert(check<fit::real, gets_type<X>>,
                "lamina: loss: the inputs are floating point; cast integers first");
  require_one_program(x, y, line);
  layer_helper layer(*x.builder, key, name);
  const int kept = Keeps ? layer.output_like(x.id) : -1;
  const int out = layer.output_like(x.id);
  if constexpr (Keeps)
    x.builder->add_operator(schema_of<Op>(), {x.id, y.id}, {kept, out}, attributes);
  else
    x.builder->add_operator(schema_of<Op>(), {x.id, y.id}, {out}, attributes);
  return layer.returns(X{x.builder, out});
}

}  // namespace detail

/// Returns (x - label)^2. Fluid: square_error_cost.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto square_error_cost(variable<T, R, D...> x, variable<U, S, E...> label,
                                 const options<loss_attr, T>& attr = {},
                                 int line = __builtin_LINE()) {
  using fit = detail::alike<variable<T, R, D...>, variable<U, S, E...>>;
  static_assert(
      check<fit::same, expects_type<variable<T, R, D...>>, gets_type<variable<U, S, E...>>>,
      "lamina: loss: the inputs have one shape, one element type and the same rows");
  static_assert(check<fit::real, gets_type<variable<T, R, D...>>>,
                "lamina: loss: the inputs are floating point; cast integers first");
  require_one_program(x, label, line);
  program_builder& b = *x.builder;
  layer_helper layer(b, "square_error_cost", attr.name);
  const int difference = layer.output_like(x.id);
  b.add_operator(schema_of<operators::elementwise_sub>(), {x.id, label.id}, {difference});
  const int y = layer.output_like(x.id);
  b.add_operator(schema_of<operators::square>(), {difference}, {y});
  return layer.returns(variable<T, R, D...>{&b, y});
}
#ifdef LAMINA_NAMES_OPTIONS
// clang-format off
constexpr no_match<loss_attr>
square_error_cost(...) = delete;  // call square_error_cost(x, label)
// clang-format on
#endif

/// Returns max(x, 0) - x * label + log(1 + e^-|x|), the cross entropy of sigmoid(x) and the label;
/// 0 if the label is ignore_index. Fluid: sigmoid_cross_entropy_with_logits.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto sigmoid_cross_entropy_with_logits(
    variable<T, R, D...> x, variable<U, S, E...> label,
    const options<sigmoid_cross_entropy_with_logits_attr, T>& attr = {},
    int line = __builtin_LINE()) {
  return detail::pair_loss<operators::sigmoid_cross_entropy_with_logits>(
      x, label, "sigmoid_cross_entropy_with_logits", attr.name, line,
      x.builder->attribute_list(attr.ignore_index, false));
}

/// Returns -label * log(p + epsilon) - (1 - label) * log(1 - p + epsilon), where p is a
/// probability. Fluid: log_loss.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto log_loss(variable<T, R, D...> p, variable<U, S, E...> label,
                        const options<log_loss_attr, T>& attr = {}, int line = __builtin_LINE()) {
  p.builder->require_option(attr.epsilon >= 0, line, "log_loss: epsilon >= 0");
  return detail::pair_loss<operators::log_loss>(p, label, "log_loss", attr.name, line,
                                                p.builder->attribute_list(attr.epsilon));
}

/// Returns max(0, 1 - x * (2 * label - 1)). Labels must be 0 or 1. Fluid: hinge_loss.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto hinge_loss(variable<T, R, D...> x, variable<U, S, E...> label,
                          const options<loss_attr, T>& attr = {}, int line = __builtin_LINE()) {
  return detail::pair_loss<operators::hinge_loss>(x, label, "hinge_loss", attr.name, line);
}

/// With r = label - x, returns r^2 / 2 if |r| <= delta, else delta * (|r| - delta / 2). Source:
/// Huber 1964. Fluid: huber_loss.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto huber_loss(variable<T, R, D...> x, variable<U, S, E...> label, float delta,
                          const options<loss_attr, T>& attr = {}, int line = __builtin_LINE()) {
  x.builder->require_option(delta > 0, line, "huber_loss: delta > 0");
  return detail::pair_loss<operators::huber_loss, true>(x, label, "huber_loss", attr.name, line,
                                                        x.builder->attribute_list(delta));
}

/// With v = x * (2 * label - 1), returns -4 v if v < -1, (1 - v)^2 if -1 <= v < 1, else 0. Labels
/// must be 0 or 1. Source: Zhang 2004. Fluid: modified_huber_loss.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto modified_huber_loss(variable<T, R, D...> x, variable<U, S, E...> label,
                                   const options<loss_attr, T>& attr = {},
                                   int line = __builtin_LINE()) {
  return detail::pair_loss<operators::modified_huber_loss, true>(x, label, "modified_huber_loss",
                                                                 attr.name, line);
}

/// Returns log(1 + e^(left - right)) - label * (left - right). The label is the probability that
/// left ranks above right. Source: Burges et al. 2005. Fluid: rank_loss.
template <class V, class L, class W>
constexpr auto rank_loss(L label, V left, W right, const options<loss_attr, V>& attr = {},
                         int line = __builtin_LINE()) {
  using fit = detail::alike<V, W, L>;
  static_assert(check<fit::same, expects_type<V>, gets_type<W, L>>,
                "lamina: loss: the inputs have one shape, one element type and the same rows");
  static_assert(check<fit::real, gets_type<V>>,
                "lamina: loss: the inputs are floating point; cast integers first");
  require_one_program(left, label, line);
  require_one_program(left, right, line);
  layer_helper layer(*left.builder, "rank_loss", attr.name);
  const int out = layer.output_like(left.id);
  left.builder->add_operator(schema_of<operators::rank_loss>(), {label.id, left.id, right.id},
                             {out});
  return layer.returns(V{left.builder, out});
}

/// Returns max(0, -label * (left - right) + margin). The label must be 1 if left should rank above
/// right, else -1. Fluid: margin_rank_loss.
template <class V, class L, class W>
constexpr auto margin_rank_loss(L label, V left, W right,
                                const options<margin_rank_loss_attr, V>& attr = {},
                                int line = __builtin_LINE()) {
  using fit = detail::alike<V, W, L>;
  static_assert(check<fit::same, expects_type<V>, gets_type<W, L>>,
                "lamina: loss: the inputs have one shape, one element type and the same rows");
  static_assert(check<fit::real, gets_type<V>>,
                "lamina: loss: the inputs are floating point; cast integers first");
  require_one_program(left, label, line);
  require_one_program(left, right, line);
  program_builder& b = *left.builder;
  layer_helper layer(b, "margin_rank_loss", attr.name);
  const int out = layer.output_like(left.id);
  const int activated = layer.output_like(left.id);
  b.add_operator(schema_of<operators::margin_rank_loss>(), {left.id, right.id, label.id},
                 {activated, out}, b.attribute_list(attr.margin));
  return layer.returns(V{&b, out});
}

}}}  // namespace lamina::layer
