// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/block/lowering.hpp - lowers a loop or a branch to one instruction for
// the whole block; values that an iteration only passes on need no instruction.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/control/block/definition.hpp>
#include <lamina/operators/control/rank_table/definition.hpp>
#include <lamina/operators/elementwise/assign/definition.hpp>
#include <lamina/operators/pool/pool2d/lowering.hpp>

namespace lamina::inline LAMINA_ABI {

/// Lowers operators that run a block.
struct block_lowering : pool_lowering {
  using pool_lowering::pool_lowering;

 protected:
  /// Lowers an operator that runs a block: its operands and results are the variables of other
  /// blocks that the instructions of the block and of nested blocks read and write, and its
  /// condition.
  constexpr void lower_block(const operator_desc& op, int k) {
    const int inner = sub_block_of(p, op);
    const auto& of = variables.items;
    const auto& steps = instructions.items;
    const auto& operands_of = operands.items;
    const auto& results_of = results.items;
    const int made = variables.count, end = instructions.count;
    bool read[lowered_limits.variables], written[lowered_limits.variables];
    for (int v = 0; v < made; ++v) read[v] = written[v] = false;
    instruction i = begin(group_head::call, *op.schema, 0, k);
    i.runs = inner;
    const int condition = condition_of(p, op);
    if (condition >= 0) read[root(condition)] = true, use(condition, access::load);
    for (int at = first_inside(inner); at < end; ++at) {
      const instruction from = steps[at];
      const int here = from.block;
      if (here != inner && !is_inside(p, here, inner)) continue;
      for (int a = from.inputs, last = a + from.input_count; a < last; ++a) {
        const int id = operands_of[a].id;
        if (id < 0) continue;
        const int v = of[id].root;
        if (of[v].block == here || read[v] || is_inside(p, of[v].block, inner)) continue;
        read[v] = true;
        use(v, access::load);
      }
      for (int r = from.outputs, last = r + from.output_count; r < last; ++r) {
        const int id = results_of[r];
        if (id < 0) continue;
        const int v = of[id].root;
        if (of[v].block == here || written[v] || is_inside(p, of[v].block, inner)) continue;
        written[v] = true;
        result(v);
      }
    }
    end_block(i);
    finish_products(k);
  }
  constexpr int first_inside(int inner) const {
    const int count = instructions.count;
    for (int i = 0; i < count; ++i)
      if (const int of = instructions.items[i].block; of >= inner && is_inside(p, of, inner))
        return i;
    return count;
  }
  constexpr void end_block(instruction& i) {
    // Copies of what the block has changed are out of date.
    for (int r = i.outputs; r < results.count; ++r)
      if (results.items[r] < p.count.variables) copy_of[results.items[r]] = -1;
    end(i);
  }

  /// Whether dW of a product is only used in a sum over the iterations of loops: then one product
  /// over the rows of many iterations replaces it.
  constexpr bool collect(int x, int d, int dw, int k) {
    if (!many || summed[dw] < 0) return false;
    const int sum = summed[dw];
    const plan_variable to = variables.items[sum];
    if (!to.panel || to.root != sum || to.rows != variables.items[dw].rows ||
        to.columns != variables.items[dw].columns || is_inside(p, to.block, block))
      return false;
    const int here = block;
    block = to.block;
    const int xs = rows_aside(to.rows), ds = rows_aside(to.columns);
    block = here;
    instruction i = begin(group_head::call, schema_of<collect_product>(), 0, k);
    for (const int v : {x, d, sum}) use(v, access::load);
    for (const int v : {xs, ds, sum}) result(v);
    end(i);
    products.push({sum, xs, ds});
    summed[dw] = collected;
    return true;
  }
  constexpr bool is_collected(int v) const { return summed[v] == collected; }
  /// After a block operator: finishes the products in it whose sums belong to this block.
  constexpr void finish_products(int k) {
    int left = 0;
    for (int n = 0; n < products.count; ++n) {
      const collected_sum s = products[n];
      if (variables.items[s.sum].block != block) {
        products[left++] = s;
        continue;
      }
      instruction i = begin(group_head::call, schema_of<collected_product>(), 0, k);
      for (const int v : {s.xs, s.ds, s.sum}) use(v, access::load);
      result(s.sum);
      end(i);
    }
    products.count = left;
  }
  // An array of the plan's own: a variable without rows.
  constexpr int rows_aside(int columns) { return temporary(0, columns, false, -1); }

  static constexpr int collected = -3;  // replaces the variable to which another would be added
  struct collected_sum {
    int sum, xs, ds;
  };
  constexpr_vector<collected_sum> products{};

  /// The gradient of shrink_rnn_memory is that of its result and zeros for the other rows. If it is
  /// only added to an array, whose slots count as zeros beyond their rows, no zeros are needed: it
  /// is the gradient of the result itself.
  constexpr bool pass_rows(const operator_desc& op, int k) {
    if (block == 0 || !is<gradient_of<shrink_rnn_memory>>(op) || k + 1 >= p.count.operators)
      return false;
    const operator_desc& next = p.operators[k + 1];
    const int d = argument(op.inputs + 1), dx = argument(op.outputs);
    if (dx < 0 || !is<read_from_array_gradient>(next) || next.block != op.block ||
        argument(next.inputs + 1) != dx || changes(dx) || variables.items[root(d)].panel ||
        p.domains[domain_of_rows(variables.items[dx].rows)].kind != domain_kind::step)
      return false;
    variables.items[dx].root = root(d);
    return true;
  }

  /// If the end of an iteration gives a variable other rows, a call hands these rows to its domain.
  constexpr bool hand_over_rows(const operator_desc& op, int k) {
    const int from = argument(op.inputs), to = argument(op.outputs);
    if (variables.items[from].rows == variables.items[to].rows) return false;
    emit_call(schema_of<rows_hand_over>(), {from}, {to}, k);
    return true;
  }

  /// At the end of an iteration a counter or a condition gets its next value. No copy is needed if
  /// that value can be computed in place of the previous one, because no operator reads the
  /// previous one any more.
  constexpr bool hand_over(const operator_desc& op) {
    const int from = argument(op.inputs), to = argument(op.outputs);
    const plan_variable& f = variables.items[from];
    const plan_variable& t = variables.items[to];
    if (from >= p.count.variables || is_real(f.type) || f.type != t.type || f.rows != t.rows ||
        f.columns != t.columns || f.block != block || t.block == block || f.root != from ||
        changes(from) || escapes[from])
      return false;
    for (int i = instructions.count; i-- > 0;) {
      const instruction& before = instructions.items[i];
      for (int r = before.outputs; r < before.outputs + before.output_count; ++r)
        if (results.items[r] == from) {
          if (before.block != block || before.schema->kind != operator_kind::pointwise)
            return false;
          variables.items[from].root = root(to);
          return true;
        }
      for (int a = before.inputs; a < before.inputs + before.input_count; ++a)
        if (operands.items[a].id >= 0 && root(operands.items[a].id) == root(to)) return false;
    }
    return false;
  }
};

}  // namespace lamina::inline LAMINA_ABI
