// SPDX-License-Identifier: Apache-2.0
// lamina/plan/lowering/pointwise.hpp - lowers a pointwise operator: finds the access of each
// operand. The gradient of an operand that was broadcast is a sum over rows.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/elementwise/binary/lowering.hpp>
#include <lamina/operators/elementwise/sum/lowering.hpp>
#include <lamina/operators/loss/pointwise/lowering.hpp>
#include <lamina/operators/pool/pool2d/lowering.hpp>
#include <lamina/plan/lowering/images.hpp>
#include <lamina/plan/lowering/layout_copies.hpp>
#include <lamina/plan/lowering/row_parts.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

/// How one output of a pointwise operator is computed. The loops have the shape of variable
/// `space`; how[a] is the access of input a at a position of these loops.
struct pointwise_form {
  int space;
  int rows, columns;  // sizes of the loops
  bool reduced;       // the output is a sum over the rows of `space`
  bool panel;
  int parts;  // the number of rows into which each row of `space` is split
  access how[8];
};

/// Finds how operand v is read in a loop nest of the shape of `space`. Returns false if no access
/// fits, so that the operator needs its own kernel.
constexpr bool find_access(const lowering_state& s, int v, const plan_variable& space, int parts,
                           int axis, access& how) {
  const plan_variable d = s.variables.items[v];
  const int rows = space.rows, columns = space.columns / parts;
  if (d.rows == 1 && d.columns == 1) return how = access::scalar, true;
  if (d.rows == rows && d.columns == 1 && parts == 1) {
    // The operand has one element per row, unless the axis selects another broadcast.
    return how = access::column, axis <= 0;
  }
  if (axis == 1 && is_of_channels(s, v, space, axis))
    return how = of_channels(d.columns, columns), true;
  if (d.rows == 1 && d.columns == columns && space.variable >= 0) {
    // The dimensions of the operand must be the last dimensions of the loops' shape.
    const int rank = s.program.variables[v].rank;
    return how = access::row, axis < 0 || axis + rank == s.program.variables[space.variable].rank;
  }
  return false;
}

/// Finds the form of output `out`, whose `n` inputs are the arguments from index `in` on. Returns
/// false if the kernel of the operator must compute the output.
constexpr bool find_form(const lowering_state& s, int in, int n, int out, int axis,
                         pointwise_form& f) {
  const program_desc& p = s.program;
  const plan_variable made = s.variables.items[out];
  if (made.type != s.real) return false;
  // The loops have the shape of the largest variable: of X or of Out of the forward operator.
  int best = out;
  plan_variable space = made;
  bool equal = true;  // all operands have one shape
  bool panel = false;
  for (int a = 0; a < n; ++a) {
    const int taken = p.arguments[in + a];
    if (taken < 0) return false;
    const plan_variable v = s.variables.items[taken];
    if (v.type != s.real) return false;
    f.how[a] = access::load;
    panel = panel || (v.panel && v.rows != 1);
    if (v.rows == space.rows && v.columns == space.columns) continue;
    equal = false;
    if (v.rows == space.rows ? v.columns > space.columns
                             : v.rows < 0 || (space.rows > 0 && v.rows > space.rows))
      best = taken, space = v;
  }
  f.space = best;
  f.rows = space.rows;
  f.columns = space.columns;
  f.panel = equal && panel;
  f.parts = s.has_parts ? parts_of(s, in, n, best) : 1;
  for (int a = 0; !equal && a < n; ++a) {
    const int taken = p.arguments[in + a];
    const plan_variable v = s.variables.items[taken];
    if (v.rows == space.rows && v.columns == space.columns)
      f.how[a] = access::load, f.panel = f.panel || (v.panel && v.rows != 1);
    else if (!find_access(s, taken, space, f.parts, axis, f.how[a]))
      return false;
  }
  f.reduced = made.rows != space.rows || made.columns != space.columns;
  if (changes(s, out)) f.panel = made.panel;
  // The gradient of a broadcast operand is summed over the rows for which the operand was repeated.
  return !f.reduced || (made.rows == 1 && made.columns * f.parts == space.columns &&
                        p.variables[out].kind == variable_kind::gradient);
}

