// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/pad/layer_unpad.hpp - sequence_unpad: converts padded rows back to
// sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/sequence_rows.hpp>
#include <lamina/layers/shape.hpp>
#include <lamina/operators/sequence/pad/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of sequence_unpad.
struct sequence_unpad_attr {
  std::string_view name{};
};

/// Returns sequences: sequence i consists of the first length[i] elements x[i, 0], x[i, 1], ... of
/// row i of x: `sequence_unpad<"kept">(x, length)`. For x [-1, L, D...] with rows R, the result is
/// [-1, D...] ([-1, 1] without D) with rows tokens<"kept", R>. The lengths are int64, one per row,
/// and must be from 0 to L. Fluid: layers.sequence_unpad.
template <fixed_string Name, class T, class R, int L, int... D, class S, int... E>
constexpr auto sequence_unpad(variable<T, R, L, D...> x, variable<std::int64_t, S, E...> length,
                              const options<sequence_unpad_attr, T>& attr = {},
                              int line = __builtin_LINE()) {
  using lengths = variable<std::int64_t, S, E...>;
  constexpr bool fits = has_rows<R> && (__is_same(lengths, variable<std::int64_t, R>) ||
                                        __is_same(lengths, variable<std::int64_t, R, 1>));
  static_assert(check<fits, expects_type<variable<std::int64_t, R>>, gets_type<lengths>>,
                "lamina: sequence_unpad: the lengths are one number for each row of the input");
  require_one_program(x, length, line);
  program_builder& b = *x.builder;
  layer_helper layer(b, "sequence_unpad", attr.name);
  constexpr extents inner =
      sizeof...(D) > 0 ? extents{1 + sizeof...(D), {-1, D...}} : extents{2, {-1, 1}};
  const auto y = layer.template output<handle_of<T, tokens<Name, R>, inner>>();
  b.add_operator(schema_of<operators::sequence_unpad>(), {x.id, length.id}, {y.id});
  return layer.returns(y);
}

}}}  // namespace lamina::layer
