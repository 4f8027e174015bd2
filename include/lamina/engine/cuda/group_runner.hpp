// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/group_runner.hpp - runs a group of a schedule at a place, or what is launched
// together with it: a chain of products, a pass of few rows.
#pragma once

#include <string>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/engine/cuda/group_memory.hpp>
#include <lamina/engine/cuda/machine_memory.hpp>
#include <lamina/program/names.hpp>

namespace lamina::engine::cuda {

/// Runs the groups of program P by a backend.
template <class P, class Backend>
class group_runner {
  using schedule = schedule_table<P, Backend>;
  using memory_type = machine_memory<P, Backend>;

 public:
  /// Runs group g; the first of those that are launched together runs all of them.
  static void run(Backend& b, const memory_type& memory, int g, const run_state& state) {
    if constexpr (schedule::joins) {
      if (const int n = schedule::passes.pass[g]; n >= 0 && is_run(n, state))
        return run_pass(b, memory, n, g, state);
      if (const int n = schedule::chains.chain[g]; n >= 0) return run_chain(b, memory, n, g, state);
    }
    run_alone(b, memory, g, state);
  }

  /// Does what has to do with group g: a failure tells which variable the group writes, and so
  /// which layer it is of.
  template <class Work>
  static void told(int g, const Work& work) {
    try {
      work();
    } catch (const error& what) {
      fail(g, what);
    }
  }

 private:
  [[noreturn]] LAMINA_COLD static void fail(int g, const error& what) {
    const int variable = schedule::table.entries[g].group.variable;
    if (variable < 0) throw error(what);
    const auto& names = run_time_program<P>::desc;
    std::string name(static_cast<std::size_t>(name_length(names, variable)), ' ');
    name_writer w{name.data()};
    write_name(names, variable, w);
    throw error(text() << what.what() << " (for " << name << ")");
  }

  static void run_alone(Backend& b, const memory_type& memory, int g, const run_state& state) {
    const call_site c = memory.site(g, state);
    run_in_branch(
        b, memory, c, g, [](int) { return false; }, [&] { schedule::table.entries[g].run(b, c); });
  }
  static void run_chain(Backend& b, const memory_type& memory, int n, int g,
                        const run_state& state) {
    if (schedule::chains.first[n] != g) return;
    const auto& chain = schedule::chains.of[n];
    const call_site c = memory.site(g, state);
    run_in_branch(
        b, memory, c, g, [n](int q) { return schedule::chains.chain[q] == n; },
        [&] { chain.run(b, c, sites_in(memory), chain.links, chain.members); });
  }

  /// Whether pass n is run as one: of many rows its chains and groups are launched by themselves,
  /// as are those that are run without all data.
  static bool is_run(int n, const run_state& state) {
    const auto& pass = schedule::passes.of[n];
    const int rows = state.rows_of(pass.rows);
    if (rows > chain_limits::few_rows || (pass.feeds & ~state.given) != 0) return false;
    return true;
  }
  static void run_pass(Backend& b, const memory_type& memory, int n, int g,
                       const run_state& state) {
    const auto& pass = schedule::passes.of[n];
    if (pass.first != g) return;
    const auto is_of = [n](int q) { return schedule::passes.pass[q] == n; };
    for (int q = g; q < schedule::groups; ++q)
      if (is_of(q) && schedule::passes.before[q]) run_alone(b, memory, q, state);
    run_in_branch(
        b, memory, memory.site(g, state), g,
        [&](int q) { return is_of(q) && !schedule::passes.before[q]; },
        [&] { pass.run(b, state.rows_of(pass.rows), state, sites_in(memory), pass.groups); });
  }

  static joined_sites sites_in(const memory_type& memory) {
    return {&memory, [](const void* of, int g, const run_state& state) {
              return static_cast<const memory_type*>(of)->site(g, state);
            }};
  }
  /// Does the work of group g and of those behind it that are launched with it. What is recorded of
  /// it are nodes beside those that have nothing to do with its memory.
  template <class Belongs, class Work>
  static void run_in_branch(Backend& b, const memory_type& memory, const call_site& c, int g,
                            const Belongs& belongs, const Work& work) {
    told(g, [&] {
      const auto launch = [&] {
        b.begin_group(c);
        work();
        b.end_group();
      };
      if constexpr (group_memory<P, Backend>::known && requires { b.records_branches(); }) {
        if (b.records_branches()) {
          std::vector<memory_use> uses;
          group_memory<P, Backend>::add_uses(c, g, uses);
          for (int q = g + 1; q < schedule::groups; ++q)
            if (belongs(q)) group_memory<P, Backend>::add_uses(memory.site(q, c.run), q, uses);
          b.begin_branch(uses);
          launch();
          return b.end_branch(uses);
        }
      }
      launch();
    });
  }
};

}  // namespace lamina::engine::cuda
