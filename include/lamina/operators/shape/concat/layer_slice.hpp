// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/concat/layer_slice.hpp - slice, pad and expand: a part of a variable, a
// padded or a repeated variable.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/shape.hpp>
#include <lamina/operators/shape/concat/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of slice, pad and expand.
struct slice_attr {
  std::string_view name{};
};

/// Selects the elements with Start <= index < End along dimension Axis of the shape including the
/// rows. Negative limits count from the end; if End is beyond the last element, all elements from
/// Start on are selected.
template <int Axis, int Start, int End>
struct along {
  static constexpr int axis = Axis;
  static constexpr int start = Start;
  static constexpr int end = End;
};

namespace detail {

struct cut_shape {
  bool fits;
  extents shape;
};

constexpr int limit(int at, int extent) {
  const int from_front = at < 0 ? at + extent : at;
  return from_front < 0 ? 0 : from_front > extent ? extent : from_front;
}

template <class... Cut>
constexpr cut_shape cut(const extents& x) {
  cut_shape r{true, x};
  const int axis[] = {Cut::axis...}, start[] = {Cut::start...}, end[] = {Cut::end...};
  for (std::size_t i = 0; i < sizeof...(Cut); ++i) {
    const int d = dimension(axis[i], x.rank);
    if (d < 0 || x.at[d] < 0) return {false, x};
    r.shape.at[d] = limit(end[i], x.at[d]) - limit(start[i], x.at[d]);
    if (r.shape.at[d] <= 0) return {false, x};
  }
  return r;
}

}  // namespace detail

/// Returns the part of x that is selected along one or more dimensions: `slice<along<1, 0, 3>,
/// along<2, -2, 99>>(x)`. Fluid: slice.
template <class... Cut, class T, class R, int... D>
constexpr auto slice(variable<T, R, D...> x, const options<slice_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  constexpr detail::cut_shape r = detail::cut<Cut...>(whole_shape<in>);
  constexpr bool fits = r.fits;
  static_assert(check<fits, gets_type<Cut...>, gets_type<in>>,
                "lamina: slice: each cut leaves something of an inner dimension");
  using out = handle_of<T, R, r.shape>;
  program_builder& b = *x.builder;
  layer_helper layer(b, "slice", attr.name);
  const out y = layer.template output<out>();
  constexpr int n = static_cast<int>(sizeof...(Cut));
  const int axis[] = {Cut::axis...}, start[] = {Cut::start...}, end[] = {Cut::end...};
  const attribute_value axes = b.integer_list(axis, n);
  const attribute_value starts = b.integer_list(start, n);
  const attribute_value ends = b.integer_list(end, n);
  b.add_operator(schema_of<operators::slice>(), {x.id}, {y.id},
                 b.attribute_list(axes, starts, ends));
  return layer.returns(y);
}

namespace detail {

template <int... Padding>
constexpr cut_shape padded(const extents& x) {
  const int padding[] = {Padding..., 0};
  cut_shape r{sizeof...(Padding) == static_cast<std::size_t>(2 * x.rank), x};
  for (int i = 0; r.fits && i < x.rank; ++i) {
    const int more = padding[2 * i] + padding[2 * i + 1];
    if (padding[2 * i] < 0 || padding[2 * i + 1] < 0 || (x.at[i] < 0 && more != 0)) r.fits = false;
    if (x.at[i] > 0) r.shape.at[i] += more;
  }
  return r;
}

template <int... Times>
constexpr cut_shape repeated(const extents& x) {
  const int times[] = {Times..., 0};
  cut_shape r{sizeof...(Times) == static_cast<std::size_t>(x.rank), x};
  for (int i = 0; r.fits && i < x.rank; ++i) {
    if (times[i] < 1 || (x.at[i] < 0 && times[i] != 1)) r.fits = false;
    if (x.at[i] > 0) r.shape.at[i] *= times[i];
  }
  return r;
}

}  // namespace detail

/// Returns x with Padding[2i] elements of `value` before x and Padding[2i + 1] elements of `value`
/// after x along dimension i of the shape including the rows: `pad<0, 0, 1, 2>(x)`. The dimension
/// of the rows cannot be padded, so the first two numbers must be 0 if x has rows. Fluid: pad.
template <int... Padding, class T, class R, int... D>
constexpr auto pad(variable<T, R, D...> x, float value = 0,
                   const options<slice_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  constexpr detail::cut_shape r = detail::padded<Padding...>(whole_shape<in>);
  constexpr bool fits = r.fits;
  static_assert(check<fits, gets<Padding...>, gets_type<in>>,
                "lamina: pad: two paddings per dimension of the whole shape, 0 for the rows");
  using out = handle_of<T, R, r.shape>;
  program_builder& b = *x.builder;
  layer_helper layer(b, "pad", attr.name);
  const out y = layer.template output<out>();
  const int padding[] = {Padding..., 0};
  const attribute_value list = b.integer_list(padding, static_cast<int>(sizeof...(Padding)));
  b.add_operator(schema_of<operators::pad>(), {x.id}, {y.id}, b.attribute_list(list, value));
  return layer.returns(y);
}

/// Returns x repeated Times[i] times along dimension i of the shape including the rows: `expand<1,
/// 3>(x)`. Fluid: expand.
template <int... Times, class T, class R, int... D>
constexpr auto expand(variable<T, R, D...> x, const options<slice_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  constexpr detail::cut_shape r = detail::repeated<Times...>(whole_shape<in>);
  constexpr bool fits = r.fits;
  static_assert(check<fits, gets<Times...>, gets_type<in>>,
                "lamina: expand: one factor per dimension of the whole shape, 1 for the rows");
  using out = handle_of<T, R, r.shape>;
  program_builder& b = *x.builder;
  layer_helper layer(b, "expand", attr.name);
  const out y = layer.template output<out>();
  const int times[] = {Times..., 0};
  const attribute_value list = b.integer_list(times, static_cast<int>(sizeof...(Times)));
  b.add_operator(schema_of<operators::expand>(), {x.id}, {y.id}, b.attribute_list(list));
  return layer.returns(y);
}

}}}  // namespace lamina::layer
