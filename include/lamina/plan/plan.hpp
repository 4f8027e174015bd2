// SPDX-License-Identifier: Apache-2.0
// lamina/plan/plan.hpp - makes the schedule of a program. Each pass is a separate constexpr
// variable, because clang limits the steps of each evaluation, but not of all evaluations together.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/plan/array_views.hpp>
#include <lamina/plan/code.hpp>
#include <lamina/plan/lowering.hpp>
#include <lamina/plan/memory.hpp>
#include <lamina/plan/quotient.hpp>
#include <lamina/program/program.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The variables that keep their values after a run.
template <int N>
struct pinned_list {
  int ids[bound(N)];
  int count;
};

namespace detail {

template <class P>
constexpr bool has_updates() {
  for (int k = 0; k < P::desc.count.operators; ++k)
    if (P::desc.operators[k].schema->kind == operator_kind::update) return true;
  return false;
}

/// Whether a variable is a single real number.
template <class P>
constexpr bool is_number(int v) {
  const variable_desc& d = P::desc.variables[v];
  return d.rows == 0 && d.rank == 1 && P::desc.dims[d.dims] == 1 && is_floating(d.type);
}

/// Finds the variables that must keep their values: the outputs, the layers that the user named,
/// and the numerator and denominator of a cost or metric that is a quotient of sums. Without
/// `Updates`, also the gradients of parameters and of data, which the caller reads.
template <class P, const lowered_program& L, bool Updates>
constexpr auto find_pinned() {
  constexpr int most = P::desc.count.outputs + 5 * P::desc.count.names + P::desc.count.parameters +
                       P::desc.count.data + 5;
  pinned_list<most> r{};
  for (int i = 0; i < P::desc.count.outputs; ++i) r.ids[r.count++] = P::desc.outputs[i];
  for (int i = 0; i < P::desc.count.names; ++i)
    if (P::desc.names[i].key == nullptr && P::desc.names[i].output >= 0 &&
        P::desc.variables[P::desc.names[i].output].block == 0)
      r.ids[r.count++] = P::desc.names[i].output;
  const auto pin_sums = [&](int v) {
    if (v < 0 || !is_number<P>(v) || P::desc.variables[v].block != 0) return;
    quotient_of(P::desc, v).each([&](int part) {
      if (P::desc.variables[part].block == 0) r.ids[r.count++] = part;
    });
  };
  pin_sums(P::desc.cost);
  for (int i = 0; i < P::desc.count.names; ++i)
    if (P::desc.names[i].key == nullptr && P::desc.names[i].output != P::desc.cost)
      pin_sums(P::desc.names[i].output);
  if (Updates) return r;
  for (int i = 0; i < P::desc.count.parameters; ++i)
    if (L.gradients[i] >= 0) r.ids[r.count++] = L.gradients[i];
  for (int v = 0; v < P::desc.count.variables; ++v) {
    const variable_desc& d = P::desc.variables[v];
    if (d.kind == variable_kind::gradient && d.number < 0 && d.block == 0 &&
        P::desc.variables[d.of].kind == variable_kind::data)
      r.ids[r.count++] = v;
  }
  return r;
}

/// By row domain: whether the number of its rows is known as soon as the data are fed. For other
/// domains an operator determines it: the rows that a condition selects, the rows of one time step,
/// or sequences with new lengths.
template <int Domains>
struct fed_domains {
  bool of[bound(Domains)];
  // By row domain: whether its rows change during a run. They do if a loop carries sequences whose
  // lengths it computes: an `assign` then sets the rows in each iteration.
  bool changes[bound(Domains)];
  constexpr bool all() const {
    for (const bool known : of)
      if (!known) return false;
    return true;
  }
};
template <class P>
constexpr auto find_fed() {
  fed_domains<P::desc.count.domains> r{};
  r.of[once::domain] = r.of[batch::domain] = true;
  for (int i = 0; i < P::desc.count.data; ++i)
    for (int d = P::desc.variables[P::desc.data[i]].rows; d >= 0; d = P::desc.domains[d].parent)
      r.of[d] = true;
  for (int k = 0; k < P::desc.count.operators; ++k) {
    if (P::desc.operators[k].schema->facts.origin != row_origin::handed_over) continue;
    const operator_desc op = P::desc.operators[k];
    int from = P::desc.variables[P::desc.arguments[op.inputs]].rows;
    int to = P::desc.variables[P::desc.arguments[op.outputs]].rows;
    for (; from != to && from >= 0 && to >= 0;
         from = P::desc.domains[from].parent, to = P::desc.domains[to].parent)
      r.changes[to] = true;
  }
  return r;
}

}  // namespace detail

/// The schedule of a program: groups in order, their code, the groups that share a kernel, and the
/// position of every variable. The members are data only; expression/ converts the groups to C++
/// types.
template <program_type P>
struct plan {
  using program = P;
  static constexpr int blocks = P::desc.count.blocks;
  static constexpr auto fed = detail::find_fed<P>();

  static constexpr lowered_program shapes = shapes_of<P>();
  static constexpr lowered_program lowered = lowered_from<P, shapes>();
  static constexpr bool updates = detail::has_updates<P>();
  static constexpr auto pinned = detail::find_pinned<P, lowered, updates>();

  static constexpr auto assigned = assign_groups<P::desc.is_test, blocks, lowered>();
  static constexpr auto grouped = form_groups<blocks, lowered, assigned, pinned>();

  static constexpr code_table code = emit_code<lowered, grouped>();

  static constexpr auto distinct = find_distinct<lowered, grouped, code>();
  static constexpr auto loops = find_loops<P, lowered>();
  static constexpr auto reach = find_reach<P, lowered, loops>();
  static constexpr auto views = find_views<P, lowered, loops, reach>();
  static constexpr auto same = find_aliasing<P, lowered, grouped>();
  static constexpr auto memory = plan_memory<P, lowered, grouped, reach, views, same>();

  static constexpr int groups = grouped.count;
  static constexpr int kernels = distinct.count;
  /// Bytes of memory per row of the batch, with and without memory sharing.
  static constexpr long long planned_bytes = 4ll * memory.width();
  static constexpr long long unshared_bytes = 4ll * memory.unshared_width;
};

}}  // namespace lamina
