// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/block_schedule.hpp - compile-time tables about the loops and branches of a
// program, for the block runner.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/plan/call_program.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// How an entry of the schedule runs a block.
enum class block_use : std::uint8_t {
  loop,           // repeats while a bool is true
  loop_gradient,  // runs once per iteration of a forward loop, from the last iteration to the first
  if_true,        // runs once if a bool is true
  if_rows         // runs once if a variable has at least one row
};
struct block_call {
  block_use use;
  int block;
  int loop;       // the forward loop, if `use` is loop or loop_gradient; -1 for a branch
  int condition;  // the program variable that is tested, or -1
  bool again;     // a later gradient block reads the same frames, so they are not freed
};

/// The values of one row domain that each frame of a loop keeps.
struct kept_rows {
  int domain;        // the domain of the rows; once::domain for values without rows
  int width;         // floats per row
  bool late;         // the number of rows is not known when an iteration begins: an operator of the
                     // iteration makes the rows, or it reads a mini-batch
  int first, count;  // range in table_type::frame_arguments
};
/// An argument of a kernel whose memory is in a frame.
struct frame_argument {
  int argument;
  int offset;  // in floats per row; its address is data + offset * the number of rows of the domain
};

/// A while loop. Its lists are ranges (first index, count) of the arrays in table_type.
struct loop_desc {
  int body;
  int parent;  // the enclosing loop, or -1
  int kept, kept_count;
  int domains, domain_count;  // the domains whose rows an iteration makes or reads
  int arrays, array_count;    // tensor arrays that an iteration keeps for its gradient
  int views, view_count;      // views (variables in another array's memory) that its gradient reads
  int inner;                  // the number of loops directly inside
  bool keeps;                 // it has a gradient, so each iteration has a frame
  bool reads;                 // its iterations read mini-batches, and not only within inner loops
};
struct list_range {
  int first, count;
};

/// The tables about the loops and branches of program P, with the group numbers of Schedule.
template <class P, class Schedule>
struct block_schedule {
  using plan_type = plan<P>;
  using schedule = Schedule;
  static constexpr int blocks = counts_of<P>.blocks;
  static constexpr int domains = counts_of<P>.domains;
  static constexpr int arguments = schedule::arguments;
  static constexpr int array_count = plan_type::memory.arrays;
  static constexpr int view_count = plan_type::views.count;
  static constexpr bool has_views = view_count > 0;

  static constexpr int count_calls(bool only_loops) {
    int n = 0;
    for (int i = 0; i < plan_type::lowered.count.instructions; ++i)
      if (const instruction& from = plan_type::lowered.instructions[i];
          from.runs >= 0 && (!only_loops || from.schema->facts.block == block_rule::loop))
        ++n;
    return n;
  }
  static constexpr int call_count = count_calls(false);
  static constexpr int loop_count = count_calls(true);

  struct table_type {
    list_range entries[bound(blocks)];  // for each block, its groups of the schedule
    block_call calls[bound(call_count)];
    loop_desc loops[bound(loop_count)];
    kept_rows kept[bound(loop_count * domains)];
    frame_argument frame_arguments[bound(loop_count > 0 ? arguments : 0)];
    int made_domains[bound(at_least_one(loop_count) * domains)];  // grouped by loop
    int loop_of_domain[bound(domains)];  // the loop whose iterations make its rows, or -1
    list_range block_arrays[bound(blocks)];
    int arrays[bound(array_count)];       // grouped by block
    int kept_arrays[bound(array_count)];  // grouped by loop
    slot_memory array_memory[bound(array_count)];
    int told[bound(has_views ? schedule::groups : 0)];  // run_context::view for each group
    list_range views[bound(view_count)];                // for each view, its view_arguments
    int view_arguments[bound(has_views ? arguments : 0)];
    int kept_views[bound(view_count)];  // grouped by loop
    bool fed[bound(domains)];
    bool changes[bound(domains)];  // the number of rows changes while a program runs
  };

  // Returns the innermost loop that contains a block, or -1.
  static constexpr int loop_around(const table_type& t, int block) {
    for (; block > 0; block = P::desc.blocks[block].parent)
      for (int l = 0; l < loop_count; ++l)
        if (t.loops[l].body == block) return l;
    return -1;
  }

