// SPDX-License-Identifier: Apache-2.0
// lamina/plan/copy_operator.hpp - copies single operators to a smaller program that is put into the
// binary.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/program/program_desc.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Appends `op` with its arguments and attributes to `to`. The copy has the bare schema, which
/// refers to no functions, so that these functions are not compiled into the binary. The elements
/// of lists and texts are not copied: the copy refers to the same positions in the pools of both
/// programs.
constexpr operator_desc copy_operator(program_desc& to, const program_desc& from,
                                      const operator_desc& op) {
  program_counts& used = to.count;
  operator_desc made = op;
  made.schema = op.schema->bare;
  made.inputs = used.arguments;
  made.outputs = made.inputs + (op.outputs - op.inputs);
  made.end = made.inputs + (op.end - op.inputs);
  for (int a = op.inputs; a < op.end; ++a) to.arguments[used.arguments++] = from.arguments[a];
  if (op.attributes >= 0) {
    made.attributes = used.attributes;
    for (int a = 0; a < op.schema->attribute_count; ++a)
      to.attributes[used.attributes++] = from.attributes[op.attributes + a];
  }
  return made;
}

}}  // namespace lamina