/// Makes `to` share the memory of `from` if no operator can observe the difference. Returns whether
/// it did.
constexpr bool alias(lowering_state& s, int from, int to) {
  const program_desc& p = s.program;
  const int r = root(s, from);
  if (r >= p.count.variables || changes(s, r) || changes(s, to)) return false;
  const variable_desc d = p.variables[r];
  if (d.persistable || d.kind == variable_kind::data ||
      s.variables.items[to].rows != s.variables.items[r].rows ||
      s.variables.items[to].columns != s.variables.items[r].columns ||
      p.variables[to].kind != variable_kind::gradient)
    return false;
  s.variables.items[to].root = r;
  s.variables.items[to].panel = s.variables.items[r].panel;
  s.variables.items[to].feeds = s.variables.items[from].feeds;
  return true;
}

/// Appends the instruction for output `o` of operator k, which is variable `out`.
constexpr void emit_pointwise(lowering_state& s, const operator_desc& op, int k, int in, int n,
                              int out, int o, const pointwise_form& f) {
  const program_desc& p = s.program;
  const bool reduced = f.reduced, passes = passes_gradient(op, o);
  if (passes && !reduced && alias(s, p.arguments[in], out)) return;
  int source = -1;
  if (passes && reduced) {
    source = padded_rows(s, p.arguments[in], k);
  } else {
    int made = out;
    if (reduced) made = source = temporary(s, f.rows, f.columns, f.panel, -1);
    int taken[8];
    for (int a = 0; a < n; ++a) {
      int v = p.arguments[in + a];
      if (const bool panel = f.panel && f.how[a] == access::load;
          panel != s.variables.items[v].panel)
        v = in_layout(s, v, panel, k);
      if (f.how[a] != access::scalar && is_feed(s, s.variables.items[v].root))
        v = padded_rows(s, v, k);
      taken[a] = v;
    }
    instruction i = begin(s, fusion_anchor::pointwise, *op.schema, o, k);
    for (int a = 0; a < n; ++a) use(s, taken[a], f.how[a]);
    for (int a = 0; a < op.schema->scalars; ++a)
      use(s, constant(s, attribute(s, op, a)), access::scalar);
    result(s, made);
    s.variables.items[made].panel = f.panel;
    if (f.parts > 1) cut(s, made, f.parts);
    i.rows = f.parts == 1 ? f.rows : rows_in_parts(f.rows, f.parts);
    i.columns = f.columns / f.parts;
    i.panel = f.panel;
    end(s, i);
  }
  if (!reduced) return;
  if (s.variables.items[source].panel) source = in_rows(s, source, k);
  instruction i = begin(s, fusion_anchor::reduce_rows, *op.schema, o, k);
  use(s, source, access::load);
  result(s, out);
  i.rows = 1;
  i.columns = f.columns / f.parts;
  i.depth = f.parts == 1 ? f.rows : rows_in_parts(f.rows, f.parts);
  end(s, i);
}

/// Lowers a pointwise operator. Returns false if its kernel must be called.
constexpr bool lower_pointwise(lowering_state& s, const operator_desc& op, int k) {
  const operator_schema schema = *op.schema;
  if (schema.has_lists && schema.inputs[0].duplicable) return lower_sum(s, op, k);
  const int n = schema.input_count, in = op.inputs, outputs = op.end - op.outputs;
  if (n > 8 || outputs > 4) return false;
  if (op.attributes >= 0 && n >= 2 && is_divided_by_labels(s, op)) return false;
  if (n == 1 && schema.attribute_count == 3 && is_identity(s, op) &&
      alias(s, argument(s, in), argument(s, op.outputs)))
    return true;
  const bool broadcast = schema.attribute_count == 1 && schema.scalars == 0;
  const int axis = broadcast ? static_cast<int>(attribute(s, op, 0)) : -1;
  if (axis == 1 && is_channel_sum(s, op) &&
      (argument(s, op.outputs) < 0 || alias(s, argument(s, in), argument(s, op.outputs)))) {
    emit_channel_sums(s, same_channel_sums(s, argument(s, in)), argument(s, op.outputs + 1), k);
    return true;
  }
  // All outputs are checked before the instruction for the first output is appended, because the
  // function must not return false afterwards.
  pointwise_form forms[4];
  int out[4];
  for (int o = 0; o < outputs; ++o)
    if (out[o] = argument(s, op.outputs + o);
        out[o] >= 0 && !find_form(s, in, n, out[o], axis, forms[o]))
      return false;
  for (int o = 0; o < outputs; ++o)
    if (out[o] >= 0) emit_pointwise(s, op, k, in, n, out[o], o, forms[o]);
  return true;
}

}}}  // namespace lamina::lowering
