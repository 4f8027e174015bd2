// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/shape/layer_slice.hpp - sequence_slice: returns a range of rows of each
// sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/sequence/shape/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of sequence_slice.
struct sequence_slice_attr {
  std::string_view name{};
};

namespace detail {
template <class V>
inline constexpr bool one_whole_number = V::size == 1 &&
                                         (__is_same(typename V::value_type, std::int64_t) ||
                                          __is_same(typename V::value_type, std::int32_t));
}  // namespace detail

/// Returns new sequences with the name Name: sequence i consists of length[i] rows of sequence i of
/// x, from row offset[i] of the sequence on: `sequence_slice<"middle">(x, offset, length)`. Offset
/// and length have one integer per sequence. If a row is not inside its sequence, the run fails.
/// Fluid: layers.sequence_slice.
template <fixed_string Name, class T, class R, int... D, class Offset, class Length>
constexpr auto sequence_slice(variable<T, R, D...> x, Offset offset, Length length,
                              const options<sequence_slice_attr, T>& attr = {},
                              int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  constexpr bool fits = is_tokens<R> && __is_same(typename Offset::rows_type, parent_rows<R>) &&
                        __is_same(typename Length::rows_type, parent_rows<R>) &&
                        detail::one_whole_number<Offset> && detail::one_whole_number<Length>;
  static_assert(check<fits, gets_type<in, Offset, Length>>,
                "lamina: sequence_slice: the input holds sequences, offset and length one whole "
                "number for each");
  require_one_program(x, offset, line);
  require_one_program(x, length, line);
  using out = with_rows<tokens<Name, parent_rows<R>>, in>;
  program_builder& b = *x.builder;
  layer_helper layer(b, "sequence_slice", attr.name);
  const out y = layer.template output<out>();
  b.add_operator(schema_of<operators::sequence_slice>(), {x.id, offset.id, length.id}, {y.id});
  return layer.returns(y);
}

}}}  // namespace lamina::layer
