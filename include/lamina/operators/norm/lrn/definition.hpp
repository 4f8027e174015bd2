// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/lrn/definition.hpp - local response normalisation.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = X * MidOut^-beta, where MidOut = k + alpha * the sum of squares over the n channels around
/// an element, at the same position. Source: Krizhevsky et al. 2012. Fluid: lrn.
struct lrn : operator_definition {
  static constexpr const char* type = "lrn";
  static constexpr auto inputs = slots_x;
  static constexpr std::array<slot_desc, 2> outputs{{{"Out"}, {"MidOut", false, false, true}}};
  static constexpr std::array<attribute_desc, 4> attributes{{{"n", attribute_type::integer, 5},
                                                             {"k", attribute_type::real, 2},
                                                             {"alpha", attribute_type::real, 1e-4},
                                                             {"beta", attribute_type::real, 0.75}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr std::uint32_t gradient_outputs = 3;
};

using norm_lrn_operators = operator_list<lrn>;

}}}  // namespace lamina::operators

namespace lamina { inline namespace LAMINA_ABI {

/// The channels [first, end) around channel c over which lrn adds up squares; with `back`, the
/// channels whose sum contains channel c.
struct channels_around {
  int first, end;
  constexpr channels_around(int c, int n, int channels, bool back = false)
      : first(c - (back ? n - 1 - (n - 1) / 2 : (n - 1) / 2)), end(first + n) {
    if (first < 0) first = 0;
    if (end > channels) end = channels;
  }
};

}}  // namespace lamina
