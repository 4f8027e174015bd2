// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/query/layer.hpp - shape, is_empty and where, which tell what is known of a
// variable only during a run, and range.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/shape.hpp>
#include <lamina/operators/elementwise/assign/layer.hpp>
#include <lamina/operators/fill/layer.hpp>
#include <lamina/operators/shape/query/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of shape, is_empty, where and range.
struct query_attr {
  std::string_view name{};
};

/// Returns the extents of the dimensions of x, including the number of rows: int32, shape [rank].
/// Fluid: shape.
template <class T, class R, int... D>
constexpr auto shape(variable<T, R, D...> x, const options<query_attr, T>& attr = {}) {
  constexpr int rank = whole_shape<variable<T, R, D...>>.rank;
  program_builder& b = *x.builder;
  layer_helper layer(b, "shape", attr.name);
  const auto y = layer.template output<variable<std::int32_t, once, rank>>();
  detail::without_gradient(layer, y.id);
  b.add_operator(schema_of<operators::shape>(), {x.id}, {y.id});
  return layer.returns(y);
}

/// Returns whether x has no elements, which means that it has no rows: bool, shape [1]. Fluid:
/// is_empty.
template <class T, class R, int... D>
constexpr auto is_empty(variable<T, R, D...> x, const options<query_attr, T>& attr = {}) {
  program_builder& b = *x.builder;
  layer_helper layer(b, "is_empty", attr.name);
  const auto y = layer.template output<variable<bool, once, 1>>();
  detail::without_gradient(layer, y.id);
  b.add_operator(schema_of<operators::is_empty>(), {x.id}, {y.id});
  return layer.returns(y);
}

/// Returns the coordinates of all elements that are true or not 0: `where<"found">(less_than(x,
/// y))`. An element has one coordinate per dimension; the first one is its row. The elements of
/// each row form a sequence, so the result is int64 [-1, rank] with rows tokens<"found", R>. Fluid:
/// where, which records the operator where_index.
template <fixed_string Name, class T, class R, int... D>
constexpr auto where(variable<T, R, D...> condition, const options<query_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  static_assert(
      check<has_rows<R>, gets_type<in>>,
      "lamina: where: the condition has rows, each of which gets a sequence of positions");
  program_builder& b = *condition.builder;
  layer_helper layer(b, "where_index", attr.name);
  using rows = tokens<Name, R>;
  const auto y = layer.template output<variable<std::int64_t, rows, whole_shape<in>.rank>>();
  detail::without_gradient(layer, y.id);
  b.add_operator(schema_of<operators::where_index>(), {condition.id}, {y.id});
  return layer.returns(y);
}

/// Returns the numbers Start, Start + Step, ... up to End, which is not included: `range<0, 10,
/// 2>(main)` is 0, 2, 4, 6, 8. The numbers are int64 or, if the first template argument is a type,
/// of this type: `range<float, 0, 10>(main)`. Fluid: range.
template <element T, int Start, int End, int Step = 1>
constexpr auto range(const block& main, const query_attr& attr = {}, int line = __builtin_LINE()) {
  lamina::detail::note_line(*main.builder, line);
  constexpr bool goes_on = Step > 0 ? Start < End : Step < 0 && Start > End;
  static_assert(check<goes_on, gets<Start, End, Step>>,
                "lamina: range: steps lead from the start towards the end");
  constexpr int count =
      goes_on ? (Step > 0 ? (End - Start - 1) / Step : (Start - End - 1) / -Step) + 1 : 1;
  const int start = fill_constant<T>(main, Start).id, end = fill_constant<T>(main, End).id,
            step = fill_constant<T>(main, Step).id;
  program_builder& b = *main.builder;
  layer_helper layer(b, "range", attr.name);
  const auto y = layer.template output<variable<T, once, count>>();
  detail::without_gradient(layer, y.id);
  b.add_operator(schema_of<operators::range>(), {start, end, step}, {y.id});
  return layer.returns(y);
}
template <int Start, int End, int Step = 1>
constexpr auto range(const block& main, const query_attr& attr = {}, int line = __builtin_LINE()) {
  return range<std::int64_t, Start, End, Step>(main, attr, line);
}

}}}  // namespace lamina::layer