  static constexpr void find_calls(table_type& t) {
    constexpr const auto& lowered = plan_type::lowered;
    constexpr const auto& grouped = plan_type::grouped;
    int call = 0, loop = 0;
    for (int b = 0; b < blocks; ++b) t.entries[b] = {0, 0};
    for (int i = 0; i < lowered.count.instructions; ++i)
      if (lowered.instructions[i].runs >= 0 && plan_type::loops.of[lowered.instructions[i].runs])
        t.loops[loop++].body = lowered.instructions[i].runs;
    for (int g = 0; g < schedule::groups; ++g) {
      list_range& r = t.entries[grouped.groups[g].block];
      if (r.count == 0) r.first = g;
      ++r.count;
      const instruction& i = lowered.instructions[grouped.order[grouped.groups[g].first]];
      if (i.runs < 0) continue;
      const bool gradient = i.schema->facts.block == block_rule::loop_gradient;
      const bool repeats = gradient || i.schema->facts.block == block_rule::loop;
      const operator_desc& op = P::desc.operators[i.op];
      const bool scalar = !repeats && P::desc.attributes[op.attributes + 1].number != 0;
      const int body = gradient ? P::desc.blocks[i.runs].forward_block : i.runs;
      if (gradient) t.loops[loop_around(t, body)].keeps = true;
      t.calls[call++] = {gradient  ? block_use::loop_gradient
                         : repeats ? block_use::loop
                         : scalar  ? block_use::if_true
                                   : block_use::if_rows,
                         i.runs, repeats ? loop_around(t, body) : -1,
                         gradient ? -1 : lowered.operands[i.inputs].id, false};
      for (int k = 0; gradient && k + 1 < call; ++k)
        if (t.calls[k].use == block_use::loop_gradient && t.calls[k].loop == t.calls[call - 1].loop)
          t.calls[k].again = true;
    }
    for (int l = 0; l < loop_count; ++l) {
      t.loops[l].parent = loop_around(t, P::desc.blocks[t.loops[l].body].parent);
      if (t.loops[l].parent >= 0) ++t.loops[t.loops[l].parent].inner;
    }
    for (int k = 0; k < counts_of<P>.operators; ++k)
      if (P::desc.operators[k].schema->facts.reads_minibatch)
        if (const int l = loop_around(t, P::desc.operators[k].block); l >= 0)
          t.loops[l].reads = true;
  }

  // Finds the loop whose iterations make the rows of each domain. A domain belongs to the block of
  // the first operator with an output that has rows of this domain. A parent domain without such an
  // operator belongs to the same block as the domain of its sequences' rows.
  static constexpr void find_domains(table_type& t) {
    int block[bound(domains)];
    for (int d = 0; d < domains; ++d) {
      block[d] = -1;
      t.fed[d] = plan_type::fed.of[d];
      t.changes[d] = plan_type::fed.changes[d];
    }
    for (int k = 0; k < counts_of<P>.operators; ++k) {
      const operator_desc& op = P::desc.operators[k];
      for (int s = 0, at = op.outputs; s < op.schema->output_count; ++s)
        for (int n = op.schema->outputs[s].duplicable ? P::desc.arguments[at++] : 1; n > 0;
             --n, ++at) {
          const int v = P::desc.arguments[at];
          if (v < 0 || P::desc.variables[v].kind == variable_kind::tensor_array) continue;
          int& of = block[P::desc.variables[v].rows];
          if (of < 0) of = op.block;
        }
    }
    for (int d = domains; d-- > 1;)
      if (const int parent = P::desc.domains[d].parent; parent > 0 && block[parent] < 0)
        block[parent] = block[d];
    int made = 0;
    for (int l = 0; l < loop_count; ++l) t.loops[l].domain_count = 0;
    for (int d = 0; d < domains; ++d)
      t.loop_of_domain[d] = t.fed[d] || block[d] < 0 ? -1 : loop_around(t, block[d]);
    for (int l = 0; l < loop_count; ++l) {
      t.loops[l].domains = made;
      for (int d = 0; d < domains; ++d)
        if (t.loop_of_domain[d] == l || is_read(t, l, d))
          t.made_domains[made++] = d, ++t.loops[l].domain_count;
    }
  }

  // Whether an iteration of the loop reads the rows of a domain as part of a mini-batch.
  static constexpr bool is_read(const table_type& t, int loop, int domain) {
    return t.loops[loop].reads && t.fed[domain] && domain >= batch::domain;
  }

  static constexpr void find_arrays(table_type& t) {
    int used = 0, kept = 0;
    const auto each = [](auto&& f) {
      for (int v = 0; v < counts_of<P>.variables; ++v)
        if (P::desc.variables[v].kind == variable_kind::tensor_array)
          f(P::desc.variables[v].block, plan_type::reach.frame(v),
            plan_type::memory.slot_of[v].offset);
      for (int v = counts_of<P>.variables; v < plan_type::lowered.count.variables; ++v)
        if (plan_type::lowered.variables[v].rows == 0)
          f(plan_type::lowered.variables[v].block, -1, plan_type::memory.slot_of[v].offset);
    };
    for (int b = 0; b < blocks; ++b) {
      t.block_arrays[b] = {used, 0};
      each([&](int block, int, int number) {
        if (block == b) t.arrays[used++] = number, ++t.block_arrays[b].count;
      });
    }
    for (int l = 0; l < loop_count; ++l) {
      t.loops[l].arrays = kept;
      t.loops[l].array_count = 0;
      each([&](int, int body, int number) {
        if (body == t.loops[l].body) t.kept_arrays[kept++] = number, ++t.loops[l].array_count;
      });
    }
  }

