// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/concat/layer_crop.hpp - crop: returns a box of a variable.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/shape.hpp>
#include <lamina/operators/shape/concat/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of crop.
struct crop_attr {
  std::string_view name{};
};

/// The corner at which a box begins: one index per dimension, including the rows. The index of the
/// rows must be 0, because the number of rows is not constant.
template <int... Begin>
struct offsets {};

namespace detail {

/// Whether a box of shape `box` that begins at `begin` lies inside x.
constexpr bool holds_box(const extents& x, const int* begin, int count, const extents& box) {
  if (count != x.rank || box.rank != x.rank) return false;
  for (int d = 0; d < x.rank; ++d) {
    if (begin[d] < 0 || (x.at[d] < 0) != (box.at[d] < 0)) return false;
    if (x.at[d] < 0 ? begin[d] != 0 : begin[d] + box.at[d] > x.at[d]) return false;
  }
  return true;
}

template <int... Begin>
constexpr attribute_value begin_list(program_builder& b, offsets<Begin...>) {
  const int begin[] = {Begin..., 0};
  return b.integer_list(begin, static_cast<int>(sizeof...(Begin)));
}

template <int... Begin, class In, class Like>
constexpr bool holds_like(offsets<Begin...>, In*, Like*) {
  const int begin[] = {Begin..., 0};
  return __is_same(typename In::rows_type, typename Like::rows_type) &&
         holds_box(whole_shape<In>, begin, static_cast<int>(sizeof...(Begin)), whole_shape<Like>);
}

}  // namespace detail

/// Returns the box of x that begins at the given offsets and has the shape of `like`:
/// `crop<offsets<0, 0, 2, 2>>(image, small)`. Fluid: crop with a variable as its shape.
template <class Offsets, class T, class R, int... D, class U, class S, int... E>
constexpr auto crop(variable<T, R, D...> x, variable<U, S, E...> like,
                    const options<crop_attr, T>& attr = {}, int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  using box = variable<U, S, E...>;
  constexpr bool fits =
      detail::holds_like(Offsets{}, static_cast<in*>(nullptr), static_cast<box*>(nullptr));
  static_assert(check<fits, gets_type<Offsets>, gets_type<in>, gets_type<box>>,
                "lamina: crop: the box lies inside of the input and has its rows");
  require_one_program(x, like, line);
  program_builder& b = *x.builder;
  layer_helper layer(b, "crop", attr.name);
  const auto y = layer.template output<variable<T, S, E...>>();
  const attribute_value begin = detail::begin_list(b, Offsets{});
  b.add_operator(schema_of<operators::crop>(), {x.id, like.id, -1}, {y.id},
                 b.attribute_list(begin, attribute_value{0, 0, 0}));
  return layer.returns(y);
}

/// Returns the box of x that begins at the given offsets and has the inner dimensions Inner.
/// Example for x [-1, 4, 5]: `crop<offsets<0, 1, 0>, 2, 3>(x)`. Fluid: crop.
template <class Offsets, int... Inner, class T, class R, int... D>
constexpr auto crop(variable<T, R, D...> x, const options<crop_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  using box = variable<T, R, Inner...>;
  constexpr bool fits =
      detail::holds_like(Offsets{}, static_cast<in*>(nullptr), static_cast<box*>(nullptr)) &&
      ((Inner > 0) && ...);
  static_assert(check<fits, gets_type<Offsets>, gets<Inner...>, gets_type<in>>,
                "lamina: crop: the box lies inside of the input and has its rows");
  program_builder& b = *x.builder;
  layer_helper layer(b, "crop", attr.name);
  const auto y = layer.template output<box>();
  const attribute_value begin = detail::begin_list(b, Offsets{});
  constexpr extents whole = whole_shape<box>;
  const attribute_value shape = b.integer_list(whole.at, whole.rank);
  b.add_operator(schema_of<operators::crop>(), {x.id, -1, -1}, {y.id},
                 b.attribute_list(begin, shape));
  return layer.returns(y);
}

}}}  // namespace lamina::layer
