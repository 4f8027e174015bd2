// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/schedule/host_values.hpp - finds the numbers that control loops and branches,
// which the host computes when a program runs on a device.
//
// Loop counters, conditions that compare counters, and rank tables depend only on constants and on
// the lengths of sequences. The host knows both before any kernel runs. So it computes these values
// in host memory and walks through the blocks without waiting for the device; the kernels run
// asynchronously.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/control/block/definition.hpp>
#include <lamina/plan/plan.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// Whether the host code of a kernel reads operand `n`, preferably from host memory. Such an
/// operand is a condition that selects rows, the index of an array slot or a time step, or a rank
/// table.
constexpr bool is_taken_by_host(const operator_schema* schema, int n) {
  return n < 32 && (schema->facts.host_inputs >> n & 1u) != 0;
}
/// Whether the host may compute an operator. It does so if all inputs are host values, or if there
/// are no inputs. The result is sent to the device if a kernel needs it.
constexpr bool may_be_of_host(const operator_schema* schema) {
  return schema->facts.host != host_rule::never || schema->kind == operator_kind::pointwise;
}
/// Whether an operator makes a rank table, which lists sequences by descending length.
constexpr bool makes_ranks(const operator_schema* schema) {
  return schema->facts.origin == row_origin::ranks;
}

/// Returns the position of an instruction's first result that may be a host number. In
/// read_minibatch the results before it are the data that it reads.
constexpr int first_number(const instruction& i) {
  return i.schema->facts.reads_minibatch ? i.outputs + i.output_count - 1 : i.outputs;
}

/// For each plan variable: whether the host computes it (`computed`), and whether the device needs
/// its value too (`sent`).
template <int Variables>
struct host_values {
  bool computed[bound(Variables)];
  bool sent[bound(Variables)];
  bool waits;  // the host must read values from the device, such as a condition
  bool ranks;  // there are rank tables, so launches depend on the lengths of sequences

  /// Whether the host runs an instruction: it computes all of its results.
  template <class L>
  constexpr bool makes(const L& l, const instruction& i) const {
    if (i.runs >= 0 || i.head != fusion_anchor::call || i.output_count == 0) return false;
    for (int r = first_number(i); r < i.outputs + i.output_count; ++r)
      if (l.results[r] < 0 || !computed[l.variables[l.results[r]].root]) return false;
    return true;
  }
};

template <class P>
constexpr auto find_host_values() {
  using plan_type = plan<P>;
  constexpr const lowered_program& l = plan_type::lowered;
  constexpr int variables = l.count.variables;
  host_values<variables> r{};
  const auto root = [&](int v) { return v < 0 ? v : l.variables[v].root; };
  for (int v = 0; v < variables; ++v) {
    const plan_variable d = l.variables[v];
    const bool temporary =
        v >= counts_of<P>.variables || (P::desc.variables[v].kind == variable_kind::temporary &&
                                        !P::desc.variables[v].persistable);
    r.computed[v] = d.root == v && temporary && d.type != dtype::float32 &&
                    d.type != dtype::float64 && d.rows == 1 && d.columns == 1;
  }
  for (int k = 0; k < l.count.instructions; ++k) {
    const instruction i = l.instructions[k];
    if (!makes_ranks(i.schema)) continue;
    r.computed[root(l.results[i.outputs])] = r.ranks = true;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (int k = 0; k < l.count.instructions; ++k) {
      const instruction i = l.instructions[k];
      if (i.runs >= 0) continue;
      bool able = i.head == fusion_anchor::call && may_be_of_host(i.schema);
      if (i.schema->facts.host != host_rule::always)
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
      const bool condition = i.schema->facts.block != block_rule::loop_gradient;
      const int v = condition ? root(l.operands[i.inputs].id) : -1;
      r.waits = r.waits || (v >= 0 && l.variables[v].rows >= 0 && !r.computed[v]);
      continue;
    }
    const bool here = r.makes(l, i);
    r.waits = r.waits || i.schema->facts.host_waits || i.schema->facts.host_takes_part;
    for (int a = 0; !here && a < i.input_count; ++a) {
      const int v = root(l.operands[i.inputs + a].id);
      if (v < 0) continue;
      if (is_taken_by_host(i.schema, a)) {
        if (!r.computed[v]) r.waits = true;
      } else if (r.computed[v]) {
        r.sent[v] = true;
      }
    }
  }
  return r;
}

template <class P>
inline constexpr auto host_values_of = find_host_values<P>();

}}}  // namespace lamina::engine::cuda
