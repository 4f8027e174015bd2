// SPDX-License-Identifier: Apache-2.0
// lamina/plan/run_time_tables.hpp - what run-time code may read of a program and its plan.
//
// Why copies: naming one element of a constexpr object at run time puts the whole object into the
// binary, and with it every function that it refers to. Recorded programs and plans refer to the
// gradient rules of all their operators; these tables refer to nothing that is not needed.
#pragma once

#include <lamina/plan/plan.hpp>

namespace lamina {

namespace detail {
template <program_type P>
constexpr auto freeze_bare() {
  auto d = freeze<P::desc.count>(P::desc);
  for (int k = 0; k < P::desc.count.operators; ++k)
    d.operators[k].schema = P::desc.operators[k].schema->bare;
  for (int k = 0; k < P::desc.count.startup; ++k)
    d.startup[k].schema = P::desc.startup[k].schema->bare;
  return d;
}
}  // namespace detail

/// A program whose operators refer to schemas without functions.
template <program_type P>
struct run_time_program {
  static constexpr auto desc = detail::freeze_bare<P>();
  static constexpr program_view view = view_of(desc);
};

/// A variable of a program in memory.
struct variable_place {
  memory_slot slot;
  int rows, columns;  // rows -1: the batch
  int stride;         // elements from row to row
  dtype type;
  bool panel;
};

/// How plan variable v of a plan lies.
template <class Plan>
constexpr variable_place place_of(int v) {
  using P = typename Plan::program;
  const plan_variable& d = Plan::lowered.variables[v];
  const bool raw = v < P::desc.count.variables && P::desc.variables[v].kind == variable_kind::data;
  return {Plan::memory.slots[v],
          d.rows,
          d.columns,
          raw ? d.columns : row_width(d) * 4 / size_of(d.type),
          d.type,
          d.panel};
}

/// Where the variables of a program lie.
template <program_type P>
struct variable_table {
  struct table_type {
    variable_place of[at_least_one(P::desc.count.variables)];
  };
  static constexpr table_type make() {
    table_type t{};
    for (int v = 0; v < P::desc.count.variables; ++v)
      t.of[v] = place_of<plan<P>>(plan<P>::lowered.variables[v].root);
    return t;
  }
  static constexpr table_type table = make();
};

/// How the parameters of a program lie: the same for every plan of the program.
struct parameter_place {
  int rows, columns;
  bool panel;
};
template <program_type P>
struct parameter_table {
  struct table_type {
    parameter_place of[at_least_one(P::desc.count.parameters)];
  };
  static constexpr table_type make() {
    table_type t{};
    for (int i = 0; i < P::desc.count.parameters; ++i) {
      const variable_desc& d = P::desc.variables[P::desc.parameters[i].variable];
      const matrix_shape m = matrix_of(d, P::desc.dims);
      t.of[i] = {m.rows, m.columns, is_weight(d)};
    }
    return t;
  }
  static constexpr table_type table = make();
};

/// Where a plan keeps the gradients of parameters; none: no gradient reaches the parameter.
template <program_type P>
struct gradient_table {
  struct table_type {
    memory_slot of[at_least_one(P::desc.count.parameters)];
  };
  static constexpr table_type make() {
    table_type t{};
    for (int i = 0; i < P::desc.count.parameters; ++i) {
      const int g = plan<P>::lowered.gradients[i];
      t.of[i] = g < 0 ? memory_slot{memory_space::none, -1}
                      : plan<P>::memory.slots[plan<P>::lowered.variables[g].root];
    }
    return t;
  }
  static constexpr table_type table = make();
};

/// The first values of a plan's constants.
template <program_type P>
struct constant_table {
  struct table_type {
    float of[at_least_one(plan<P>::lowered.count.constants)];
  };
  static constexpr table_type make() {
    table_type t{};
    copy_items(t.of, plan<P>::lowered.constants, plan<P>::lowered.count.constants);
    return t;
  }
  static constexpr table_type table = make();
};

}  // namespace lamina
