// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/row_pass_launch.hpp - a pass of few rows as a function that launches it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include <lamina/engine/cuda/launch.hpp>
#include <lamina/engine/cuda/row_pass.hpp>
#include <lamina/engine/cuda/row_pass_body.hpp>

namespace lamina::engine::cuda {

/// Groups that are launched together as call sites, by their numbers.
struct joined_sites {
  const void* memory;
  call_site (*of)(const void* memory, int group, const run_state&);

  call_site operator()(int group, const run_state& run) const { return of(memory, group, run); }
};

namespace detail {

/// Statement of group G of a plan that makes variable v; -1: the head does.
template <class Plan, int G>
constexpr int passing_statement(int v) {
  if (v < 0) return -1;
  const group_desc d = Plan::grouped.groups[G];
  int number = -1, statement = -1;
  for (int n = 0; n < d.count; ++n) {
    const instruction i = Plan::lowered.instructions[Plan::grouped.order[d.first + n]];
    const int made = Plan::lowered.variables[Plan::lowered.results[i.outputs]].root;
    // The head is a statement only where it is stored.
    if (n > 0 || Plan::grouped.stored[made]) ++statement;
    if (made == v) number = n > 0 ? statement : -1;
  }
  return number;
}

/// What a kernel is told of a group: its arrays.
template <class Arguments>
void tell_arrays(Arguments& g, const call_site& c) {
  constexpr int count = static_cast<int>(sizeof(g.of) / sizeof(g.of[0]));
  for (int i = 0; i < count; ++i) g.of[i] = c.arguments[i];
}
template <class Arguments>
void tell_link(Arguments& g, const call_site& c) {
  tell_arrays(g, c);
  g.weight_stride = c.info(1).stride;
  g.columns = c.group.columns;
  g.depth = c.group.depth;
}

/// What the products of a pass need of the shared memory of a team.
struct pass_needs {
  int columns = 0, weights = 0;
};

/// What a kernel is told of a step. The product whose parts a sum adds up is launched here.
template <class Step>
struct step_launch;
template <class S, int Value, bool Turned, bool Loads, bool Constant>
struct step_launch<row_product<S, Value, Turned, Loads, Constant>> {
  template <class Backend, class Arguments>
  static void tell(Backend&, const call_site& c, Arguments& g, pass_needs& needs) {
    tell_link(g, c);
    g.left_stride = c.info(0).stride;
    needs.columns = std::max(needs.columns, padded(g.columns));
    if (Turned) needs.weights += row_pass_room::weights(g.columns, g.depth);
  }
};
template <class S, int Value>
struct step_launch<row_part_sum<S, Value>> {
  template <class Backend, class Arguments>
  static void tell(Backend& b, const call_site& c, Arguments& g, pass_needs&) {
    tell_arrays(g, c);
    const auto p = product_launch<group_head::gemm, S>::template product_arguments<Backend>(c);
    g.part = c.run.scratch;
    g.step = static_cast<std::ptrdiff_t>(p.rows) * p.width;
    g.parts = run_parts<group_head::gemm>(b, p, c.run.scratch);
    g.columns = p.columns;
  }
};
template <class S>
struct step_launch<row_statements<S>> {
  template <class Backend, class Arguments>
  static void tell(Backend&, const call_site& c, Arguments& g, pass_needs&) {
    tell_arrays(g, c);
    g.width = padded(c.group.columns);
  }
};
template <class Op>
struct step_launch<row_call<Op>> {
  template <class Backend>
  static void tell(Backend&, const call_site& c, call_arguments& g, pass_needs&) {
    g.fault = c.run.fault;
    g.group = c.number_of_group;
    call_kernel<Op>::prepare(c, g);
  }
};

/// Launches a pass of so many rows; `groups`: those of its steps, in their order.
template <class... Steps>
struct row_pass_launch {
  template <class Backend>
  static void run(Backend& b, int rows, const run_state& run, const joined_sites& sites,
                  const int* groups) {
    using body = row_pass_body<Backend::row_threads, Steps...>;
    if (rows == 0) return;
    typename body::arguments g{};
    pass_needs needs;
    g.rows = rows;
    tell(b, g.steps, sites, run, groups, needs);
    g.weights_at = row_pass_room::weights_at(body::threads, needs.columns);
    g.all_words = g.weights_at + needs.weights;
    b.template teams<body>(g);
  }

 private:
  template <class Backend>
  static void tell(Backend&, chain_links<>&, const joined_sites&, const run_state&, const int*,
                   pass_needs&) {}
  template <class Backend, class Step, class... Rest>
  static void tell(Backend& b, chain_links<Step, Rest...>& steps, const joined_sites& sites,
                   const run_state& run, const int* group, pass_needs& needs) {
    step_launch<Step>::tell(b, sites(*group, run), steps.link, needs);
    tell(b, steps.rest, sites, run, group + 1, needs);
  }
};

}  // namespace detail

/// The launch of pass N of a plan.
template <class Plan, int N>
struct row_pass_of {
  static constexpr const auto& passes = Plan::passes;
  static constexpr int steps = passes.steps[N];

  struct group_list {
    int of[at_least_one(steps)];
  };
  static constexpr group_list make_list() {
    group_list r{};
    int n = 0;
    for (int g = passes.first[N]; n < steps; ++g)
      if (passes.pass[g] == N && passes.is_step(g)) r.of[n++] = g;
    return r;
  }
  static constexpr group_list list = make_list();

  template <int G>
  static consteval auto make_step() {
    using group = expression::group_of<Plan, G>;
    constexpr pass_step kind = passes.step[G];
    if constexpr (kind == pass_step::call) {
      return type_tag<row_call<typename detail::called_by<group>::type>>{};
    } else {
      using statements = typename detail::statements_of<group>::type;
      constexpr int value =
          passes.handed[G] < 0 ? no_value : detail::passing_statement<Plan, G>(passes.handed[G]);
      if constexpr (kind == pass_step::sum)
        return type_tag<row_part_sum<statements, value>>{};
      else if constexpr (kind == pass_step::statements)
        return type_tag<row_statements<statements>>{};
      else
        return type_tag<
            row_product<statements, value, Plan::grouped.groups[G].head == group_head::gemm_dx,
                        passes.loads[G], false>>{};
    }
  }
  template <int... K>
  static consteval auto make(std::integer_sequence<int, K...>) {
    return type_tag<detail::row_pass_launch<typename decltype(make_step<list.of[K]>())::type...>>{};
  }
  using type = typename decltype(make(std::make_integer_sequence<int, steps>{}))::type;
};

}  // namespace lamina::engine::cuda
