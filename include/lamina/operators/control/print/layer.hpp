// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/print/layer.hpp - prints a variable while the program runs.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/control/print/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// The passes in which print writes: forward, backward, or both.
enum class print_phase : std::uint8_t { forward, backward, both };

/// Options of print.
struct print_attr {
  std::string_view message{};
  int first_n = -1;    // -1: every time
  int summarize = -1;  // -1: all elements
  print_phase phase = print_phase::both;
  bool tensor_name = true, tensor_type = true, tensor_shape = true, tensor_lod = true;
  std::string_view name{};
};

/// Returns x. During a run, prints a message and the name, shape, type, LoD and elements of x to
/// stderr; in the backward pass, prints the gradient of x in the same way. Fluid: Print. The
/// variables are named as in Fluid up to 1.4 ("print_0.tmp_0").
template <class T, class R, int... D>
constexpr variable<T, R, D...> print(variable<T, R, D...> x,
                                     const options<print_attr, T>& attr = {}) {
  program_builder& b = *x.builder;
  const attribute_value message = b.text(attr.message);
  const attribute_value phase = b.text(attr.phase == print_phase::forward    ? "FORWARD"
                                       : attr.phase == print_phase::backward ? "BACKWARD"
                                                                             : "BOTH");
  return detail::same_shape<operators::print>(
      x, "print", attr.name,
      b.attribute_list(attr.first_n, message, attr.summarize, attr.tensor_name, attr.tensor_type,
                       attr.tensor_shape, attr.tensor_lod, phase, true));
}

}}}  // namespace lamina::layer
