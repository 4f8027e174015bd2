// SPDX-License-Identifier: Apache-2.0
// lamina/plan/lowering.hpp - operators -> instructions with one head each.
//
// Each operator of a program becomes a matrix product, a reduction, a pointwise function with the
// access of each operand, or a call of a kernel of its own. Lowering also adds the copies that a
// layout needs (feeds with unpadded rows, weights in panels), so that later passes and kernels see
// one layout only.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/padding.hpp>
#include <lamina/operators/elementwise/assign/definition.hpp>
#include <lamina/operators/elementwise/binary/definition.hpp>
#include <lamina/operators/elementwise/sum/definition.hpp>
#include <lamina/operators/fill/definition.hpp>
#include <lamina/operators/loss/cross_entropy/definition.hpp>
#include <lamina/operators/loss/pointwise/definition.hpp>
#include <lamina/operators/matrix/mul/definition.hpp>
#include <lamina/operators/reduce/mean/lowering.hpp>

namespace lamina::inline LAMINA_ABI {

/// Lowers the operators of one program.
struct lowering : mean_lowering {
  using mean_lowering::mean_lowering;

  constexpr void run() {
    const int operators = p.count.operators;
    for (int k = 0; k < operators; ++k) lower(p.operators[k], k);
    block = 0;
    if (held_cost >= 0) lower_call(p.operators[held_cost], held_cost);
    // Returns the gradient of a weight to the caller in the layout of the weight.
    for (int i = 0; i < p.count.parameters; ++i)
      if (gradient[i] >= 0 && variables.items[gradient[i]].block == 0 &&
          is_weight(p.variables[p.parameters[i].variable]))
        gradient[i] = in_panels(gradient[i], -1);
  }

 private:
  bool has_parts = false;  // some product cuts its rows

  // -- one operator ------------------------------------------------------------------------------

  constexpr void lower(const operator_desc op, int k) {
    if (many && block != op.block) block = op.block;
    if (has_chains() && lower_pooled(op, k)) return;
    switch (op.schema->kind) {
      case operator_kind::source:
        return;
      case operator_kind::mul:
        if (!lower_mul(op, k)) lower_call(op, k);
        return;
      case operator_kind::mul_grad:
        if (!lower_mul_grad(op, k)) lower_call(op, k);
        return;
      case operator_kind::update:
        lower_update(op, k);
        return;
      case operator_kind::pointwise:
        if (many && is<assign>(op) && (hand_over(op) || hand_over_rows(op, k))) return;
        if (!lower_pointwise(op, k)) lower_call(op, k);
        return;
      case operator_kind::call:
        if (p.count.blocks > 1 && sub_block_of(p, op) >= 0) return lower_block(op, k);
        if (is<conv2d>(op)) find_chain(op, k);
        if (is<mean>(op) && hold_cost(op, k)) return;
        if ((is<gradient_of<mean>>(op) || is<gradient_of<reduce_mean>>(op)) &&
            lower_mean_grad(op, k))
          return;
        if (is<sequence_conv>(op)) return lower_sequence_conv(op, k);
        if (is<gradient_of<sequence_conv>>(op)) return lower_sequence_conv_grad(op, k);
        if (lower_image(op, k) || pass_rows(op, k)) return;
        lower_call(op, k);
        if (op.role == op_role::optimize) tell_numbers(op, k);
        return;
    }
  }

  /// Whether X (rows by K) times Y (K by N) is one product of two matrices in their memory layout:
  /// the number of rows into which each row of X is cut for it, or 0. A row that is as wide as Y is
  /// long is one row of the product, both for [K] and for [1, K].
  constexpr int parts_of_product(const operator_desc& op, const plan_variable& x,
                                 const plan_variable& y) const {
    return y.rows == x.columns && x.type == real && y.type == real && y.rows > 0 &&
                   (op.attributes < 0 || attribute(op, 1) == 1)
               ? 1
               : several_parts(op, x, y);
  }
  // Each part must consist of whole vectors.
  constexpr int several_parts(const operator_desc& op, const plan_variable& x,
                              const plan_variable& y) const {
    return op.attributes >= 0 && attribute(op, 0) > 1 && attribute(op, 1) == 1 && x.rows < 0 &&
                   y.rows > 0 && x.columns > y.rows && x.columns % y.rows == 0 &&
                   padded(y.rows) == y.rows && padded(y.columns) == y.columns && x.type == real &&
                   y.type == real
               ? x.columns / y.rows
               : 0;
  }

