// SPDX-License-Identifier: Apache-2.0
// lamina/operators/metric/classification/layer.hpp - topk, accuracy, auc and one_hot: the largest
// elements of each row, and metrics of classifiers.
#pragma once

#include <lamina/core/config.hpp>

#include <tuple>

#include <lamina/operators/loss/cross_entropy/layer.hpp>
#include <lamina/operators/metric/classification/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of topk.
struct topk_attr {
  std::string_view name{};
};
/// Options of accuracy.
struct accuracy_attr {
  std::string_view name{};
};
/// Options of auc.
struct auc_attr {
  int num_thresholds = 4095;
  std::string_view name{};
};
/// Options of one_hot.
struct one_hot_attr {
  bool allow_out_of_range = false;  // an index out of range yields zeros
  std::string_view name{};
};

/// Returns the K largest elements of each row, the largest first, and their positions in the row:
/// `auto [values, indices] = topk<5>(x)`. Fluid: topk.
template <int K, class T, class R, int... D>
constexpr auto topk(variable<T, R, D...> x, const options<topk_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  constexpr extents all = whole_shape<in>;
  constexpr int width = all.rank > 0 ? all.at[all.rank > 0 ? all.rank - 1 : 0] : 0;
  constexpr bool fits = K > 0 && K <= width;
  static_assert(check<fits, gets<K>, gets_type<in>>,
                "lamina: topk: K is positive and at most the width of a row");
  constexpr extents shape = detail::with_last(all, K);
  program_builder& b = *x.builder;
  layer_helper layer(b, "top_k", attr.name);
  const auto values = layer.template output<handle_of<T, R, shape>>();
  const auto indices = layer.template output<handle_of<std::int64_t, R, shape>>();
  detail::without_gradient(layer, indices.id);
  b.add_operator(schema_of<operators::top_k>(), {x.id}, {values.id, indices.id},
                 K == 1 ? -1 : b.attribute_list(K));
  return std::tuple{layer.returns(values), indices};
}

#ifdef LAMINA_NAMES_OPTIONS
template <any_value...>
constexpr no_match<topk_attr> topk(...) = delete;  // call topk<2>(x); options: name
#endif

/// Returns the fraction of the rows whose label is among the K classes with the largest scores,
/// shape [1]. A score of NaN ranks above all numbers, but a label with the score NaN does not
/// count. Fluid: accuracy.
template <int K = 1, class T, class R, int... D, class L, class S, int... E>
constexpr auto accuracy(variable<T, R, D...> x, variable<L, S, E...> label,
                        const options<accuracy_attr, T>& attr = {}, int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  using given = variable<L, S, E...>;
  constexpr bool fits = detail::hard_labels<in, given>;
  static_assert(check<fits, gets_type<in>, expects_type<detail::label_of<in>>, gets_type<given>>,
                "lamina: accuracy: labels are one int64 per row");
  require_one_program(x, label, line);
  program_builder& b = *x.builder;
  layer_helper layer(b, "accuracy", attr.name);
  const auto [values, indices] = topk<K>(x);
  const auto part = layer.template output<variable<float, once, 1>>();
  const int correct = layer.template output<variable<std::int32_t, once, 1>>().id;
  const int total = layer.template output<variable<std::int32_t, once, 1>>().id;
  for (int v : {part.id, correct, total}) detail::without_gradient(layer, v);
  b.add_operator(schema_of<operators::accuracy>(), {values.id, indices.id, label.id},
                 {part.id, correct, total});
  return layer.returns(part);
}
#ifdef LAMINA_NAMES_OPTIONS
// clang-format off
template <any_value...>
constexpr no_match<accuracy_attr>
accuracy(...) = delete;  // call accuracy(x, label), accuracy<5>(x, label)
// clang-format on
#endif

/// Returns the area under the ROC curve (the rate of true positives as a function of the rate of
/// false positives) over all mini-batches of a pass so far, shape [1]. The input is probabilities
/// [-1, 2] of the classes 0 and 1. The layer keeps counts in two persistable int64 variables
/// [num_thresholds + 1], which the startup program sets to 0. The result is 0 until both classes
/// have occurred among the labels. Fluid: auc.
template <class T, class R, int... D, class L, class S, int... E>
constexpr auto auc(variable<T, R, D...> x, variable<L, S, E...> label,
                   const options<auc_attr, T>& attr = {}, int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  using given = variable<L, S, E...>;
  constexpr bool fits = __is_same(in, variable<T, R, 2>) && detail::hard_labels<in, given>;
  static_assert(check<fits, expects_type<variable<T, R, 2>, variable<std::int64_t, R, 1>>,
                      gets_type<in, given>>,
                "lamina: auc: two probabilities per row, and one int64 label per row");
  require_one_program(x, label, line);
  program_builder& b = *x.builder;
  layer_helper layer(b, "auc", attr.name);
  const auto area = layer.template output<variable<double, once, 1>>();
  detail::without_gradient(layer, area.id);
  const int positive = layer.counter(attr.num_thresholds + 1);
  const int negative = layer.counter(attr.num_thresholds + 1);
  const attribute_value curve = b.text("ROC");
  b.add_operator(schema_of<operators::auc>(), {x.id, label.id, positive, negative},
                 {area.id, positive, negative}, b.attribute_list(curve, attr.num_thresholds));
  return layer.returns(area);
}

/// Returns, for each id, a row of Depth numbers: 1 at index id, 0 elsewhere. For integer ids [...,
/// 1], the result is [..., Depth]. If an id is out of range, the run fails, unless
/// allow_out_of_range is set. Fluid: one_hot.
template <int Depth, class T = float, class Index, class R, int... D>
constexpr auto one_hot(variable<Index, R, D...> ids,
                       const options<one_hot_attr, Index>& attr = {}) {
  using in = variable<Index, R, D...>;
  constexpr bool fits = Depth > 0 && __is_same(in, detail::one_a_row<in>) &&
                        (__is_same(Index, std::int64_t) || __is_same(Index, std::int32_t));
  static_assert(check<fits, expects_type<variable<std::int64_t, R, 1>>, gets_type<in>>,
                "lamina: one_hot: the ids are whole numbers and their last dimension is 1");
  constexpr extents shape = detail::with_last(whole_shape<in>, Depth);
  program_builder& b = *ids.builder;
  layer_helper layer(b, "one_hot", attr.name);
  const auto y = layer.template output<handle_of<T, R, shape>>();
  b.add_operator(schema_of<operators::one_hot>(), {ids.id}, {y.id},
                 b.attribute_list(Depth, attr.allow_out_of_range));
  return layer.returns(y);
}
#ifdef LAMINA_NAMES_OPTIONS
template <any_value...>
constexpr no_match<one_hot_attr> one_hot(...) = delete;  // call one_hot<10>(ids)
#endif

}}}  // namespace lamina::layer
