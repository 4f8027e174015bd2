// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/print/definition.hpp - prints a variable while the program runs.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = In. Also prints a message and the variable's name, shape, type and first `summarize`
/// elements (-1: all elements) to stderr. Only its first `first_n` executions print (-1: all of
/// them print). print_phase selects values ("FORWARD"), gradients ("BACKWARD") or both ("BOTH");
/// is_forward is true if this operator prints values, false if it prints gradients. Fluid: print.
struct print : operator_definition {
  static constexpr const char* type = "print";
  static constexpr bool has_side_effect = true;
  static constexpr std::array<slot_desc, 1> inputs{{{"In"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 9> attributes{
      {{"first_n", attribute_type::integer, -1},
       {"message", attribute_type::string, 0, ""},
       {"summarize", attribute_type::integer, -1},
       {"print_tensor_name", attribute_type::boolean, 1},
       {"print_tensor_type", attribute_type::boolean, 1},
       {"print_tensor_shape", attribute_type::boolean, 1},
       {"print_tensor_lod", attribute_type::boolean, 1},
       {"print_phase", attribute_type::string, 0, "BOTH"},
       {"is_forward", attribute_type::boolean, 1}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr bool host_takes_part = true;
  static constexpr auto linear = linearity::linear;
  static constexpr void gradient(program_builder& b, const operator_desc& op) {
    const int whole = gradient_variable(b, b.arguments[op.outputs]);
    if (whole < 0) return;
    const int made = partial_gradient(b, b.arguments[op.inputs]);
    if (made < 0) return;
    const int at = b.attributes.count;
    constexpr int n = 9;
    for (int i = 0; i < n; ++i)
      b.attributes.push(
          op.attributes >= 0
              ? b.attributes[op.attributes + i]
              : attribute_value{attributes[static_cast<std::size_t>(i)].number, 0, 0});
    if (op.attributes < 0) b.attributes[at + 7] = b.text("BOTH");
    b.attributes[at + 8].number = 0;
    b.add_operator(schema_of<print>(), {whole}, {made}, at);
  }
};

using control_print_operators = operator_list<print>;

}}}  // namespace lamina::operators

namespace lamina { inline namespace LAMINA_ABI {

/// Returns the letter that print shows for an element type: the mangled name of the C++ type, as in
/// Fluid.
constexpr char type_letter(dtype type) {
  switch (type) {
    case dtype::boolean:
      return 'b';
    case dtype::int16:
      return 's';
    case dtype::int32:
      return 'i';
    case dtype::int64:
      return 'l';
    case dtype::float64:
      return 'd';
    case dtype::uint8:
      return 'h';
    case dtype::int8:
      return 'a';
    default:
      return 'f';
  }
}

}}  // namespace lamina
