// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/group_memory.hpp - which memory a group of a schedule reads, and which it
// writes.
#pragma once

#include <vector>

#include <lamina/engine/cuda/graph_branches.hpp>
#include <lamina/engine/cuda/schedule_table.hpp>

namespace lamina::engine::cuda {

/// The memory of the groups of program P, which has no loops or branches: what these move no table
/// knows.
template <class P, class Backend>
class group_memory {
  using schedule = schedule_table<P, Backend>;
  using plan_type = typename schedule::plan_type;

 public:
  /// Whether all that a group of the program uses is among its arguments and its scratch memory.
  static constexpr bool known = !schedule::has_blocks && plan_type::memory.selected_rows == 0;

  /// Adds what group g uses, whose call has these arguments.
  static void add_uses(const call_site& c, int g, std::vector<memory_use>& to) {
    const auto& e = schedule::table.entries[g];
    const int end = g + 1 < schedule::groups ? schedule::table.entries[g + 1].first_argument
                                             : schedule::arguments;
    for (int a = e.first_argument; a < end; ++a) {
      const argument_info& info = schedule::table.info[a];
      if (table.of[a] == use::none) continue;
      const std::size_t rows = static_cast<std::size_t>(c.run.rows_of(info.rows));
      to.push_back({c.arguments[a - e.first_argument],
                    rows * static_cast<std::size_t>(info.stride) *
                        static_cast<std::size_t>(size_of(info.type)),
                    table.of[a] == use::written});
    }
    if (e.scratch != nullptr)
      to.push_back({c.run.scratch, static_cast<std::size_t>(e.scratch(c)) * sizeof(float), true});
  }

 private:
  enum class use : std::uint8_t { none, read, written };
  struct table_type {
    use of[at_least_one(schedule::arguments)];
  };
  static constexpr table_type make() {
    table_type t{};
    for (int a = 0; a < schedule::arguments; ++a)
      t.of[a] = plan_type::code.arguments[a] < 0 ? use::none : use::read;
    for (int g = 0; g < schedule::groups; ++g) {
      const group_code& c = plan_type::code.groups[g];
      const instruction& i =
          plan_type::lowered
              .instructions[plan_type::grouped.order[plan_type::grouped.groups[g].first]];
      const auto writes = [&](int argument) {
        if (t.of[c.arguments + argument] == use::read) t.of[c.arguments + argument] = use::written;
      };
      if (i.head == group_head::call) {
        // An update reads and writes what it is given.
        const bool all = i.schema->kind == operator_kind::update;
        for (int n = all ? 0 : i.input_count; n < c.argument_count; ++n) writes(n);
        continue;
      }
      for (int s = c.statements; s < c.statements + c.statement_count; ++s) {
        const statement_code& of = plan_type::code.statements[s];
        if (of.store >= 0) writes(of.store);
        for (int o = of.operands; of.update && o < of.operands + of.operand_count; ++o)
          if (plan_type::code.operands[o].from == source::load)
            writes(plan_type::code.operands[o].index);
      }
    }
    return t;
  }
  static constexpr table_type table = make();
};

}  // namespace lamina::engine::cuda
