// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/gather/layer.hpp - gather and scatter, which copy the rows that an
// index selects.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/shape.hpp>
#include <lamina/operators/embedding/gather/definition.hpp>
#include <lamina/operators/shape/concat/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of gather.
struct gather_attr {
  std::string_view name{};
};
/// Options of scatter.
struct scatter_attr {
  bool overwrite = true;  // false: the updates of equal ids are added up
  std::string_view name{};
};

namespace detail {
/// Returns the shape of gather's result: the number of rows of the index, then the dimensions of x
/// after the first one.
constexpr extents gathered(const extents& x, const extents& index) {
  extents r{};
  r.push(index.at[0]);
  for (int i = 1; i < x.rank; ++i) r.push(x.at[i]);
  return r;
}
}  // namespace detail

/// Returns y[i] = x[index[i]], along dimension 0 of x. `index` must have one column or no inner
/// dimension. Fluid: gather.
template <class T, class R, int... D, class Index, class S, int... E>
constexpr auto gather(variable<T, R, D...> x, variable<Index, S, E...> index,
                      const options<gather_attr, T>& attr = {}, int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  using numbers = variable<Index, S, E...>;
  constexpr extents which = whole_shape<numbers>;
  constexpr bool fits = (__is_same(Index, std::int64_t) || __is_same(Index, std::int32_t)) &&
                        whole_shape<in>.rank > 0 &&
                        (which.rank == 1 || (which.rank == 2 && which.at[1] == 1));
  static_assert(check<fits, expects_type<variable<std::int64_t, S, 1>>, gets_type<numbers>>,
                "lamina: gather: the index is one whole number per row");
  require_one_program(x, index, line);
  constexpr extents shape = detail::gathered(whole_shape<in>, which);
  using out = handle_of<T, S, shape>;
  program_builder& b = *x.builder;
  layer_helper layer(b, "gather", attr.name);
  const out y = layer.template output<out>();
  b.add_operator(schema_of<operators::gather>(), {x.id, index.id}, {y.id});
  return layer.returns(y);
}

/// Returns y = x, except that y[ids[i]] = updates[i], along dimension 0. If an id occurs several
/// times, the last of its updates is used or, if `overwrite` is false, the sum of its updates.
/// `ids` must have one column or no inner dimension, and updates[i] must have the shape of an entry
/// of x. Fluid: scatter.
template <class T, class R, int... D, class Index, class S, int... E, class U, class Q, int... F>
constexpr auto scatter(variable<T, R, D...> x, variable<Index, S, E...> ids,
                       variable<U, Q, F...> updates, const options<scatter_attr, T>& attr = {},
                       int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  using numbers = variable<Index, S, E...>;
  using given = variable<U, Q, F...>;
  constexpr extents which = whole_shape<numbers>;
  constexpr bool fits = (__is_same(Index, std::int64_t) || __is_same(Index, std::int32_t)) &&
                        __is_same(T, U) && __is_same(S, Q) && whole_shape<in>.rank > 0 &&
                        (which.rank == 1 || (which.rank == 2 && which.at[1] == 1)) &&
                        whole_shape<given> == detail::gathered(whole_shape<in>, which);
  static_assert(
      check<fits, gets_type<in>, gets_type<numbers>, gets_type<given>>,
      "lamina: scatter: one whole number per row, and an update for each, of the shape of "
      "an entry of the input");
  require_one_program(x, ids, line);
  require_one_program(x, updates, line);
  program_builder& b = *x.builder;
  layer_helper layer(b, "scatter", attr.name);
  const in y{x.builder, layer.output_like(x.id)};
  b.add_operator(schema_of<operators::scatter>(), {x.id, ids.id, updates.id}, {y.id},
                 b.attribute_list(attr.overwrite));
  return layer.returns(y);
}

}}}  // namespace lamina::layer