  constexpr bool lower_mul(const operator_desc& op, int k) {
    const int x = argument(op.inputs), y = argument(op.inputs + 1), out = argument(op.outputs);
    const plan_variable of_y = variables.items[y];
    const int parts = parts_of_product(op, variables.items[x], of_y);
    if (parts == 0) return false;
    const int a = in_rows(x, k), w = of_y.panel ? y : in_panels(y, k);
    instruction i = begin(group_head::gemm, *op.schema, 0, k);
    use(a, access::load);
    use(w, access::load);
    result(out);
    if (parts > 1) cut(out, parts);
    i.rows =
        parts == 1 ? variables.items[out].rows : rows_in_parts(variables.items[out].rows, parts);
    i.columns = of_y.columns;
    i.depth = of_y.rows;
    end(i);
    return true;
  }
  constexpr void cut(int v, int parts) {
    variables.items[v].parts = parts;
    has_parts = true;
  }

  // dX before dW: an update may overwrite the weight in dW's epilogue.
  constexpr bool lower_mul_grad(const operator_desc& op, int k) {
    const int x = argument(op.inputs), y = argument(op.inputs + 1);
    const int dout = argument(op.inputs + 2);
    const int dx = argument(op.outputs), dy = argument(op.outputs + 1);
    const plan_variable of_x = variables.items[x], of_y = variables.items[y];
    const int parts = parts_of_product(op, of_x, of_y);
    if (parts == 0) return false;
    const int d = padded_rows(dout, k);
    if (dx >= 0) {
      const bool turned = block > 0 && parts == 1 && is_of_outer_block(y);
      const int w = turned ? turned_panels(y, k) : of_y.panel ? y : in_panels(y, k);
      instruction i = begin(turned ? group_head::gemm : group_head::gemm_dx, *op.schema, 0, k);
      use(d, access::load);
      use(w, access::load);
      result(dx);
      if (parts > 1) cut(dx, parts);
      i.rows =
          parts == 1 ? variables.items[dx].rows : rows_in_parts(variables.items[dx].rows, parts);
      i.columns = of_y.rows;
      i.depth = of_y.columns;
      end(i);
    }
    if (dy >= 0) {
      const int a = in_rows(x, k);
      if (block > 0 && parts == 1 && collect(a, d, dy, k)) return true;
      instruction i = begin(group_head::gemm_dw, *op.schema, 1, k);
      use(a, access::load);
      use(d, access::load);
      variables.items[dy].panel = true;
      result(dy);
      i.rows = of_y.rows;
      i.columns = of_y.columns;
      i.depth = parts == 1 ? of_x.rows : rows_in_parts(of_x.rows, parts);
      i.panel = true;
      end(i);
    }
    return true;
  }

  /// How operand v is read in a space of rows by columns; false when it needs a kernel of its own.
  constexpr bool find_access(int v, const plan_variable& space, int parts, int axis,
                             access& how) const {
    const plan_variable d = variables.items[v];
    const int rows = space.rows, columns = space.columns / parts;
    if (d.rows == 1 && d.columns == 1) return how = access::scalar, true;
    if (d.rows == rows && d.columns == 1 && parts == 1) {
      // Y has one number per row, unless the axis asks for another repetition.
      return how = access::column, axis <= 0;
    }
    if (axis == 1 && is_of_channels(v, space, axis))
      return how = of_channels(d.columns, columns), true;
    if (d.rows == 1 && d.columns == columns && space.variable >= 0) {
      // Y ends where X ends.
      const int rank = p.variables[v].rank;
      return how = access::row, axis < 0 || axis + rank == p.variables[space.variable].rank;
    }
    return false;
  }

  /// How one output of a pointwise operator is computed: its space, and the access of each input.
  struct form {
    int space;
    int rows, columns;  // of the space
    bool reduced;       // the output is the sum over the rows of the space
    bool panel;
    int parts;  // number of rows that each row of the space is computed in
    access how[8];
  };

