// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/reshape/layer.hpp - reshape, squeeze, unsqueeze and flatten, which change
// the shape, and transpose, which permutes dimensions.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/shape.hpp>
#include <lamina/operators/shape/reshape/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of reshape, transpose, squeeze, unsqueeze and flatten.
struct reshape_attr {
  std::string_view name{};
};

namespace detail {

struct new_shape {
  bool fits;
  extents shape;
};

template <int... To>
constexpr new_shape reshaped(const extents& x) {
  const int to[] = {To..., 0};
  const int rows = x.has_rows() ? 1 : 0;
  const int size = x.product(rows, x.rank);
  new_shape r{true, {}};
  if (rows) r.shape.push(-1);
  int known = 1, unknown = -1;
  for (std::size_t i = 0; i < sizeof...(To); ++i) {
    const int position = static_cast<int>(i) + rows;
    const int extent = to[i] == 0 && position < x.rank ? x.at[position] : to[i];
    if (extent == -1 && unknown < 0)
      unknown = position;
    else if (extent > 0)
      known *= extent;
    else
      return {false, x};
    r.shape.push(extent);
  }
  if (unknown >= 0) {
    r.shape.at[unknown] = size / known;
    known *= size / known;
  }
  r.fits = known == size;
  return r.fits ? r : new_shape{false, x};
}

template <int... Axis>
constexpr new_shape transposed(const extents& x) {
  const int axis[] = {Axis..., 0};
  bool seen[extents::most] = {};
  if (sizeof...(Axis) != static_cast<std::size_t>(x.rank)) return {false, x};
  new_shape r{true, {}};
  for (int i = 0; i < x.rank; ++i) {
    if (axis[i] < 0 || axis[i] >= x.rank || seen[axis[i]]) return {false, x};
    seen[axis[i]] = true;
    r.shape.push(x.at[axis[i]]);
    if (i > 0 && r.shape.at[i] < 0) return {false, x};
  }
  return r;
}

template <int... Axes>
constexpr new_shape squeezed(const extents& x) {
  bool gone[extents::most] = {};
  const int axes[] = {Axes..., 0};
  for (std::size_t i = 0; i < sizeof...(Axes); ++i) {
    const int d = dimension(axes[i], x.rank);
    if (d < 0 || x.at[d] != 1) return {false, x};
    gone[d] = true;
  }
  new_shape r{true, {}};
  for (int i = 0; i < x.rank; ++i)
    if (!gone[i]) r.shape.push(x.at[i]);
  return r;
}

template <int... Axes>
constexpr new_shape unsqueezed(const extents& x) {
  const int axes[] = {Axes..., 0};
  const int rank = x.rank + static_cast<int>(sizeof...(Axes));
  bool added[2 * extents::most] = {};
  for (std::size_t i = 0; i < sizeof...(Axes); ++i) {
    const int d = dimension(axes[i], rank);
    if (d < 0 || added[d] || (d == 0 && x.has_rows())) return {false, x};
    added[d] = true;
  }
  new_shape r{rank <= extents::most, {}};
  for (int i = 0, from = 0; i < rank && r.fits; ++i) r.shape.push(added[i] ? 1 : x.at[from++]);
  return r;
}

constexpr new_shape flattened_to_matrix(const extents& x, int axis) {
  if (axis < 0 || axis > x.rank || (x.has_rows() && axis != 1)) return {false, x};
  return {true, {2, {x.product(0, axis), x.product(axis, x.rank)}}};
}

/// Records operator Op with its two outputs: the result and XShape, which only the gradient reads.
template <class Op, class Out, class X>
constexpr Out reordered(X x, std::string_view name, int attributes) {
  layer_helper layer(*x.builder, Op::type, name);
  const Out y = layer.template output<Out>();
  const int shape = shape_output(layer, x.id);
  x.builder->add_operator(schema_of<Op>(), {x.id}, {y.id, shape}, attributes);
  return layer.returns(y);
}

template <int... Index>
constexpr attribute_value integers(program_builder& b) {
  const int list[] = {Index..., 0};
  return b.integer_list(list, static_cast<int>(sizeof...(Index)));
}

}  // namespace detail

