// SPDX-License-Identifier: Apache-2.0
// lamina/plan/run_time_tables.hpp - tables of a program and its plan for run-time code.
//
// The tables are copies of members of `program` and `plan`. If run-time code names one element of a
// constexpr object, the whole object is put into the binary, with every function to which it
// refers. Recorded programs and plans refer to the gradient rules of all their operators; the
// tables here refer only to the functions that are needed.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/plan/copy_operator.hpp>
#include <lamina/plan/plan.hpp>
#include <lamina/plan/real_type.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {
template <program_type P>
constexpr program_desc collect_startup() {
  program_desc made = P::desc;
  made.count.operators = made.count.arguments = made.count.attributes = 0;
  for (int k = 0; k < P::desc.count.startup; ++k)
    made.startup[k] = copy_operator(made, P::desc, P::desc.startup[k]);
  return made;
}
}  // namespace detail

/// A program without its operators: variables, names, parameters, and their initial values.
template <program_type P>
struct run_time_program {
  static constexpr program_desc collected = detail::collect_startup<P>();
  static constexpr auto desc = freeze<collected.count>(collected);
  static constexpr program_view view = view_of(desc);
};

/// The memory layout of a variable of a program.
struct variable_layout {
  memory_slot slot;
  int rows, columns;  // rows below 0: minus the number of the row domain
  int stride;         // elements from row to row; 0: a sparse gradient (selected rows)
  dtype type;
  bool panel;
};

/// Returns the layout of plan variable v.
template <class Plan>
constexpr variable_layout layout_of(int v) {
  using P = typename Plan::program;
  const plan_variable d = Plan::lowered.variables[v];
  const bool raw = v < P::desc.count.variables && P::desc.variables[v].kind == variable_kind::data;
  const bool selected = Plan::memory.slot_of[v].space == memory_space::rows;
  return {Plan::memory.slot_of[v],
          d.rows,
          d.columns,
          raw        ? d.columns
          : selected ? 0
                     : row_width(d) * 4 / size_of(d.type),
          d.type,
          d.panel};
}

/// Returns the position of argument `a` of a plan's code. The argument is a variable, the scalar
/// arguments of an update, or empty (space `none`).
template <class Plan>
constexpr memory_slot slot_of_argument(int a) {
  const int v = Plan::code.arguments[a];
  const argument_use use = Plan::code.uses[a];
  if (v < 0)
    return {use == argument_use::numbers ? memory_space::numbers : memory_space::none, 0,
            is_constant(v) ? constant_index(v) : -1};
  memory_slot slot = Plan::memory.slot_of[v];
  if (use == argument_use::updated) slot.space = memory_space::updated;
  return slot;
}

/// The layout of variable V of a program in plan `Plan`. An engine may have its own plan.
template <program_type P, int V, class Plan = plan<P>>
inline constexpr variable_layout layout_of_variable =
    layout_of<Plan>(Plan::lowered.variables[V].root);

/// Whether variable V of a program still has its value after a run. If the variable is neither
/// returned nor named, its memory may be reused for other variables after its last reader.
template <program_type P, int V>
inline constexpr bool keeps_value = [] {
  constexpr int v = plan<P>::lowered.variables[V].root;
  constexpr memory_space space = plan<P>::memory.slot_of[v].space;
  constexpr int last = plan<P>::grouped.last[v];
  return space != memory_space::none &&
         (space != memory_space::arena || last < plan<P>::grouped.producer[v] ||
          last >= plan<P>::grouped.count);
}();

