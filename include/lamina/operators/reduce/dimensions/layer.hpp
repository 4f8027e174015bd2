// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/dimensions/layer.hpp - mean, the mean of all elements, and reduce_*:
// sums, means, products, maxima and minima along dimensions.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/layer_helper.hpp>
#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/shape.hpp>
#include <lamina/operators/reduce/dimensions/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of mean.
struct mean_attr {
  std::string_view name{};
};

/// Returns the mean of all elements of `x`, shape [1]. Fluid: layers.mean.
template <class T, class R, int... D>
constexpr variable<T, once, 1> mean(variable<T, R, D...> x,
                                    const options<mean_attr, T>& attr = {}) {
  layer_helper layer(*x.builder, "mean", attr.name);
  const auto y = layer.template output<variable<T, once, 1>>();
  x.builder->add_operator(schema_of<operators::mean>(), {x.id}, {y.id});
  return layer.returns(y);
}

/// Options of the reductions.
struct reduce_attr {
  std::string_view name{};
};

/// The argument with which a reduction keeps the reduced dimensions, with extent 1.
struct keep_dim_t {};
inline constexpr keep_dim_t keep_dim{};

namespace detail {

struct reduced {
  bool exists;  // whether each dimension exists and is named once
  extents shape;
};

/// Returns the shape of the result. A reduction of all dimensions has the shape [1], as in Fluid.
template <int... Dim>
constexpr reduced reduce_shape(const extents& x, bool keep) {
  bool gone[extents::most] = {};
  bool exists = true;
  for (int d : {dimension(Dim, x.rank)..., -2}) {
    if (d == -2) break;
    if (d < 0 || gone[d]) exists = false;
    if (d >= 0) gone[d] = true;
  }
  reduced r{exists, {}};
  for (int i = 0; i < x.rank; ++i)
    if (!gone[i] && sizeof...(Dim) > 0)
      r.shape.push(x.at[i]);
    else if (keep)
      r.shape.push(1);
  if (r.shape.rank == 0) r.shape.push(1);
  return r;
}

template <class Op, bool Keep, int... Dim, class T, class R, int... D>
constexpr auto reduce(variable<T, R, D...> x, const reduce_attr& attr) {
  using in = variable<T, R, D...>;
  constexpr reduced r = reduce_shape<Dim...>(whole_shape<in>, Keep);
  constexpr bool exists = r.exists;
  constexpr bool logic =
      __is_same(Op, operators::reduce_all) || __is_same(Op, operators::reduce_any);
  constexpr bool type = logic == __is_same(T, bool);
  static_assert(check<exists, gets<Dim...>, gets_type<in>>,
                "lamina: reduce: the dimensions exist, each is named once");
  static_assert(check<type, gets_type<in>>,
                "lamina: reduce: reduce_all and reduce_any take bool, the others take numbers");
  using out = handle_of<T, R, r.shape>;
  program_builder& b = *x.builder;
  layer_helper layer(b, Op::type, attr.name);
  const out y = layer.template output<out>();
  const int dim[] = {Dim..., 0};
  const int count = sizeof...(Dim) > 0 ? static_cast<int>(sizeof...(Dim)) : 1;
  const attribute_value list = b.integer_list(dim, count);
  b.add_operator(schema_of<Op>(), {x.id}, {y.id},
                 b.attribute_list(list, Keep, sizeof...(Dim) == 0));
  return layer.returns(y);
}

}  // namespace detail

// `reduce_sum(x)` reduces all elements to one, of shape [1]. `reduce_sum<1, 2>(x)` reduces the
// dimensions 1 and 2; dimension 0 is the rows, and negative dimensions count from the end.
// `reduce_sum<1>(x, keep_dim)` keeps dimension 1 with extent 1. If there are no elements to reduce,
// a product is 1, and a sum, a mean, a maximum or a minimum is 0.

/// Returns sums of elements. Fluid: reduce_sum.
template <int... Dim, class T, class R, int... D>
constexpr auto reduce_sum(variable<T, R, D...> x, const options<reduce_attr, T>& attr = {}) {
  return detail::reduce<operators::reduce_sum, false, Dim...>(x, attr);
}
template <int... Dim, class T, class R, int... D>
constexpr auto reduce_sum(variable<T, R, D...> x, keep_dim_t,
                          const options<reduce_attr, T>& attr = {}) {
  return detail::reduce<operators::reduce_sum, true, Dim...>(x, attr);
}

/// Returns means of elements. Fluid: reduce_mean.
template <int... Dim, class T, class R, int... D>
constexpr auto reduce_mean(variable<T, R, D...> x, const options<reduce_attr, T>& attr = {}) {
  return detail::reduce<operators::reduce_mean, false, Dim...>(x, attr);
}
template <int... Dim, class T, class R, int... D>
constexpr auto reduce_mean(variable<T, R, D...> x, keep_dim_t,
                           const options<reduce_attr, T>& attr = {}) {
  return detail::reduce<operators::reduce_mean, true, Dim...>(x, attr);
}

