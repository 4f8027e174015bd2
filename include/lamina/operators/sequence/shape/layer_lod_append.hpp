// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/shape/layer_lod_append.hpp - lod_append: adds a level of sequences
// below the existing levels.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/sequence/shape/layer_lod_reset.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of lod_append.
struct lod_append_attr {
  std::string_view name{};
};

namespace detail {

template <fixed_string Name, class T, class R, int... D>
constexpr auto append_lod(variable<T, R, D...> x, int offsets, attribute_value target,
                          std::string_view name) {
  using out = variable<T, tokens<Name, R>, D...>;
  program_builder& b = *x.builder;
  layer_helper layer(b, "lod_append", name);
  const out y = layer.template output<out>();
  b.add_operator(schema_of<operators::lod_reset>(), {x.id, offsets}, {y.id},
                 b.attribute_list(target, true));
  return layer.returns(y);
}

}  // namespace detail

/// Divides the n rows of x into n sequences with the name Name, one sequence for each row of R, so
/// that the result has rows tokens<Name, R>. `offsets` has n + 1 integers in one column: the first
/// row of each sequence and, last, n. If their number is not n + 1, or if they do not ascend from 0
/// to n, the run fails. Fluid: layers.lod_append.
template <fixed_string Name, class T, class R, int... D, class U, class S, int... E>
constexpr auto lod_append(variable<T, R, D...> x, variable<U, S, E...> offsets,
                          const options<lod_append_attr, T>& attr = {},
                          int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  using numbers = variable<U, S, E...>;
  static_assert(
      check<(has_rows<R> && detail::are_numbers<numbers>), gets_type<in>, gets_type<numbers>>,
      "lamina: lod_append: x has rows, and the offsets are whole numbers in one column without "
      "sequences");
  require_one_program(x, offsets, line);
  return detail::append_lod<Name>(x, offsets.id, {0, 0, 0}, attr.name);
}

/// A lod_append with constant offsets: `lod_append<"parts", 0, 2, 2, 3>(x)` divides three rows into
/// a sequence of two rows, an empty sequence and a sequence of one row.
template <fixed_string Name, int... Offset, class T, class R, int... D>
constexpr auto lod_append(variable<T, R, D...> x, const options<lod_append_attr, T>& attr = {}) {
  static_assert(check<has_rows<R>, gets_type<variable<T, R, D...>>>,
                "lamina: lod_append: the input has rows");
  static_assert(check<detail::are_offsets<Offset...>(), gets<Offset...>>,
                "lamina: lod_append: offsets begin with 0 and never descend");
  const int offsets[] = {Offset..., 0};
  return detail::append_lod<Name>(
      x, -1, x.builder->integer_list(offsets, static_cast<int>(sizeof...(Offset))), attr.name);
}

}}}  // namespace lamina::layer
