// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/concat/layer_concat.hpp - concat and stack: concatenate variables along an
// existing or a new dimension.
#pragma once

#include <lamina/core/config.hpp>

#include <tuple>

#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/shape.hpp>
#include <lamina/operators/shape/concat/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of concat and stack.
struct concat_attr {
  std::string_view name{};
};

namespace detail {

struct concat_shape {
  bool inner;  // whether the axis is not the dimension of the rows
  bool fits;   // whether the inputs differ only along the axis
  extents shape;
};

template <class... V>
constexpr concat_shape concat_shape_of(int axis) {
  const extents all[] = {whole_shape<V>...};
  concat_shape r{true, true, all[0]};
  const int a = dimension(axis, r.shape.rank);
  if (a < 0 || r.shape.at[a] < 0) return {false, true, all[0]};
  for (std::size_t i = 1; i < sizeof...(V); ++i) {
    if (all[i].rank != r.shape.rank) return {true, false, all[0]};
    for (int d = 0; d < r.shape.rank; ++d)
      if (d != a && all[i].at[d] != r.shape.at[d]) r.fits = false;
    r.shape.at[a] += all[i].at[a];
  }
  return r;
}

}  // namespace detail

/// Returns the inputs concatenated along dimension Axis of the shape including the rows (1: the
/// first dimension after the rows): `concat(std::tuple{x, y})`, or `concat({x, y})` for variables
/// of one type. Fluid: concat.
template <int Axis = 1, class First, class... More>
constexpr auto concat(std::tuple<First, More...> inputs,
                      const options<concat_attr, First>& attr = {}, int line = __builtin_LINE()) {
  constexpr bool types =
      (__is_same(typename First::value_type, typename More::value_type) && ...) &&
      (__is_same(typename First::rows_type, typename More::rows_type) && ...);
  constexpr detail::concat_shape r = detail::concat_shape_of<First, More...>(Axis);
  constexpr bool inner = !types || r.inner;
  constexpr bool fits = !types || r.fits;
  static_assert(check<types, expects_type<First>, gets_type<More...>>,
                "lamina: concat: the inputs have one element type and the same rows");
  static_assert(check<inner, gets<Axis>, gets_type<First>>,
                "lamina: concat: the axis is an inner dimension, not the rows");
  static_assert(check<fits, expects_type<First>, gets_type<More...>>,
                "lamina: concat: the inputs differ in the dimension of the axis only");
  using out = handle_of<typename First::value_type, typename First::rows_type, r.shape>;
  program_builder& b = *std::get<0>(inputs).builder;
  int ids[1 + sizeof...(More)];
  int n = 0;
  std::apply(
      [&](auto... x) {
        (require_one_program(std::get<0>(inputs), x, line), ...);
        ((ids[n++] = x.id), ...);
      },
      inputs);
  layer_helper layer(b, "concat", attr.name);
  const out y = layer.template output<out>();
  detail::add_with_inputs(b, schema_of<operators::concat>(), ids, n, y.id, b.attribute_list(Axis));
  return layer.returns(y);
}

template <int Axis = 1, class V, std::size_t N>
constexpr auto concat(const V (&inputs)[N], const options<concat_attr, V>& attr = {},
                      int line = __builtin_LINE()) {
  return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    return concat<Axis>(std::make_tuple(inputs[Index]...), attr, line);
  }
  (std::make_index_sequence<N>{});
}

/// Returns the inputs stacked along a new dimension Axis of the shape including the rows: the slice
/// at index i along this dimension is input i. Example: `stack<1>({x, y})`. Fluid: stack.
template <int Axis = 1, class V, std::size_t N>
constexpr auto stack(const V (&inputs)[N], const options<concat_attr, V>& attr = {},
                     int line = __builtin_LINE()) {
  constexpr extents x = whole_shape<V>;
  constexpr int axis = dimension(Axis, x.rank + 1);
  constexpr bool inner = axis >= static_cast<int>(x.has_rows());
  static_assert(check<inner, gets<Axis>, gets_type<V>>,
                "lamina: stack: the axis is an inner dimension, not the rows");
  constexpr extents shape = [] {
    constexpr extents from = whole_shape<V>;
    extents r{};
    for (int i = 0; i <= from.rank; ++i) {
      if (i == dimension(Axis, from.rank + 1)) r.push(static_cast<int>(N));
      if (i < from.rank) r.push(from.at[i]);
    }
    return r;
  }();
  using out = handle_of<typename V::value_type, typename V::rows_type, shape>;
  program_builder& b = *inputs[0].builder;
  int ids[N];
  for (std::size_t i = 0; i < N; ++i) {
    require_one_program(inputs[0], inputs[i], line);
    ids[i] = inputs[i].id;
  }
  layer_helper layer(b, "stack", attr.name);
  const out y = layer.template output<out>();
  detail::add_with_inputs(b, schema_of<operators::stack>(), ids, static_cast<int>(N), y.id,
                          b.attribute_list(Axis));
  return layer.returns(y);
}

#ifdef LAMINA_NAMES_OPTIONS
template <any_value...>
constexpr no_match<concat_attr> concat(...) = delete;  // call concat({x, y}); options: name
#endif

}}}  // namespace lamina::layer
