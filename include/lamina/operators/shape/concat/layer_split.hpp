// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/concat/layer_split.hpp - split and unstack: the parts of a variable along
// a dimension.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <tuple>

#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/shape.hpp>
#include <lamina/operators/shape/concat/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of split.
struct split_attr {
  std::string_view name{};
};
/// Options of unstack.
struct unstack_attr {
  std::string_view name{};
};

/// The extents of the parts into which split divides a variable: `split<sections<2, 3>>(x)`.
template <int... Extent>
struct sections {};

namespace detail {

/// Returns `shape` with the given extent along dimension `axis`.
constexpr extents with_extent(extents shape, int axis, int extent) {
  if (axis >= 0) shape.at[axis] = extent;
  return shape;
}

template <int Axis, class Sections, class T, class R, int... D, int... Extent>
constexpr auto split(variable<T, R, D...> x, sections<Extent...>, int num, const split_attr& attr) {
  constexpr extents whole = whole_shape<variable<T, R, D...>>;
  constexpr int axis = dimension(Axis, whole.rank);
  program_builder& b = *x.builder;
  layer_helper layer(b, "split", attr.name);
  const auto parts =
      std::tuple{layer.template output<handle_of<T, R, with_extent(whole, axis, Extent)>>()...};
  int ids[sizeof...(Extent)];
  int n = 0;
  std::apply([&](auto... part) { ((ids[n++] = part.id), ...); }, parts);
  const int extent[] = {Extent...};
  const attribute_value list = b.integer_list(extent, num == 0 ? n : 0);
  add_with_outputs(b, schema_of<operators::split>(), x.id, ids, n,
                   b.attribute_list(list, num, Axis));
  return parts;
}

template <int Extent, int... Index>
constexpr auto equal_sections(std::integer_sequence<int, Index...>)
    -> sections<(Index < 0 ? 0 : Extent)...> {
  return {};
}

}  // namespace detail

/// Returns x split into Num equal parts along dimension Axis of the shape including the rows, as a
/// tuple: `auto [a, b] = split<2>(x)`. Fluid: split.
template <int Num, int Axis = -1, class T, class R, int... D>
constexpr auto split(variable<T, R, D...> x, const options<split_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  constexpr int axis = dimension(Axis, whole_shape<in>.rank);
  constexpr int extent = axis < 0 ? -1 : whole_shape<in>.at[axis < 0 ? 0 : axis];
  constexpr bool divides = extent > 0 && Num > 0 && extent % (Num > 0 ? Num : 1) == 0;
  static_assert(check<divides, expects<Num>, gets<extent>, gets_type<in>>,
                "lamina: split: the number of parts divides the inner dimension of the axis");
  constexpr int part = divides ? extent / (Num > 0 ? Num : 1) : 1;
  return detail::split<Axis, void>(
      x, detail::equal_sections<part>(std::make_integer_sequence<int, (Num > 0 ? Num : 1)>{}), Num,
      attr);
}

/// Returns x split into parts with the given extents along dimension Axis: `split<sections<2,
/// 3>>(x)`.
template <class Sections, int Axis = -1, class T, class R, int... D>
constexpr auto split(variable<T, R, D...> x, const options<split_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  constexpr int axis = dimension(Axis, whole_shape<in>.rank);
  constexpr int extent = axis < 0 ? -1 : whole_shape<in>.at[axis < 0 ? 0 : axis];
  constexpr bool adds_up = []<int... E>(sections<E...>, int whole) {
    return (E + ...) == whole && ((E > 0) && ...);
  }
  (Sections{}, extent);
  static_assert(check<adds_up, gets_type<Sections>, expects<extent>, gets_type<in>>,
                "lamina: split: the sections add up to the inner dimension of the axis");
  return detail::split<Axis, void>(x, Sections{}, 0, attr);
}

#ifdef LAMINA_NAMES_OPTIONS
template <any_value...>
constexpr no_match<split_attr> split(...) = delete;  // call split<2>(x); options: name
#endif

/// Returns the slices of x along dimension Axis of the shape including the rows, without this
/// dimension, as an array of variables. For x [-1, 3, 4], `auto [a, b, c] = unstack<1>(x)` returns
/// three variables [-1, 4]. Fluid: unstack.
template <int Axis = 1, class T, class R, int... D>
constexpr auto unstack(variable<T, R, D...> x, const options<unstack_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  constexpr extents whole = whole_shape<in>;
  constexpr int axis = dimension(Axis, whole.rank);
  constexpr int count = axis < 0 ? -1 : whole.at[axis < 0 ? 0 : axis];
  constexpr bool inner = count > 0 && whole.rank > 1;
  static_assert(check<inner, gets<Axis>, gets_type<in>>,
                "lamina: unstack: the axis is an inner dimension, not the rows");
  constexpr extents shape = without_dimension(whole, axis);
  constexpr int n = inner ? count : 1;
  program_builder& b = *x.builder;
  layer_helper layer(b, "unstack", attr.name);
  using part = handle_of<T, R, shape>;
  int ids[bound(n)];
  for (int& id : ids) id = layer.template output<part>().id;
  detail::add_with_outputs(b, schema_of<operators::unstack>(), x.id, ids, n,
                           b.attribute_list(Axis, n));
  return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    return std::array{part{&b, ids[Index]}...};
  }
  (std::make_index_sequence<static_cast<std::size_t>(n)>{});
}

}}}  // namespace lamina::layer
