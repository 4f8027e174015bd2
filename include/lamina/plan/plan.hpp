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

namespace detail {

template <class P>
constexpr bool has_updates() {
  for (int k = 0; k < P::desc.count.operators; ++k)
    if (P::desc.operators[k].role == op_role::optimize) return true;
  return false;
}

/// Outputs, the layers that the user named, and, where no update consumes them, the gradients of
/// parameters.
template <class P, const lowered_program& L, bool Updates>
constexpr auto find_pinned() {
  constexpr int most = P::desc.count.outputs + P::desc.count.names + P::desc.count.parameters + 1;
  pinned_list<most> r{};
  for (int i = 0; i < P::desc.count.outputs; ++i) r.ids[r.count++] = P::desc.outputs[i];
  for (int i = 0; i < P::desc.count.names; ++i)
    if (P::desc.names[i].key == nullptr && P::desc.names[i].output >= 0)
      r.ids[r.count++] = P::desc.names[i].output;
  if (!Updates)
    for (int i = 0; i < P::desc.count.parameters; ++i)
      if (L.gradients[i] >= 0) r.ids[r.count++] = L.gradients[i];
  return r;
}

/// A row domain that no data layer feeds, and that is in use; -1 if there is none. Sequences that
/// an operator makes have a length that nobody knows before it has run.
template <class P>
constexpr int domain_made_inside() {
  bool known[P::desc.count.domains] = {};
  known[once::domain] = known[batch::domain] = true;
  for (int i = 0; i < P::desc.count.data; ++i)
    for (int d = P::desc.variables[P::desc.data[i]].rows; d >= 0; d = P::desc.domains[d].parent)
      known[d] = true;
  for (int v = 0; v < P::desc.count.variables; ++v)
    if (!known[P::desc.variables[v].rows]) return P::desc.variables[v].rows;
  return -1;
}
template <class P, int... I>
auto domain_letters(std::integer_sequence<int, I...>)
    -> named<P::desc.characters[P::desc.domains[domain_made_inside<P>()].offset + I]...>;
template <class P, bool Known>
struct domain_name {
  using type = decltype(domain_letters<P>(
      std::make_integer_sequence<int, P::desc.domains[domain_made_inside<P>()].length>{}));
};
template <class P>
struct domain_name<P, true> {
  using type = named<>;
};

}  // namespace detail

/// The schedule of a program: groups in order, their code, which of them are one kernel, and where
/// every variable lies. Everything is data; types come later (expression/).
template <program_type P>
struct plan {
  using program = P;
  static_assert(P::desc.count.blocks == 1,
                "lamina: plan: the engine runs programs without loops and branches only");
  static constexpr bool rows_are_fed = detail::domain_made_inside<P>() < 0;
  static_assert(check<rows_are_fed, typename detail::domain_name<P, rows_are_fed>::type>,
                "lamina: plan: the engine knows the length of sequences only when they are fed");

  static constexpr lowered_program shapes = shapes_of<P>();
  static constexpr lowered_program lowered = lowered_from<P, shapes>();
  static constexpr bool updates = detail::has_updates<P>();
  static constexpr auto pinned = detail::find_pinned<P, lowered, updates>();

  static constexpr auto assigned = assign_groups<P::desc.is_test, lowered>();
  static constexpr auto grouped = form_groups<lowered, assigned, pinned>();

  static constexpr code_table code = emit_code<lowered, grouped>();

  static constexpr auto distinct = find_distinct<lowered, grouped, code>();
  static constexpr auto memory = place_variables<P, lowered, grouped>();

  static constexpr int groups = grouped.count;
  static constexpr int kernels = distinct.count;
  /// Bytes a row of the batch that the plan needs, and that every variable of its own would need.
  static constexpr long long planned_bytes = 4ll * memory.width();
  static constexpr long long unshared_bytes = 4ll * memory.unshared_width;
};

}  // namespace lamina
