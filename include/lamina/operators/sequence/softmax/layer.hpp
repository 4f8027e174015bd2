// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/softmax/layer.hpp - the softmax over the rows of each sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/sequence/softmax/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of sequence_softmax.
struct sequence_softmax_attr {
  std::string_view name{};
};

/// Returns y[t] = e^(x[t] - max) / sum e^(x - max), where max and sum are over the rows of t's
/// sequence. The results of each sequence add up to 1, like attention weights. x must have one
/// number per row. Fluid: layers.sequence_softmax.
template <class T, class R, int... D>
constexpr auto sequence_softmax(variable<T, R, D...> x,
                                const options<sequence_softmax_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  static_assert(check<(is_tokens<R> && detail::is_real<T> && in::size == 1), gets_type<in>>,
                "lamina: sequence_softmax: the input is one floating point number an element of "
                "sequences");
  return detail::same_shape<operators::sequence_softmax>(x, "sequence_softmax", attr.name);
}

}}}  // namespace lamina::layer
