// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/shape/layer_reverse.hpp - sequence_reverse: reverses the order of the
// rows in sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/sequence/shape/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of sequence_reverse.
struct sequence_reverse_attr {
  std::string_view name{};
};

/// Returns the rows of each sequence in reverse order. If x has nested sequences, the rows of each
/// innermost sequence are reversed. Fluid: layers.sequence_reverse.
template <class T, class R, int... D>
constexpr auto sequence_reverse(variable<T, R, D...> x,
                                const options<sequence_reverse_attr, T>& attr = {}) {
  static_assert(check<is_tokens<R>, gets_type<variable<T, R, D...>>>,
                "lamina: sequence_reverse: the rows of the input form sequences");
  return detail::same_shape<operators::sequence_reverse>(x, "sequence_reverse", attr.name);
}

}}}  // namespace lamina::layer
