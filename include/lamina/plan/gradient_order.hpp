// SPDX-License-Identifier: Apache-2.0
// lamina/plan/gradient_order.hpp - after which group of the schedule the gradient of each parameter
// is complete.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/plan/plan.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// When a parameter's gradient is complete, and when the parameter is read for the last time. A
/// time is the number of a group in the outermost block of the schedule; a group inside of a loop
/// or a branch counts as the group that runs the loop or branch.
struct gradient_times {
  int complete;   // the last group that writes the gradient; -1: the parameter is not updated
  int last_read;  // the last group that reads the parameter itself; -1: none
};

/// The times of all parameters of training program P, in which an update consumes each gradient.
/// Communication of a gradient may start after group `complete`; the parameter may change after
/// group `last_read`.
template <program_type P>
struct gradient_order {
  struct table_type {
    gradient_times of[bound(P::desc.count.parameters)];
    int groups;  // number of groups of the outermost block, which come first in the schedule
  };

  /// Returns the group of the outermost block that is group g or runs the block of group g.
  static constexpr int outermost(int g) {
    using plan_type = plan<P>;
    for (int b = plan_type::grouped.groups[g].block; b != 0; b = plan_type::grouped.groups[g].block)
      for (int k = 0; k < plan_type::lowered.count.instructions; ++k)
        if (plan_type::lowered.instructions[k].runs == b) g = plan_type::assigned.group[k];
    return g;
  }

  static constexpr table_type make() {
    constexpr const lowered_program& l = plan<P>::lowered;
    table_type t{};
    for (gradient_times& of : t.of) of = {-1, -1};
    for (int g = 0; g < plan<P>::groups; ++g)
      if (plan<P>::grouped.groups[g].block == 0) t.groups = g + 1;
    // Returns the parameter that plan variable v is, or whose memory v shares; -1 if there is none.
    const auto parameter = [](int v) {
      constexpr const lowered_program& of = plan<P>::lowered;
      if (v < 0) return -1;
      const int variable = of.variables[of.variables[v].root].variable;
      if (variable < 0 || P::desc.variables[variable].kind != variable_kind::parameter) return -1;
      return P::desc.variables[variable].index;
    };
    const auto raise = [](int& to, int g) { to = to < g ? g : to; };
    for (int k = 0; k < l.count.instructions; ++k) {
      const instruction& i = l.instructions[k];
      const bool updates = i.schema->kind == operator_kind::update;
      if (updates)
        raise(t.of[parameter(l.operands[i.inputs].id)].complete,
              outermost(plan<P>::assigned.group[k]));
      // Instructions of inner blocks are skipped, because the instruction that runs a block has as
      // operands all outer variables that the block reads.
      if (i.block != 0) continue;
      for (int a = updates ? i.inputs + 1 : i.inputs; a < i.inputs + i.input_count; ++a)
        if (const int p = parameter(l.operands[a].id); p >= 0)
          raise(t.of[p].last_read, plan<P>::assigned.group[k]);
    }
    // An array may hold the address of a parameter instead of a copy, so any later group may read
    // the parameter.
    if constexpr (plan<P>::views.count > 0)
      for (gradient_times& of : t.of) of.last_read = t.groups - 1;
    return t;
  }
  static constexpr table_type table = make();
};

}}  // namespace lamina