  constexpr bool lower_pointwise(const operator_desc& op, int k) {
    const operator_schema schema = *op.schema;
    if (schema.has_lists && schema.inputs[0].duplicable) return lower_sum(op, k);
    const int n = schema.input_count, in = op.inputs, outputs = op.end - op.outputs;
    if (n > 8 || outputs > 4) return false;
    // With a division by a count of labels, the costs are not pointwise any more.
    if (op.attributes >= 0 && n >= 2 &&
        (is<sigmoid_cross_entropy_with_logits>(op) ||
         is<gradient_of<sigmoid_cross_entropy_with_logits>>(op)) &&
        attribute(op, 1) != 0)
      return false;
    if (n == 1 && schema.attribute_count == 3 && is<scale>(op) && attribute(op, 0) == 1 &&
        attribute(op, 1) == 0 && alias(argument(in), argument(op.outputs)))
      return true;
    const bool broadcast = schema.attribute_count == 1 && schema.scalars == 0;
    const int axis = broadcast ? static_cast<int>(attribute(op, 0)) : -1;
    if (axis == 1 && is_channel_sum(op) &&
        (argument(op.outputs) < 0 || alias(argument(in), argument(op.outputs))))
      return emit_channel_sums(same_sums(argument(in)), argument(op.outputs + 1), k), true;
    // Every output must be possible before the first is emitted.
    form forms[4];
    int out[4];
    for (int o = 0; o < outputs; ++o)
      if (out[o] = argument(op.outputs + o);
          out[o] >= 0 && !find_form(in, n, out[o], axis, forms[o]))
        return false;
    for (int o = 0; o < outputs; ++o)
      if (out[o] >= 0) emit_pointwise(op, k, in, n, out[o], o, forms[o]);
    return true;
  }

  /// Lets `to` share the memory of `from` when the program cannot distinguish them.
  constexpr bool alias(int from, int to) {
    const int r = root(from);
    if (r >= p.count.variables || changes(r) || changes(to)) return false;
    const variable_desc d = p.variables[r];
    if (d.persistable || d.kind == variable_kind::data ||
        variables.items[to].rows != variables.items[r].rows ||
        variables.items[to].columns != variables.items[r].columns ||
        p.variables[to].kind != variable_kind::gradient)
      return false;
    variables.items[to].root = r;
    variables.items[to].panel = variables.items[r].panel;
    variables.items[to].feeds = variables.items[from].feeds;
    return true;
  }

