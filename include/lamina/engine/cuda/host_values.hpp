// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/host_values.hpp - what the host computes itself of a program with loops and
// branches at a place: the numbers that these go by.
//
// Counters, conditions that compare them and rank tables depend on constants and on the lengths of
// sequences alone, which the host knows before any kernel runs. So it computes them in its own
// memory, walks along the blocks without waiting, and kernels run behind it.
#pragma once

#include <lamina/operators/block_operators.hpp>
#include <lamina/operators/dropout.hpp>
#include <lamina/operators/fill.hpp>
#include <lamina/operators/print.hpp>
#include <lamina/operators/rank_table.hpp>
#include <lamina/operators/read_minibatch.hpp>
#include <lamina/operators/split_merge.hpp>
#include <lamina/optimizer/step_operators.hpp>
#include <lamina/plan/plan.hpp>

namespace lamina::engine::cuda {

/// Whether a kernel takes input `slot` from the host, if that has it: a condition of rows, the
/// number of a slot or of a step, a rank table.
constexpr bool is_taken_by_host(const operator_schema* schema, int slot) {
  if (schema == &schema_of<write_to_array>() || schema == &schema_of<read_from_array>() ||
      schema == &schema_of<write_to_array_gradient>() ||
      schema == &schema_of<lod_tensor_to_array>() || schema == &schema_of<array_to_lod_tensor>() ||
      schema == &schema_of<reorder_lod_tensor_by_rank>() || schema == &schema_of<last_rnn_memory>())
    return slot == 1;
  if (schema == &schema_of<read_from_array_gradient>() ||
      schema == &schema_of<gradient_of<reorder_lod_tensor_by_rank>>() ||
      schema == &schema_of<last_rnn_memory_gradient>())
    return slot == 0;
  return schema == &schema_of<shrink_rnn_memory>() && slot >= 1;
}
/// Whether it waits for them if the host has them not, where it does not fail.
constexpr bool waits_for_rows(const operator_schema* schema) {
  return schema == &schema_of<split_lod_tensor>();
}

/// Operators that the host does a part of each time: nothing stands for that in a graph.
constexpr bool is_done_with_host(const operator_schema* schema) {
  return schema == &schema_of<print>() || schema == &schema_of<read_minibatch>() ||
         schema == &schema_of<decayed_learning_rate>();
}

/// Operators that the host alone computes.
constexpr bool is_of_host(const operator_schema* schema) {
  return schema == &schema_of<read_minibatch>() || schema == &schema_of<lod_rank_table>() ||
         schema == &schema_of<max_sequence_len>() || schema == &schema_of<lod_array_length>();
}
/// Those that it computes where their inputs are its own.
constexpr bool may_be_of_host(const operator_schema* schema) {
  return is_of_host(schema) || schema->kind == operator_kind::pointwise ||
         schema == &schema_of<fill_constant>();
}

/// Operators whose numbers are others each time that they run.
constexpr bool draws_numbers(const operator_schema* schema) {
  return schema == &schema_of<dropout>() || schema == &schema_of<uniform_random>() ||
         schema == &schema_of<gaussian_random>() ||
         schema == &schema_of<truncated_gaussian_random>() ||
         schema == &schema_of<uniform_random_batch_size_like>() ||
         schema == &schema_of<gaussian_random_batch_size_like>();
}

/// The first result of an instruction that is a number of the host, if it makes any: those before
/// it are data that it reads.
constexpr int first_number(const instruction& i) {
  return i.schema == &schema_of<read_minibatch>() ? i.outputs + i.output_count - 1 : i.outputs;
}

/// By plan variable of program P: whether the host computes it, and whether the place needs it too.
template <int Variables, int Blocks>
struct host_values {
  bool computed[at_least_one(Variables)];
  bool sent[at_least_one(Variables)];
  bool node[at_least_one(Blocks)];  // by block: a recorded graph may run it without the host
  bool waits;                       // some condition or number of a slot is the place's
  bool ranks;                       // what is done depends on the lengths of sequences
  bool reads;                       // ... even where graphs run what they can
  bool lacks;                       // an operator that only the host computes needs what it has not

