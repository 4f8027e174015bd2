// SPDX-License-Identifier: Apache-2.0
// lamina/plan/copy_operator.hpp - moves single operators into a smaller program for the binary.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/program/program_desc.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Appends `op` with its arguments and attributes to `to`, using the bare schema, which refers to
/// no functions. The elements of lists and texts are not copied: both programs share the pools that
/// hold them.
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
