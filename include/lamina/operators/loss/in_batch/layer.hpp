// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/in_batch/layer.hpp - in_batch_cross_entropy, which classifies each row of a
// mini-batch among all rows of the mini-batch, and npair_loss.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/messages/check.hpp>
#include <lamina/layers/layer_helper.hpp>
#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/elementwise/binary/layer_arithmetic.hpp>
#include <lamina/operators/elementwise/sum/layer.hpp>
#include <lamina/operators/elementwise/unary/layer.hpp>
#include <lamina/operators/loss/in_batch/definition.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of in_batch_cross_entropy.
struct in_batch_cross_entropy_attr {
  std::string_view name{};
};

namespace detail {
template <class T, class R, int N>
constexpr auto in_batch_cost(variable<T, R, N> x, int y, int label, std::string_view name) {
  program_builder& b = *x.builder;
  layer_helper layer(b, "in_batch_cross_entropy", name);
  const auto sum = layer.template output<variable<T, R, 2>>();
  const auto cost = layer.template output<variable<T, R, 1>>();
  b.add_operator(schema_of<operators::in_batch_cross_entropy>(), {x.id, y, label},
                 {sum.id, cost.id});
  return layer.returns(cost);
}
}  // namespace detail

/// Returns the cross entropy of the classification of row i of x [-1, N] among all rows of y [-1,
/// N] in the mini-batch, where row i of y is correct: log(sum over j of e^<x_i, y_j>) - <x_i, y_i>,
/// one number per row. For a temperature, scale x: `in_batch_cross_entropy(x * 20.0f, y)`. The cost
/// of a row depends on all rows of the mini-batch, so the mini-batch cannot be divided, and a
/// single thread trains the program.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto in_batch_cross_entropy(variable<T, R, D...> x, variable<U, S, E...> y,
                                      const options<in_batch_cross_entropy_attr, T>& attr = {},
                                      int line = __builtin_LINE()) {
  using left = variable<T, R, D...>;
  using right = variable<U, S, E...>;
  constexpr bool fits =
      __is_same(left, right) && detail::is_real<T> && has_rows<R> && sizeof...(D) == 1;
  static_assert(check<fits, gets_type<left, right>>,
                "lamina: in_batch_cross_entropy: both sides are rows of one width and one real "
                "type");
  require_one_program(x, y, line);
  if constexpr (fits)
    return detail::in_batch_cost(x, y.id, -1, attr.name);
  else
    return variable<float, batch, 1>{x.builder, 0};
}
/// Returns the cross entropy of the same classification with labels, one integer per row: all rows
/// of y with the label of row i are correct for row i, and share the target probability 1 equally.
template <class T, class R, int... D, class U, class S, int... E, class L, class Q, int... F>
constexpr auto in_batch_cross_entropy(variable<T, R, D...> x, variable<U, S, E...> y,
                                      variable<L, Q, F...> label,
                                      const options<in_batch_cross_entropy_attr, T>& attr = {},
                                      int line = __builtin_LINE()) {
  using left = variable<T, R, D...>;
  using right = variable<U, S, E...>;
  using given = variable<L, Q, F...>;
  constexpr bool fits =
      __is_same(left, right) && detail::is_real<T> && has_rows<R> && sizeof...(D) == 1;
  static_assert(check<fits, gets_type<left, right>>,
                "lamina: in_batch_cross_entropy: both sides are rows of one width and one real "
                "type");
  constexpr bool labelled = __is_same(given, variable<std::int64_t, R, 1>);
  static_assert(check<labelled, expects_type<variable<std::int64_t, R, 1>>, gets_type<given>>,
                "lamina: in_batch_cross_entropy: a row has one label, an int64");
  require_one_program(x, y, line);
  require_one_program(x, label, line);
  if constexpr (fits && labelled)
    return detail::in_batch_cost(x, y.id, label.id, attr.name);
  else
    return variable<float, batch, 1>{x.builder, 0};
}

/// Options of npair_loss.
struct npair_loss_attr {
  float l2_reg = 0.002f;
  std::string_view name{};
};

/// The cost of one mini-batch of pairs, a scalar: the mean over the rows of
/// in_batch_cross_entropy(anchor, positive, labels), plus 0.25 l2_reg times the mean of
/// |anchor_i|^2 + |positive_i|^2. The cost of a row depends on all rows of the mini-batch, so only
/// one thread can train a program with this cost. Source: Sohn 2016. Fluid: layers.npair_loss.
template <class X, class Y, class L>
constexpr auto npair_loss(X anchor, Y positive, L labels,
                          const options<npair_loss_attr, X>& attr = {},
                          int line = __builtin_LINE()) {
  anchor.builder->require_option(attr.l2_reg >= 0, line, "npair_loss: l2_reg >= 0");
  const auto each = in_batch_cross_entropy(anchor, positive, labels, {}, line);
  const auto size = reduce_sum<1>(square(anchor)) + reduce_sum<1>(square(positive));
  return elementwise_add(mean(each), scale(mean(size), 0.25f * attr.l2_reg), {.name = attr.name});
}

}}}  // namespace lamina::layer