/// The layouts of the variables that run-time code looks up by number: variables that are returned
/// or named, and persistent variables other than parameters and accumulators. The table is sorted
/// by number.
template <program_type P, class Plan = plan<P>>
struct variable_table {
  static constexpr int find_kept(int* ids) {
    // One flag per variable avoids a search of the pinned variables for each variable.
    bool* kept = new bool[static_cast<unsigned>(P::desc.count.variables) + 1];
    for (int v = 0; v < P::desc.count.variables; ++v)
      kept[v] = P::desc.variables[v].persistable &&
                P::desc.variables[v].kind != variable_kind::parameter &&
                P::desc.variables[v].kind != variable_kind::accumulator;
    for (int i = 0; i < Plan::pinned.count; ++i)
      if (Plan::pinned.ids[i] < P::desc.count.variables) kept[Plan::pinned.ids[i]] = true;
    int n = 0;
    for (int v = 0; v < P::desc.count.variables; ++v)
      if (kept[v]) {
        if (ids != nullptr) ids[n] = v;
        ++n;
      }
    delete[] kept;
    return n;
  }
  static constexpr int count = find_kept(nullptr);
  struct table_type {
    int ids[bound(count)];
    variable_layout of[bound(count)];
  };
  static constexpr table_type make() {
    table_type t{};
    find_kept(t.ids);
    for (int i = 0; i < count; ++i)
      t.of[i] = layout_of<Plan>(Plan::lowered.variables[t.ids[i]].root);
    return t;
  }
  static constexpr table_type table = make();

  /// Returns the layout of a variable; null if the variable is not in the table.
  static constexpr const variable_layout* find(int variable) {
    int first = 0, end = count;
    while (first < end) {
      const int middle = (first + end) / 2;
      if (table.ids[middle] < variable)
        first = middle + 1;
      else
        end = middle;
    }
    return first < count && table.ids[first] == variable ? &table.of[first] : nullptr;
  }
};

/// The layouts of a program's parameters. They are the same in all plans of the program.
struct parameter_layout {
  int rows, columns;
  bool panel;
};
template <program_type P>
struct parameter_table {
  struct table_type {
    parameter_layout of[bound(P::desc.count.parameters)];
  };
  static constexpr table_type make() {
    table_type t{};
    for (int i = 0; i < P::desc.count.parameters; ++i) {
      const variable_desc d = P::desc.variables[P::desc.parameters[i].variable];
      const matrix_shape m = matrix_of(d, P::desc.dims);
      t.of[i] = {m.rows, m.columns, is_weight(d)};
    }
    return t;
  }
  static constexpr table_type table = make();
};

/// The position of each parameter's gradient in a plan. The space is `none` if no gradient reaches
/// the parameter.
template <program_type P>
struct gradient_table {
  struct table_type {
    memory_slot of[bound(P::desc.count.parameters)];
  };
  static constexpr table_type make() {
    table_type t{};
    for (int i = 0; i < P::desc.count.parameters; ++i) {
      const int g = plan<P>::lowered.gradients[i];
      t.of[i] = g < 0 ? memory_slot{memory_space::none, 0, -1}
                      : plan<P>::memory.slot_of[plan<P>::lowered.variables[g].root];
    }
    return t;
  }
  static constexpr table_type table = make();
};

/// By parameter: the index of its sparse gradient among the selected rows of the memory plan; -1 if
/// the parameter has a dense gradient or none.
template <program_type P>
struct rows_gradient_table {
  struct table_type {
    int of[bound(P::desc.count.parameters)];
  };
  static constexpr table_type make() {
    table_type t{};
    for (int& i : t.of) i = -1;
    for (int v = 0; v < P::desc.count.variables; ++v) {
      const variable_desc d = P::desc.variables[v];
      if (d.kind == variable_kind::selected_rows && d.number < 0 && d.of >= 0)
        t.of[P::desc.variables[d.of].index] = plan<P>::memory.slot_of[v].offset;
    }
    return t;
  }
  static constexpr table_type table = make();
};

/// The initial values of a plan's constants.
template <program_type P>
struct constant_table {
  struct table_type {
    real_of<P> of[bound(plan<P>::lowered.count.constants)];
  };
  static constexpr table_type make() {
    table_type t{};
    for (int i = 0; i < plan<P>::lowered.count.constants; ++i)
      t.of[i] = static_cast<real_of<P>>(plan<P>::lowered.constants[i]);
    return t;
  }
  static constexpr table_type table = make();
};

}}  // namespace lamina
