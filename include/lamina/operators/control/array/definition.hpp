// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/array/definition.hpp - operators that write a slot of an array of
// tensors, read a slot, and return the number of slots.
//
// An array of tensors is mutable: operators change its slots in place. The gradient of an array is
// a second array of tensors, which changes in place as well. The gradient of a read adds to a slot
// of the second array. The gradient of a write takes the gradient out of the slot and leaves the
// slot empty: later reads do not depend on the value that the slot held before the write, so the
// gradient of that value is zero. A slot of the second array without a value counts as zeros.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI {

inline constexpr std::array<slot_desc, 2> slots_x_i{{{"X"}, {"I"}}};

}}  // namespace lamina

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out[I] = X. If Out has I slots or fewer, it grows to I + 1 slots. Fluid: write_to_array.
struct write_to_array : operator_definition {
  static constexpr const char* type = "write_to_array";
  static constexpr auto inputs = slots_x_i;
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t host_inputs = 2;
  static constexpr void gradient(program_builder& b, const operator_desc& op);
};

/// X@GRAD = Out@GRAD[I], or zeros if this slot has no value. Then empties slot Out@GRAD[I].
struct write_to_array_gradient : operator_definition {
  static constexpr const char* type = "write_to_array_grad";
  static constexpr std::array<slot_desc, 3> inputs{{{"X"}, {"I"}, {"Out@GRAD"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"X@GRAD", false, true}}};
  static constexpr std::uint32_t host_inputs = 2;
};

/// Out = X[I]. Fluid: read_from_array.
struct read_from_array : operator_definition {
  static constexpr const char* type = "read_from_array";
  static constexpr auto inputs = slots_x_i;
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr auto origin = row_origin::array_slot;
  static constexpr std::uint32_t host_inputs = 2;
  static constexpr void gradient(program_builder& b, const operator_desc& op);
};

/// X@GRAD[I] += Out@GRAD.
struct read_from_array_gradient : operator_definition {
  static constexpr const char* type = "read_from_array_grad";
  static constexpr std::array<slot_desc, 2> inputs{{{"I"}, {"Out@GRAD"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"X@GRAD"}}};
  static constexpr std::uint32_t host_inputs = 1;
};

/// Out = the number of slots of X, as int64 [1]. Fluid: lod_array_length.
struct lod_array_length : operator_definition {
  static constexpr const char* type = "lod_array_length";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr auto host = host_rule::always;
};

constexpr void write_to_array::gradient(program_builder& b, const operator_desc& op) {
  const int x = b.arguments[op.inputs];
  const int at = b.arguments[op.inputs + 1];
  const int array = b.arguments[op.outputs];
  if (!wants_gradient(b, array) || b.gradients->gradient[array] < 0) return;
  const int from = array_gradient(b, array);
  const int made = partial_gradient(b, x);
  b.add_operator(schema_of<write_to_array_gradient>(), {x, at, from}, {made});
}

constexpr void read_from_array::gradient(program_builder& b, const operator_desc& op) {
  const int array = b.arguments[op.inputs];
  const int at = b.arguments[op.inputs + 1];
  if (!wants_gradient(b, array)) return;
  const int whole = gradient_variable(b, b.arguments[op.outputs]);
  if (whole < 0) return;
  const int to = array_gradient(b, array);
  b.add_operator(schema_of<read_from_array_gradient>(), {at, whole}, {to});
}

using control_array_operators =
    operator_list<write_to_array, write_to_array_gradient, read_from_array,
                  read_from_array_gradient, lod_array_length>;

}}}  // namespace lamina::operators