  /// Whether the host makes the call of an instruction.
  template <class L>
  constexpr bool makes(const L& l, const instruction& i) const {
    if (i.runs >= 0 || i.head != group_head::call || i.output_count == 0) return false;
    for (int r = first_number(i); r < i.outputs + i.output_count; ++r)
      if (l.results[r] < 0 || !computed[l.variables[l.results[r]].root]) return false;
    return true;
  }
};

namespace detail {

/// Whether a graph may run the block of an instruction as often as a condition at the place says:
/// each pass does the same with the same arrays. So it has no frames, no arrays of tensors, makes
/// no rows, and draws no random numbers.
template <class P, class L>
constexpr bool repeats_alike(const L& l, const instruction& block) {
  using plan_type = plan<P>;
  const bool loop = block.schema == &schema_of<while_block>();
  if (!loop && (block.schema == &schema_of<while_block_gradient>() ||
                l.variables[l.operands[block.inputs].id].rows < 0))
    return false;
  for (int b = 0; loop && b < P::desc.count.blocks; ++b)
    if (P::desc.blocks[b].forward_block == block.runs) return false;
  const auto plain = [&](int v) {
    if (v < 0) return true;
    const int root = l.variables[v].root;
    const memory_space space = plan_type::memory.slots[root].space;
    // Products of a loop's rows are not put aside here (collect_kernels.hpp).
    if (space == memory_space::array && root >= P::desc.count.variables) return true;
    return space != memory_space::array && space != memory_space::frame &&
           space != memory_space::view && plan_type::fed.of[domain_of_rows(l.variables[v].rows)];
  };
  for (int k = 0; k < l.count.instructions; ++k) {
    const instruction i = l.instructions[k];
    if (!is_inside(P::desc, i.block, block.runs)) continue;
    if (draws_numbers(i.schema) || is_of_host(i.schema) || is_done_with_host(i.schema))
      return false;
    if (i.runs >= 0 && !repeats_alike<P>(l, i)) return false;
    for (int a = i.inputs; a < i.inputs + i.input_count; ++a)
      if (!plain(l.operands[a].id)) return false;
    for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
      if (!plain(l.results[o])) return false;
  }
  return true;
}

}  // namespace detail

template <class P>
constexpr auto find_host_values() {
  using plan_type = plan<P>;
  constexpr const lowered_program& l = plan_type::lowered;
  constexpr int variables = l.count.variables;
  host_values<variables, P::desc.count.blocks> r{};
  const auto root = [&](int v) { return v < 0 ? v : l.variables[v].root; };
  for (int v = 0; v < variables; ++v) {
    const plan_variable d = l.variables[v];
    const bool temporary =
        v >= P::desc.count.variables || (P::desc.variables[v].kind == variable_kind::temporary &&
                                         !P::desc.variables[v].persistable);
    r.computed[v] = d.root == v && temporary && d.type != dtype::float32 &&
                    d.type != dtype::float64 && d.rows == 1 && d.columns == 1;
  }
  for (int k = 0; k < l.count.instructions; ++k) {
    const instruction i = l.instructions[k];
    if (i.schema != &schema_of<lod_rank_table>()) continue;
    // A table is made once a run, with a row for each sequence, and as many are fed.
    const int table = root(l.results[i.outputs]);
    const bool known = plan_type::fed.of[domain_of_rows(l.variables[table].rows)];
    r.computed[table] = known && plan_type::memory.slots[table].space != memory_space::frame;
    r.ranks = true;
  }
  bool alike[at_least_one(P::desc.count.blocks)] = {};
  for (int k = 0; k < l.count.instructions; ++k)
    if (l.instructions[k].runs >= 0)
      alike[l.instructions[k].runs] = detail::repeats_alike<P>(l, l.instructions[k]);
  const auto in_node = [&](int block) {
    for (; block > 0; block = P::desc.blocks[block].parent)
      if (r.node[block]) return true;
    return false;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (int k = 0; k < l.count.instructions; ++k) {
      const instruction i = l.instructions[k];
      if (i.runs < 0 || !alike[i.runs] || r.node[i.runs] ||
          r.computed[root(l.operands[i.inputs].id)])
        continue;
      r.node[i.runs] = changed = true;
    }
    for (int k = 0; k < l.count.instructions; ++k) {
      const instruction i = l.instructions[k];
      if (i.runs >= 0) continue;
      // What a graph decides to run the host cannot know.
      bool able = i.head == group_head::call && may_be_of_host(i.schema) && !in_node(i.block);
      if (i.schema != &schema_of<lod_rank_table>() && i.schema != &schema_of<lod_array_length>())
        for (int a = i.inputs; able && a < i.inputs + i.input_count; ++a)
          able = l.operands[a].id >= 0 && r.computed[root(l.operands[a].id)];
      for (int o = first_number(i); o < i.outputs + i.output_count; ++o)
        able = able && l.results[o] >= 0 && r.computed[root(l.results[o])];
      if (able) continue;
      for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
        if (const int v = root(l.results[o]); v >= 0 && r.computed[v])
          r.computed[v] = false, changed = true;
    }
  }
  for (int n = 0; n < plan_type::pinned.count; ++n) r.sent[root(plan_type::pinned.ids[n])] = true;
  for (int k = 0; k < l.count.instructions; ++k) {
    const instruction i = l.instructions[k];
    if (i.runs >= 0) {
      const bool condition = i.schema != &schema_of<while_block_gradient>();
      const int v = condition ? root(l.operands[i.inputs].id) : -1;
      const bool waits = v >= 0 && l.variables[v].rows >= 0 && !r.computed[v];
      r.waits = r.waits || waits;
      r.reads = r.reads || (waits && !r.node[i.runs]);
      continue;
    }
    const bool here = r.makes(l, i);
    r.lacks = r.lacks || (is_of_host(i.schema) && !here);
    if (waits_for_rows(i.schema) || is_done_with_host(i.schema)) r.waits = r.reads = true;
    for (int a = 0; !here && a < i.input_count; ++a) {
      const int v = root(l.operands[i.inputs + a].id);
      if (v < 0) continue;
      if (is_taken_by_host(i.schema, a)) {
        if (!r.computed[v]) r.waits = r.reads = true;
        // Nobody else knows what a table says.
        r.lacks = r.lacks || (!r.computed[v] && l.variables[v].rows < 0);
      } else if (r.computed[v]) {
        r.sent[v] = true;
      }
    }
  }
  return r;
}

template <class P>
inline constexpr auto host_values_of = find_host_values<P>();

}  // namespace lamina::engine::cuda
