// SPDX-License-Identifier: Apache-2.0
// lamina/plan/plan.hpp - program -> schedule: all passes, each a constexpr variable of its own.
// Why a variable a pass: clang limits the steps of one evaluation, not of their sum.
#pragma once

#include <lamina/plan/code.hpp>
#include <lamina/plan/lowering.hpp>
#include <lamina/plan/memory.hpp>
#include <lamina/program/program.hpp>

namespace lamina {

/// Variables that keep their value after a run.
template <int N>
struct pinned_list {
  int ids[at_least_one(N)];
  int count;
};

/// The schedule of a program: groups in order, their code, which of them are one kernel, and where
/// every variable lies. Everything is data; types come later (expression/).
template <program_type P>
struct plan {
  using program = P;

  static constexpr auto shapes =
      shapes_of<P::desc.count.variables, P::desc.count.parameters>(P::view());
  static constexpr lowered_counts lowered_size = [] {
    lowering l(P::view(), shapes.variables, shapes.gradients);
    l.run();
    return lowered_counts{l.variables.count, l.instructions.count, l.operands.count,
                          l.results.count,   l.constants.count,    P::desc.count.parameters};
  }();
  static constexpr lowered_program<lowered_size> lowered = [] {
    lowering l(P::view(), shapes.variables, shapes.gradients);
    l.run();
    lowered_program<lowered_size> r;
    freeze_items(r.variables, l.variables.items, lowered_size.variables);
    freeze_items(r.instructions, l.instructions.items, lowered_size.instructions);
    freeze_items(r.operands, l.operands.items, lowered_size.operands);
    freeze_items(r.results, l.results.items, lowered_size.results);
    freeze_items(r.constants, l.constants.items, lowered_size.constants);
    freeze_items(r.gradients, l.gradient, lowered_size.parameters);
    return r;
  }();

  static constexpr bool updates = [] {
    for (int k = 0; k < P::desc.count.operators; ++k)
      if (P::desc.operators[k].role == op_role::optimize) return true;
    return false;
  }();

  /// Outputs, the layers that the user named, and, where no update consumes them, the gradients of
  /// parameters.
  static constexpr auto pinned = [] {
    constexpr int most = P::desc.count.outputs + P::desc.count.names + P::desc.count.parameters + 1;
    pinned_list<most> r;
    for (int i = 0; i < most; ++i) r.ids[i] = 0;
    r.count = 0;
    for (int i = 0; i < P::desc.count.outputs; ++i) r.ids[r.count++] = P::desc.outputs[i];
    for (int i = 0; i < P::desc.count.names; ++i)
      if (P::desc.names[i].key == nullptr && P::desc.names[i].output >= 0)
        r.ids[r.count++] = P::desc.names[i].output;
    if (!updates)
      for (int i = 0; i < P::desc.count.parameters; ++i)
        if (lowered.gradients[i] >= 0) r.ids[r.count++] = lowered.gradients[i];
    return r;
  }();

  static constexpr auto assigned = assign_groups<P::desc.is_test, lowered>();
  static constexpr auto grouped = form_groups<lowered, assigned, pinned>();

  static constexpr code_counts code_size = [] {
    code_sink s;
    emit_code<lowered, grouped>(s);
    return code_counts{s.statements.count, s.operands.count, s.arguments.count, s.groups.count};
  }();
  static constexpr code_table<code_size> code = [] {
    code_sink s;
    emit_code<lowered, grouped>(s);
    code_table<code_size> r;
    freeze_items(r.statements, s.statements.items, code_size.statements);
    freeze_items(r.operands, s.operands.items, code_size.operands);
    freeze_items(r.arguments, s.arguments.items, code_size.arguments);
    freeze_items(r.groups, s.groups.items, code_size.groups);
    return r;
  }();

  static constexpr auto distinct = find_distinct<lowered, grouped, code>();
  static constexpr auto memory = place_variables<lowered, grouped>(P::view());

  static constexpr int groups = grouped.count;
  static constexpr int kernels = distinct.count;
  /// Bytes a row of the batch that the plan needs, and that every variable of its own would need.
  static constexpr long long planned_bytes = 4ll * memory.arena_width;
  static constexpr long long unshared_bytes = 4ll * memory.unshared_width;
};

}  // namespace lamina
