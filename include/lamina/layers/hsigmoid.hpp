// SPDX-License-Identifier: Apache-2.0
// lamina/layers/hsigmoid.hpp - hierarchical sigmoid: a cost over N classes that computes only about
// log2(N) products per row.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/class_vectors.hpp>
#include <lamina/operators/elementwise/assign/layer.hpp>
#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/operators/fill/layer.hpp>
#include <lamina/operators/loss/pointwise/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/operators/shape/concat/layer_slice.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

namespace detail {

/// Makes an integer constant [Count] with the elements 1, 2, 4, ...
template <int Count>
constexpr auto powers_of_two(layer_helper& layer) {
  program_builder& b = layer.builder();
  const auto y = layer.template output<variable<std::int32_t, once, Count>>();
  without_gradient(layer, y.id);
  const int extent[] = {Count};
  int values[bound(Count)];
  for (int i = 0; i < Count; ++i) values[i] = 1 << i;
  const attribute_value shape = b.integer_list(extent, 1);
  const attribute_value no_values{0, 0, 0}, all = b.integer_list(values, Count);
  const int attributes = b.attribute_list(shape, static_cast<int>(dtype::int32), no_values, all);
  const int out = b.arguments.count;
  b.argument(y.id);
  b.operators.push({&schema_of<operators::assign_value>(), out, out, out + 1, attributes,
                    b.current_block, b.role});
  return cast<std::int64_t>(y);
}
constexpr int bits_of(int number) {
  int n = 0;
  for (; number > 0; number /= 2) ++n;
  return n;
}

}  // namespace detail

/// -log of the probability of the class of the label, one number per row. Each class is a leaf of a
/// binary tree. Its probability is the product of the probabilities of the decisions at all nodes
/// above it; each is a sigmoid of x . w + b, with the vector w and the bias b of the node. Let c =
/// label + Classes. Node j of the path to the class is c / 2^(j + 1) - 1, and the decision there is
/// bit j of c, for 0 <= j < floor(log2(c)). So a row needs about log2(Classes) products, and not
/// Classes. `x` must have one dimension. Parameters: the vectors of the nodes [Classes - 1, width],
/// initialised by Xavier, and their biases [Classes - 1, 1], initialised with 0. Source: Morin and
/// Bengio 2005. Fluid: layers.hsigmoid with the default tree.
template <int Classes, class T, class R, int... D, class U, class S, int... E>
constexpr auto hsigmoid(variable<T, R, D...> x, variable<U, S, E...> label,
                        const options<class_cost_attr, T>& attr = {}, int line = __builtin_LINE()) {
  using given = variable<U, S, E...>;
  constexpr bool fits = detail::is_real<T> && has_rows<R> && sizeof...(D) == 1 &&
                        __is_same(given, variable<std::int64_t, R, 1>);
  static_assert(check<fits, expects_type<variable<std::int64_t, R, 1>>,
                      gets_type<variable<T, R, D...>, given>>,
                "lamina: hsigmoid: floating point rows of one dimension, and a label int64 [1] for "
                "each");
  constexpr bool enough = Classes >= 2 && Classes <= 1 << 29;
  static_assert(check<enough, gets<Classes>>, "lamina: hsigmoid: there are at least two classes");
  if constexpr (fits && enough) {
    require_one_program(x, label, line);
    constexpr int bits = detail::bits_of(2 * Classes - 1) - 1;
    layer_helper layer(*x.builder, "hierarchical_sigmoid", attr.name);
    const auto powers = detail::powers_of_two<bits>(layer);
    block here{x.builder, x.builder->current_block};
    const auto two = fill_constant<std::int64_t, bits>(here, 2);
    const auto one = fill_constant<std::int64_t, bits>(here, 1);
    const auto none = fill_constant<std::int64_t, bits>(here, 0);
    const auto leaf =
        expand<1, bits>(elementwise_add(label, fill_constant<std::int64_t>(here, Classes)));
    const auto above = elementwise_floordiv(leaf, powers);
    const auto decision = cast<T>(elementwise_mod(above, two));
    const auto node = elementwise_sub(elementwise_floordiv(above, two), one);
    // Paths differ in length; after the end of a path the node is -1. The layer then reads node 0
    // and multiplies the cost of its decision by 0.
    const auto seen = elementwise_max(node, none);
    const auto score =
        detail::class_scores<Classes - 1, bits>(layer, x, reshape<bits, 1>(seen), attr, line);
    const auto costs = sigmoid_cross_entropy_with_logits(score, decision);
    const auto on_path = cast<T>(elementwise_min(elementwise_add(node, one), one));
    return layer.returns(reduce_sum<1>(elementwise_mul(costs, on_path), keep_dim));
  } else {
    return x;
  }
}

}}}  // namespace lamina::layer
