// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/schedule/host_table.hpp - a compile-time table of the numbers and rank tables
// that the host computes when a program with loops and branches runs on a device.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/common/block_schedule.hpp>
#include <lamina/engine/cuda/schedule/host_values.hpp>
#include <lamina/engine/cuda/schedule/schedule_table.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// Tells which groups of program P the host runs, and which arguments it computes.
template <class P, class Backend>
struct host_table {
  using plan_type = plan<P>;
  using schedule = schedule_table<P, Backend>;
  using blocks = block_schedule<P, schedule>;
  static constexpr const auto& values = host_values_of<P>;
  static constexpr int arguments = schedule::arguments;
  static constexpr int domains = counts_of<P>.domains;

  struct frame_number {
    int argument, word;
  };
  struct rank_arguments {
    list_range arguments;
    int width;       // words per row
    int loop, word;  // the loop whose frames keep the table, or -1; the address's word
  };
  struct table_type {
    bool here[bound(schedule::groups)];   // by group: whether the host runs it
    bool inner[bound(schedule::groups)];  // by group: whether it is in a loop or branch
    bool sent[bound(arguments)];          // by argument: a host result that the device needs
    int number[bound(arguments)];         // by argument: index of its host number, or -1
    list_range frames[bound(blocks::loop_count)];  // by loop: range of frame_numbers
    int words[bound(blocks::loop_count)];
    frame_number frame_numbers[bound(arguments)];
    rank_arguments ranks[bound(arguments)];   // by rank table
    int of_ranks[bound(arguments)];           // the arguments of all rank tables
    int made_ranks[bound(schedule::groups)];  // by group: the rank table made, or -1
    bool divides[bound(
        domains)];  // the domain is not fed, and an operator divides by its number of rows
    int number_count, ranks_count;
  };
  static constexpr table_type make() {
    constexpr const auto& lowered = plan_type::lowered;
    table_type t{};
    int of[bound(lowered.count.variables)];  // by variable: index of its host number, or -1
    for (int& n : of) n = -1;
    for (int a = 0; a < arguments; ++a) {
      t.number[a] = -1;
      const int v = plan_type::code.arguments[a];
      if (v < 0) {
        for (int d = batch::domain; d < domains; ++d)
          if (is_constant(v) && constant_index(v) == inverse_rows(d))
            t.divides[d] = !plan_type::fed.of[d];
        continue;
      }
      if (!values.computed[v] || is_ranks(v)) continue;
      if (of[v] < 0) of[v] = t.number_count++;
      t.number[a] = of[v];
    }
    for (int g = 0; g < schedule::groups; ++g) {
      const instruction& i = head_of(g);
      t.here[g] = values.makes(lowered, i);
      t.inner[g] = i.block > 0;
      const group_code& c = plan_type::code.groups[g];
      for (int a = c.arguments + i.input_count; t.here[g] && a < c.arguments + c.argument_count;
           ++a)
        t.sent[a] = t.number[a] >= 0 && values.sent[plan_type::code.arguments[a]];
    }
    int used = 0;
    for (int l = 0; l < blocks::loop_count; ++l) {
      t.frames[l] = {used, 0};
      int word_of[bound(lowered.count.variables)];
      for (int& w : word_of) w = -1;
      for (int a = 0; a < arguments; ++a) {
        const int v = plan_type::code.arguments[a];
        if (t.number[a] < 0 || plan_type::reach.frame(v) != blocks::table.loops[l].body) continue;
        if (word_of[v] < 0) word_of[v] = t.words[l]++;
        t.frame_numbers[used++] = {a, word_of[v]};
        ++t.frames[l].count;
      }
    }
    find_ranks(t);
    return t;
  }
  static constexpr const instruction& head_of(int g) {
    return plan_type::lowered
        .instructions[plan_type::grouped.order[plan_type::grouped.groups[g].first]];
  }
  /// Whether a host value is a rank table. Only rank tables have rows.
  static constexpr bool is_ranks(int v) { return plan_type::lowered.variables[v].rows < 0; }
  static constexpr void find_ranks(table_type& t) {
    for (int& n : t.made_ranks) n = -1;
    int used = 0;
    for (int v = 0; v < plan_type::lowered.count.variables; ++v) {
      if (!values.computed[v] || !is_ranks(v)) continue;
      rank_arguments& made = t.ranks[t.ranks_count];
      made = {{used, 0}, row_width(plan_type::lowered.variables[v]), -1, 0};
      for (int g = 0; g < schedule::groups; ++g) {
        const group_code& c = plan_type::code.groups[g];
        for (int a = c.arguments; a < c.arguments + c.argument_count; ++a) {
          if (plan_type::code.arguments[a] != v) continue;
          t.of_ranks[used++] = a;
          ++made.arguments.count;
          if (makes_ranks(head_of(g).schema)) t.made_ranks[g] = t.ranks_count;
        }
      }
      for (int l = 0; l < blocks::loop_count; ++l)
        if (plan_type::reach.frame(v) == blocks::table.loops[l].body)
          made.loop = l, made.word = t.words[l]++;
      ++t.ranks_count;
    }
  }
  static constexpr table_type table = make();

  /// Whether the fed data determine the rows of every domain before a run begins. Time steps are
  /// allowed, because their rows depend only on the lengths of fed sequences; but variables that
  /// the caller may fetch after a run must have the rows of fed domains.
  static constexpr bool knows_rows = [] {
    for (int d = 0; d < domains; ++d)
      if (!plan_type::fed.of[d] && P::desc.domains[d].kind != domain_kind::step) return false;
    for (int n = 0; n < plan_type::pinned.count; ++n)
      if (!plan_type::fed
               .of[domain_of_rows(plan_type::lowered.variables[plan_type::pinned.ids[n]].rows)])
        return false;
    return true;
  }();
  /// Whether the launches of a run depend only on the numbers of rows and the lengths of sequences.
  /// Such a run may be captured as a CUDA graph.
  static constexpr bool repeats = !values.waits && knows_rows;
};

}}}  // namespace lamina::engine::cuda
