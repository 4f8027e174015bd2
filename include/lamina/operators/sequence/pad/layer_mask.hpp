// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/pad/layer_mask.hpp - sequence_mask: marks which positions of a padded
// sequence belong to the sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/messages/check.hpp>
#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/sequence/pad/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of sequence_mask.
struct sequence_mask_attr {
  std::string_view name{};
};

/// Returns, for each length x and each j from 0 to Length - 1, 1 if j < x, else 0:
/// `sequence_mask<20, float>(lengths)`. For lengths [-1, D...], the result is [-1, D..., Length].
/// Fluid: layers.sequence_mask.
template <int Length, element T = std::int64_t, class Index, class R, int... D>
constexpr auto sequence_mask(variable<Index, R, D...> x,
                             const options<sequence_mask_attr, Index>& attr = {}) {
  using in = variable<Index, R, D...>;
  constexpr bool fits =
      (__is_same(Index, std::int64_t) || __is_same(Index, std::int32_t)) && Length > 0;
  static_assert(
      check<fits, expects_type<variable<std::int64_t, R, D...>>, gets_type<in>, gets<Length>>,
      "lamina: sequence_mask: lengths are whole numbers, and the longest is positive");
  program_builder& b = *x.builder;
  layer_helper layer(b, "sequence_mask", attr.name);
  const auto y = layer.template output<variable<T, R, D..., Length>>();
  detail::without_gradient(layer, y.id);
  b.add_operator(schema_of<operators::sequence_mask>(), {x.id}, {y.id},
                 b.attribute_list(Length, static_cast<int>(dtype_of<T>)));
  return layer.returns(y);
}

}}}  // namespace lamina::layer
