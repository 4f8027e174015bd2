// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/pad/layer.hpp - sequence_pad: pads sequences to equal length.
#pragma once

#include <lamina/core/config.hpp>

#include <tuple>

#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/elementwise/assign/layer.hpp>
#include <lamina/operators/fill/layer.hpp>
#include <lamina/operators/sequence/pad/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of sequence_pad.
struct sequence_pad_attr {
  std::string_view name{};
};

/// Returns two variables: each sequence as an array of `Length` rows, filled with `pad_value` after
/// the end of the sequence, and the number of rows of each sequence: `auto [padded, lengths] =
/// sequence_pad<20>(x, pad)`. For x [rows, D...] with rows tokens<"a", Parent>, the results are
/// [-1, Length, D...] and int64 [-1], both with rows Parent. `pad_value` is a single number [1] or
/// has the dimensions D... of a row. If a sequence has more than `Length` rows, the run fails.
/// Fluid: layers.sequence_pad; there, sequences can also be padded to the longest sequence of the
/// batch. lamina needs a constant length, because the dimensions of a variable are part of its
/// type.
template <int Length, class T, class R, int... D, class P, int... E>
constexpr auto sequence_pad(variable<T, R, D...> x, variable<P, once, E...> pad_value,
                            const options<sequence_pad_attr, T>& attr = {},
                            int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  using given = variable<P, once, E...>;
  constexpr bool fits = is_tokens<R> && Length > 0;
  static_assert(check<fits, gets_type<in>, gets<Length>>,
                "lamina: sequence_pad: the rows of the input form sequences, and the length is "
                "positive");
  static_assert(
      check<(__is_same(given, variable<T, once, 1>) || __is_same(given, variable<T, once, D...>)),
            expects_type<variable<T, once, 1>, variable<T, once, D...>>, gets_type<given>>,
      "lamina: sequence_pad: the padding is one number or a row, of the input's type");
  require_one_program(x, pad_value, line);
  program_builder& b = *x.builder;
  layer_helper layer(b, "sequence_pad", attr.name);
  const auto y = layer.template output<variable<T, parent_rows<R>, Length, D...>>();
  const auto lengths = layer.template output<variable<std::int64_t, parent_rows<R>>>();
  detail::without_gradient(layer, lengths.id);
  b.add_operator(schema_of<operators::sequence_pad>(), {x.id, pad_value.id}, {y.id, lengths.id},
                 b.attribute_list(Length));
  return std::tuple{layer.returns(y), lengths};
}

/// A sequence_pad with a constant pad value: `sequence_pad<20>(x, 0)`.
template <int Length, class T, class R, int... D>
constexpr auto sequence_pad(variable<T, R, D...> x, double pad_value,
                            const options<sequence_pad_attr, T>& attr = {}) {
  block main{x.builder, 0};
  return sequence_pad<Length>(x, fill_constant<T>(main, pad_value), attr);
}

#ifdef LAMINA_NAMES_OPTIONS
// clang-format off
template <any_value...>
constexpr no_match<sequence_pad_attr>
sequence_pad(...) = delete;  // call sequence_pad<20>(x, 0); options: name
// clang-format on
#endif

}}}  // namespace lamina::layer