  /// The `n` inputs are the arguments from index `in` on.
  constexpr bool find_form(int in, int n, int out, int axis, form& f) const {
    const plan_variable made = variables.items[out];
    if (made.type != real) return false;
    // The space is that of the largest operand, which is the forward operator's X or Out.
    int best = out;
    plan_variable space = made;
    bool equal = true;  // all of them have one shape
    bool panel = false;
    for (int s = 0; s < n; ++s) {
      const int taken = p.arguments[in + s];
      if (taken < 0) return false;
      const plan_variable v = variables.items[taken];
      if (v.type != real) return false;
      f.how[s] = access::load;
      panel = panel || v.panel;
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
    f.parts = has_parts ? parts_of(in, n, best) : 1;
    for (int s = 0; !equal && s < n; ++s) {
      const int taken = p.arguments[in + s];
      const plan_variable v = variables.items[taken];
      if (v.rows == space.rows && v.columns == space.columns)
        f.how[s] = access::load, f.panel = f.panel || v.panel;
      else if (!find_access(taken, space, f.parts, axis, f.how[s]))
        return false;
    }
    f.reduced = made.rows != space.rows || made.columns != space.columns;
    if (changes(out)) f.panel = made.panel;
    // A gradient that is summed over the rows it was repeated for.
    return !f.reduced || (made.rows == 1 && made.columns * f.parts == space.columns &&
                          p.variables[out].kind == variable_kind::gradient);
  }
  /// The number of rows into which each row of the space, and of operands that fill it, is cut.
  constexpr int parts_of(int in, int n, int space) const {
    int parts = parts_of(space);
    for (int s = 0; parts == 1 && s < n; ++s) {
      const int v = p.arguments[in + s];
      if (variables.items[v].rows == variables.items[space].rows &&
          variables.items[v].columns == variables.items[space].columns)
        parts = parts_of(v);
    }
    return parts;
  }
  /// A gradient is cut in the same way as its variable.
  constexpr int parts_of(int v) const {
    if (variables.items[v].parts > 1 || v >= p.count.variables ||
        p.variables[v].kind != variable_kind::gradient)
      return variables.items[v].parts;
    return variables.items[p.variables[v].of].parts;
  }

  constexpr void emit_pointwise(const operator_desc& op, int k, int in, int n, int out, int o,
                                const form& f) {
    const bool reduced = f.reduced;
    const bool passes_gradient =
        n == 1 && op.schema->attribute_count == 1 && op.schema->scalars == 0 &&
        (is<gradient_of<elementwise_add>>(op) || (is<gradient_of<elementwise_sub>>(op) && o == 0));
    if (passes_gradient && !reduced && alias(p.arguments[in], out)) return;
    int source = -1;
    if (passes_gradient && reduced) {
      source = padded_rows(p.arguments[in], k);
    } else {
      int made = out;
      if (reduced) made = source = temporary(f.rows, f.columns, f.panel, -1);
      int taken[8];
      for (int s = 0; s < n; ++s) {
        int v = p.arguments[in + s];
        if (const bool panel = f.panel && f.how[s] == access::load;
            panel != variables.items[v].panel)
          v = in_layout(v, panel, k);
        if (f.how[s] != access::scalar && is_feed(variables.items[v].root)) v = padded_rows(v, k);
        taken[s] = v;
      }
      instruction i = begin(group_head::pointwise, *op.schema, o, k);
      for (int s = 0; s < n; ++s) use(taken[s], f.how[s]);
      for (int a = 0; a < op.schema->scalars; ++a) use(constant(attribute(op, a)), access::scalar);
      result(made);
      variables.items[made].panel = f.panel;
      if (f.parts > 1) cut(made, f.parts);
      i.rows = f.parts == 1 ? f.rows : rows_in_parts(f.rows, f.parts);
      i.columns = f.columns / f.parts;
      i.panel = f.panel;
      end(i);
    }
    if (!reduced) return;
    if (variables.items[source].panel) source = in_rows(source, k);
    instruction i = begin(group_head::reduce_rows, *op.schema, o, k);
    use(source, access::load);
    result(out);
    i.rows = 1;
    i.columns = f.columns / f.parts;
    i.depth = f.parts == 1 ? f.rows : rows_in_parts(f.rows, f.parts);
    end(i);
  }

  constexpr bool lower_sum(const operator_desc& op, int k) {
    const int n = argument(op.inputs);
    const int out = argument(op.outputs);
    if (n < 2 || variables.items[out].type != real) return false;
    int last = n - 1;
    while (block > 0 && last > 0 && is_collected(argument(op.inputs + 1 + last))) --last;
    if (last == 0) return true;
    bool panel = false;
    for (int i = 0; i < n; ++i) panel = panel || variables.items[argument(op.inputs + 1 + i)].panel;
    const int parts = has_parts ? parts_of(op.inputs + 1, n, out) : 1;
    if (changes(out)) panel = variables.items[out].panel;
    int so_far = -1;
    for (int i = 0; i <= last; ++i) {
      int v = argument(op.inputs + 1 + i);
      if (block > 0 && is_collected(v)) continue;
      v = in_layout(v, panel, k);
      if (is_feed(root(v))) v = padded_rows(v, k);
      if (i == 0) {
        so_far = v;
        continue;
      }
      const int made =
          i == last ? out
                    : temporary(variables.items[out].rows, variables.items[out].columns, panel, -1);
      instruction add = begin(group_head::pointwise, schema_of<elementwise_add>(), 0, k);
      use(so_far, access::load);
      use(v, access::load);
      variables.items[made].panel = panel;
      if (parts > 1) cut(made, parts);
      result(made);
      add.rows =
          parts == 1 ? variables.items[out].rows : rows_in_parts(variables.items[out].rows, parts);
      add.columns = variables.items[out].columns / parts;
      add.panel = panel;
      end(add);
      so_far = made;
    }
    return true;
  }
};

/// Lowers program P, whose variables are in `Shapes`.
template <class P, const lowered_program& Shapes>
constexpr lowered_program lowered_from() {
  lowered_program r = Shapes;
  lowering_facts facts;
  lowering(P::desc, r, facts).run();
  return r;
}

}  // namespace lamina::inline LAMINA_ABI