  static constexpr void find_frames(table_type& t) {
    int kept = 0, used = 0;
    for (int l = 0; l < loop_count; ++l) {
      loop_desc& loop = t.loops[l];
      loop.kept = kept;
      loop.kept_count = 0;
      for (int d = 0; d < domains; ++d) {
        const int width = plan_type::memory.frame_width[loop.body * domains + d];
        if (width == 0) continue;
        kept_rows& k = t.kept[kept++];
        ++loop.kept_count;
        k = {d, width, t.loop_of_domain[d] == l || is_read(t, l, d), used, 0};
        for (int a = 0; a < arguments; ++a) {
          const memory_slot slot = schedule::table.slot_of[a];
          if (slot.space != memory_space::frame || slot.domain != d ||
              plan_type::reach.frame(plan_type::code.arguments[a]) != loop.body)
            continue;
          t.frame_arguments[used++] = {a, slot.offset};
          ++k.count;
        }
      }
    }
  }

  // Returns run_context::view for an instruction: -1 if its output refers to the memory of X and
  // copies nothing; 1 + the index of the view if it sets the address of a view; 0 for all other
  // instructions.
  static constexpr int told_by(int instruction) {
    const lamina::instruction& i = plan_type::lowered.instructions[instruction];
    if (plan_type::views.refers_at(instruction)) return -1;
    const bool tells =
        i.runs < 0 && (same_address(i.schema, &schema_of<operators::read_from_array>()) ||
                       same_address(i.schema, &schema_of<operators::write_to_array_gradient>()) ||
                       same_address(i.schema, &schema_of<operators::shrink_rnn_memory>()));
    return tells ? 1 + plan_type::views.number(plan_type::lowered.results[i.outputs]) : 0;
  }
  static constexpr void find_views(table_type& t) {
    if constexpr (has_views) {
      for (int g = 0; g < schedule::groups; ++g)
        t.told[g] = told_by(plan_type::grouped.order[plan_type::grouped.groups[g].first]);
      for (int v = 0; v < counts_of<P>.variables; ++v)
        if (P::desc.variables[v].kind == variable_kind::tensor_array)
          t.array_memory[plan_type::memory.slot_of[v].offset] = plan_type::views.memory[v];
      for (int n = 0; n < view_count; ++n) t.views[n] = {0, 0};
      for (int a = 0; a < arguments; ++a)
        if (schedule::table.slot_of[a].space == memory_space::view)
          ++t.views[schedule::table.slot_of[a].offset].count;
      for (int n = 1; n < view_count; ++n)
        t.views[n].first = t.views[n - 1].first + t.views[n - 1].count;
      int used[bound(view_count)] = {};
      for (int a = 0; a < arguments; ++a)
        if (const memory_slot slot = schedule::table.slot_of[a]; slot.space == memory_space::view)
          t.view_arguments[t.views[slot.offset].first + used[slot.offset]++] = a;
    }
    int kept = 0;
    for (int l = 0; l < loop_count; ++l) {
      t.loops[l].views = kept;
      for (int v = 0; view_count > 0 && v < counts_of<P>.variables; ++v)
        if (plan_type::views.number(v) >= 0 && plan_type::reach.frame(v) == t.loops[l].body)
          t.kept_views[kept++] = plan_type::views.number(v);
      t.loops[l].view_count = kept - t.loops[l].views;
    }
  }

  static constexpr table_type make() {
    table_type t{};
    find_calls(t);
    find_domains(t);
    find_arrays(t);
    find_frames(t);
    find_views(t);
    return t;
  }
  static constexpr table_type table = make();

  /// Whether frames keep rows of a domain. The number of these rows must then stay the same as long
  /// as a frame exists, because a frame has memory for that number; a change throws.
  static constexpr bool keeps_rows(int domain) {
    for (const loop_desc& loop : table.loops)
      for (int k = loop.kept; k < loop.kept + loop.kept_count; ++k)
        if (table.kept[k].domain == domain) return true;
    return false;
  }

  // Whether `needs(loop)` is true for any loop. The constants below use it so that no code is
  // generated for features that no loop needs.
  template <class Needs>
  static constexpr bool some_loop(const Needs& needs) {
    for (int l = 0; l < loop_count; ++l)
      if (needs(table.loops[l])) return true;
    return false;
  }
  static constexpr bool keeps_frames = some_loop([](const loop_desc& l) { return l.keeps; });
  static constexpr bool makes_rows =
      some_loop([](const loop_desc& l) { return l.domain_count > 0; });
  static constexpr bool keeps_minibatches =
      some_loop([](const loop_desc& l) { return l.keeps && l.reads; });
  static constexpr bool nests_loops = some_loop([](const loop_desc& l) { return l.inner > 0; });
  static constexpr bool keeps_arrays =
      keeps_frames && some_loop([](const loop_desc& l) { return l.array_count > 0; });
  static constexpr bool keeps_views =
      keeps_frames && some_loop([](const loop_desc& l) { return l.view_count > 0; });
  static constexpr bool repeats_gradients = [] {
    for (int c = 0; c < call_count; ++c)
      if (table.calls[c].again) return true;
    return false;
  }();
};

}}}  // namespace lamina::engine
