// SPDX-License-Identifier: Apache-2.0
// lamina/plan/lowering/row_parts.hpp - splits each row of a variable into several rows. A matrix
// product over the last of several dimensions reads each row of the batch as several rows of a
// matrix, its parts; operators on its result use the same parts.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/plan/lowering/lowering_state.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

constexpr void cut(lowering_state& s, int v, int parts) {
  s.variables.items[v].parts = parts;
  s.has_parts = true;
}

/// Returns the number of parts into which each row of variable v is split. A gradient is split like
/// its variable.
constexpr int parts_of(const lowering_state& s, int v) {
  const program_desc& p = s.program;
  if (s.variables.items[v].parts > 1 || v >= p.count.variables ||
      p.variables[v].kind != variable_kind::gradient)
    return s.variables.items[v].parts;
  return parts_of(s, p.variables[v].of);
}
/// Returns the number of parts for the rows of an operator whose loops have the shape of `space`:
/// the parts of `space`, or of an operand with the same shape. The operands are the `n` arguments
/// from index `in` on.
constexpr int parts_of(const lowering_state& s, int in, int n, int space) {
  if (!s.has_parts) return 1;
  int parts = parts_of(s, space);
  for (int a = 0; parts == 1 && a < n; ++a) {
    const int v = s.program.arguments[in + a];
    if (s.variables.items[v].rows == s.variables.items[space].rows &&
        s.variables.items[v].columns == s.variables.items[space].columns)
      parts = parts_of(s, v);
  }
  return parts;
}

}}}  // namespace lamina::lowering