/// Returns the largest elements. If several elements are the largest, the first of them gets the
/// gradient; in Fluid, each of them gets it. Fluid: reduce_max.
template <int... Dim, class T, class R, int... D>
constexpr auto reduce_max(variable<T, R, D...> x, const options<reduce_attr, T>& attr = {}) {
  return detail::reduce<operators::reduce_max, false, Dim...>(x, attr);
}
template <int... Dim, class T, class R, int... D>
constexpr auto reduce_max(variable<T, R, D...> x, keep_dim_t,
                          const options<reduce_attr, T>& attr = {}) {
  return detail::reduce<operators::reduce_max, true, Dim...>(x, attr);
}

/// Returns the smallest elements. If several elements are the smallest, the first of them gets the
/// gradient; in Fluid, each of them gets it. Fluid: reduce_min.
template <int... Dim, class T, class R, int... D>
constexpr auto reduce_min(variable<T, R, D...> x, const options<reduce_attr, T>& attr = {}) {
  return detail::reduce<operators::reduce_min, false, Dim...>(x, attr);
}
template <int... Dim, class T, class R, int... D>
constexpr auto reduce_min(variable<T, R, D...> x, keep_dim_t,
                          const options<reduce_attr, T>& attr = {}) {
  return detail::reduce<operators::reduce_min, true, Dim...>(x, attr);
}

/// Returns products of elements. Fluid: reduce_prod.
template <int... Dim, class T, class R, int... D>
constexpr auto reduce_prod(variable<T, R, D...> x, const options<reduce_attr, T>& attr = {}) {
  return detail::reduce<operators::reduce_prod, false, Dim...>(x, attr);
}
template <int... Dim, class T, class R, int... D>
constexpr auto reduce_prod(variable<T, R, D...> x, keep_dim_t,
                           const options<reduce_attr, T>& attr = {}) {
  return detail::reduce<operators::reduce_prod, true, Dim...>(x, attr);
}

/// Returns whether all elements are true. Fluid: reduce_all.
template <int... Dim, class T, class R, int... D>
constexpr auto reduce_all(variable<T, R, D...> x, const options<reduce_attr, T>& attr = {}) {
  return detail::reduce<operators::reduce_all, false, Dim...>(x, attr);
}
template <int... Dim, class T, class R, int... D>
constexpr auto reduce_all(variable<T, R, D...> x, keep_dim_t,
                          const options<reduce_attr, T>& attr = {}) {
  return detail::reduce<operators::reduce_all, true, Dim...>(x, attr);
}

/// Returns whether at least one element is true. Fluid: reduce_any.
template <int... Dim, class T, class R, int... D>
constexpr auto reduce_any(variable<T, R, D...> x, const options<reduce_attr, T>& attr = {}) {
  return detail::reduce<operators::reduce_any, false, Dim...>(x, attr);
}
template <int... Dim, class T, class R, int... D>
constexpr auto reduce_any(variable<T, R, D...> x, keep_dim_t,
                          const options<reduce_attr, T>& attr = {}) {
  return detail::reduce<operators::reduce_any, true, Dim...>(x, attr);
}

#ifdef LAMINA_NAMES_OPTIONS
// clang-format off
template <any_value...>
constexpr no_match<reduce_attr>
reduce_sum(...) = delete;  // call reduce_sum<1>(x), reduce_sum<1>(x, keep_dim); options: name
template <any_value...>
constexpr no_match<reduce_attr>
reduce_mean(...) = delete;  // call reduce_mean<1>(x), reduce_mean<1>(x, keep_dim); options: name
template <any_value...>
constexpr no_match<reduce_attr>
reduce_max(...) = delete;  // call reduce_max<1>(x), reduce_max<1>(x, keep_dim); options: name
template <any_value...>
constexpr no_match<reduce_attr>
reduce_min(...) = delete;  // call reduce_min<1>(x), reduce_min<1>(x, keep_dim); options: name
template <any_value...>
constexpr no_match<reduce_attr>
reduce_prod(...) = delete;  // call reduce_prod<1>(x), reduce_prod<1>(x, keep_dim); options: name
template <any_value...>
constexpr no_match<reduce_attr>
reduce_all(...) = delete;  // call reduce_all<1>(x), reduce_all<1>(x, keep_dim); options: name
template <any_value...>
constexpr no_match<reduce_attr>
reduce_any(...) = delete;  // call reduce_any<1>(x), reduce_any<1>(x, keep_dim); options: name
// clang-format on
#endif

}}}  // namespace lamina::layer
