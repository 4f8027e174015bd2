// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/split_merge/definition.hpp - operators that split rows by a mask, merge
// them again, or select one of several variables.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI {

inline constexpr std::array<slot_desc, 2> slots_x_mask{{{"X"}, {"Mask"}}};

}}  // namespace lamina

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out[i] = the next row of InTrue if Mask[i] is true, else the next row of InFalse. This restores
/// the order that the rows had before a split. If Out has LoD levels below the rows of Mask, whole
/// sequences are merged instead of rows; `level` is the number of LoD levels above the rows of
/// Mask. X, which has the rows of Mask or of Out, gives Out its LoD. If InTrue or InFalse is
/// absent, its rows count as zeros. The gradient is a split_lod_tensor. Fluid: merge_lod_tensor.
struct merge_lod_tensor : operator_definition {
  static constexpr const char* type = "merge_lod_tensor";
  static constexpr std::array<slot_desc, 4> inputs{
      {{"X"}, {"Mask"}, {"InTrue", false, true}, {"InFalse", false, true}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"level", attribute_type::integer, 0}}};
  static constexpr std::uint32_t differentiable = 12;
  static constexpr void gradient(program_builder& b, const operator_desc& op);
};

/// OutTrue = the rows of X for which Mask is true, OutFalse = the other rows, both in their
/// original order. If X has LoD levels below the rows of Mask, Mask selects whole sequences instead
/// of rows. The gradient is a merge_lod_tensor. Fluid: split_lod_tensor.
struct split_lod_tensor : operator_definition {
  static constexpr const char* type = "split_lod_tensor";
  static constexpr auto inputs = slots_x_mask;
  static constexpr std::array<slot_desc, 2> outputs{
      {{"OutTrue", false, true}, {"OutFalse", false, true}}};
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"level", attribute_type::integer, 0}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr bool host_waits = true;
  static constexpr void gradient(program_builder& b, const operator_desc& op);
};

constexpr void merge_lod_tensor::gradient(program_builder& b, const operator_desc& op) {
  const int whole = gradient_variable(b, b.arguments[op.outputs]);
  if (whole < 0) return;
  const int mask = b.arguments[op.inputs + 1];
  const int yes = partial_gradient(b, b.arguments[op.inputs + 2]);
  const int no = partial_gradient(b, b.arguments[op.inputs + 3]);
  if (yes >= 0 || no >= 0)
    b.add_operator(schema_of<split_lod_tensor>(), {whole, mask}, {yes, no}, op.attributes);
}

constexpr void split_lod_tensor::gradient(program_builder& b, const operator_desc& op) {
  const int yes = gradient_variable(b, b.arguments[op.outputs]);
  const int no = gradient_variable(b, b.arguments[op.outputs + 1]);
  if (yes < 0 && no < 0) return;
  const int x = b.arguments[op.inputs];
  const int made = partial_gradient(b, x);
  if (made >= 0)
    b.add_operator(schema_of<merge_lod_tensor>(), {x, b.arguments[op.inputs + 1], yes, no}, {made},
                   op.attributes);
}

/// Out[Mask] = X, where Mask, a single integer, is the index of an output. The other outputs get no
/// value. Fluid: select_output.
struct select_output : operator_definition {
  static constexpr const char* type = "select_output";
  static constexpr auto inputs = slots_x_mask;
  static constexpr std::array<slot_desc, 1> outputs{{{"Out", true}}};
};

/// Out = X[Mask], where Mask, a single integer, is the index of an input. The other inputs need not
/// have a value. The gradient is a select_output. Fluid: select_input.
struct select_input : operator_definition {
  static constexpr const char* type = "select_input";
  static constexpr std::array<slot_desc, 2> inputs{{{"X", true}, {"Mask"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr void gradient(program_builder& b, const operator_desc& op) {
    const int n = b.arguments[op.inputs];
    const int whole = gradient_variable(b, b.arguments[op.outputs]);
    if (whole < 0) return;
    const int mask = b.arguments[op.inputs + 1 + n];
    int* parts = new int[static_cast<unsigned>(n)];
    bool any = false;
    for (int i = 0; i < n; ++i) {
      parts[i] = partial_gradient(b, b.arguments[op.inputs + 1 + i]);
      any = any || parts[i] >= 0;
    }
    if (any) {
      operator_desc made = b.begin(schema_of<select_output>());
      b.argument(whole);
      b.argument(mask);
      made.outputs = b.arguments.count;
      b.list(parts, n);
      made.end = b.arguments.count;
      b.operators.push(made);
    }
    delete[] parts;
  }
};

using control_split_merge_operators =
    operator_list<merge_lod_tensor, split_lod_tensor, select_output, select_input>;

}}}  // namespace lamina::operators