/// Returns x with the inner dimensions To: `reshape<16, -1>(x)`. A 0 in To stands for the extent of
/// x in the same inner dimension; one -1 is allowed and is computed from the number of elements.
/// The rows do not change. Fluid: reshape.
template <int... To, class T, class R, int... D>
constexpr auto reshape(variable<T, R, D...> x, const options<reshape_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  constexpr detail::new_shape r = detail::reshaped<To...>(whole_shape<in>);
  constexpr bool fits = r.fits;
  static_assert(check<fits, gets<To...>, gets_type<in>>,
                "lamina: reshape: the new shape has as many elements as the input");
  program_builder& b = *x.builder;
  layer_helper layer(b, "reshape2", attr.name);
  using out = handle_of<T, R, r.shape>;
  const out y = layer.template output<out>();
  const int shape = detail::shape_output(layer, x.id);
  int recorded[extents::most + 1] = {};
  for (int i = 0; i < r.shape.rank; ++i) recorded[i] = r.shape.at[i] < 0 ? 0 : r.shape.at[i];
  const attribute_value list = b.integer_list(recorded, r.shape.rank);
  // The slots Shape and ShapeTensor stay empty, because the shape is already known while the
  // program is recorded.
  b.add_operator(schema_of<operators::reshape2>(), {x.id, -1, 0}, {y.id, shape},
                 b.attribute_list(list));
  return layer.returns(y);
}
#ifdef LAMINA_NAMES_OPTIONS
template <any_value...>
constexpr no_match<reshape_attr> reshape(...) = delete;  // call reshape<2, 3>(x); options: name
#endif

/// Returns x with permuted dimensions: dimension k of the result is dimension Axis[k] of x, where
/// dimension 0 is the rows: `transpose<0, 2, 1>(x)`. If x has rows, they must stay dimension 0.
/// Fluid: transpose.
template <int... Axis, class T, class R, int... D>
constexpr auto transpose(variable<T, R, D...> x, const options<reshape_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  constexpr detail::new_shape r = detail::transposed<Axis...>(whole_shape<in>);
  constexpr bool fits = r.fits;
  static_assert(check<fits, gets<Axis...>, gets_type<in>>,
                "lamina: transpose: the axes are a permutation that leaves the rows first");
  return detail::reordered<operators::transpose2, handle_of<T, R, r.shape>>(
      x, attr.name, x.builder->attribute_list(detail::integers<Axis...>(*x.builder)));
}
#ifdef LAMINA_NAMES_OPTIONS
template <any_value...>
constexpr no_match<reshape_attr> transpose(...) = delete;  // call transpose<1, 0>(x)
#endif

/// Returns x without the dimensions Axes of the shape including the rows. Their extents must be 1.
/// Fluid: squeeze.
template <int... Axes, class T, class R, int... D>
constexpr auto squeeze(variable<T, R, D...> x, const options<reshape_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  constexpr detail::new_shape r = detail::squeezed<Axes...>(whole_shape<in>);
  constexpr bool fits = r.fits;
  static_assert(check<fits, gets<Axes...>, gets_type<in>>,
                "lamina: squeeze: the dimensions to leave out are 1");
  return detail::reordered<operators::squeeze2, handle_of<T, R, r.shape>>(
      x, attr.name, x.builder->attribute_list(detail::integers<Axes...>(*x.builder)));
}

/// Returns x with additional dimensions of extent 1, which are the dimensions Axes of the result's
/// shape including the rows. Fluid: unsqueeze.
template <int... Axes, class T, class R, int... D>
constexpr auto unsqueeze(variable<T, R, D...> x, const options<reshape_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  constexpr detail::new_shape r = detail::unsqueezed<Axes...>(whole_shape<in>);
  constexpr bool fits = r.fits;
  static_assert(check<fits, gets<Axes...>, gets_type<in>>,
                "lamina: unsqueeze: the new dimensions follow the rows, each is named once");
  return detail::reordered<operators::unsqueeze2, handle_of<T, R, r.shape>>(
      x, attr.name, x.builder->attribute_list(detail::integers<Axes...>(*x.builder)));
}

/// Returns x as a matrix: the dimensions before Axis are flattened to its rows, the others to its
/// columns. If x has rows, Axis must be 1. Fluid: flatten.
template <int Axis = 1, class T, class R, int... D>
constexpr auto flatten(variable<T, R, D...> x, const options<reshape_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  constexpr detail::new_shape r = detail::flattened_to_matrix(whole_shape<in>, Axis);
  constexpr bool fits = r.fits;
  static_assert(check<fits, gets<Axis>, gets_type<in>>,
                "lamina: flatten: the axis is 1 where there are rows, else at most the rank");
  return detail::reordered<operators::flatten2, handle_of<T, R, r.shape>>(
      x, attr.name, x.builder->attribute_list(Axis));
}

}}}  // namespace lamina::layer
