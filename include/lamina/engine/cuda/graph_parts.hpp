// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/graph_parts.hpp - parts of a program that are graphs, where the host has a
// part in all of it.
//
// A training loop as a program asks the host for each mini-batch, and so nothing of it is one
// graph. But what stands between two groups of the host does the same each time that there are as
// many rows.
#pragma once

#include <cstdint>

#include <lamina/engine/cuda/host_values.hpp>

namespace lamina::engine::cuda {

/// What a group may be in a part.
enum class part_step : std::uint8_t {
  none,    // the host has to do with it, or its arrays lie elsewhere each time
  launch,  // it depends on the numbers of rows alone
  draw,    // and on how often its block was run before
  node     // a block that a condition at the place decides on
};

/// The fewest groups that are worth a graph.
inline constexpr int least_part = 4;

/// By group of a program.
template <int Groups>
struct graph_parts {
  part_step of[at_least_one(Groups)];
  int block[at_least_one(Groups)];
};

namespace detail {

template <class P>
class graph_part_finder {
  using plan_type = plan<P>;
  static constexpr const auto& l = plan_type::lowered;
  static constexpr const auto& values = host_values_of<P>;

 public:
  static constexpr int groups = plan_type::grouped.count;

  static constexpr graph_parts<groups> find() {
    graph_parts<groups> r{};
    for (int g = 0; g < groups; ++g) {
      const group_desc& group = plan_type::grouped.groups[g];
      r.block[g] = group.block;
      r.of[g] = part_step::launch;
      for (int n = 0; n < group.count; ++n) {
        const instruction& i = l.instructions[plan_type::grouped.order[group.first + n]];
        if (!fits(i))
          r.of[g] = part_step::none;
        else if (r.of[g] == part_step::launch)
          r.of[g] = step_of(i);
      }
    }
    return r;
  }

 private:
  static constexpr part_step step_of(const instruction& i) {
    return i.runs >= 0               ? part_step::node
           : draws_numbers(i.schema) ? part_step::draw
                                     : part_step::launch;
  }
  static constexpr bool fits(const instruction& i) {
    if (i.runs >= 0) return fits_block(i);
    if (values.makes(l, i) || is_of_host(i.schema) || is_done_with_host(i.schema) ||
        waits_for_rows(i.schema))
      return false;
    for (int a = 0; a < i.input_count; ++a)
      if (is_taken_by_host(i.schema, a) || !stays(l.operands[i.inputs + a].id)) return false;
    for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
      if (!stays(l.results[o])) return false;
    return true;
  }
  /// A node without frames, and without rows that only a recording of everything knows.
  static constexpr bool fits_block(const instruction& block) {
    if (!values.node[block.runs] || block.schema == &schema_of<while_block_gradient>())
      return false;
    for (int b = 0; b < P::desc.count.blocks; ++b)
      if (block.schema == &schema_of<while_block>() &&
          P::desc.blocks[b].forward_block == block.runs)
        return false;
    for (int k = 0; k < l.count.instructions; ++k)
      if (const instruction& i = l.instructions[k];
          is_inside(P::desc, i.block, block.runs) && !(i.runs >= 0 ? fits_block(i) : fits(i)))
        return false;
    for (int a = block.inputs; a < block.inputs + block.input_count; ++a)
      if (!stays(l.operands[a].id)) return false;
    return true;
  }
  /// Whether a variable lies at the same place each time, with rows that are fed.
  static constexpr bool stays(int v) {
    if (is_constant(v)) {
      for (int d = batch::domain; d < P::desc.count.domains; ++d)
        if (constant_index(v) == inverse_rows(d) && !plan_type::fed.of[d]) return false;
      return true;
    }
    if (v < 0) return true;
    const int root = l.variables[v].root;
    const memory_space space = plan_type::memory.slots[root].space;
    if (space == memory_space::array) return root >= P::desc.count.variables;
    return space != memory_space::frame && space != memory_space::view &&
           plan_type::fed.of[domain_of_rows(l.variables[v].rows)];
  }
};

}  // namespace detail

template <class P>
inline constexpr auto graph_parts_of = detail::graph_part_finder<P>::find();

}  // namespace lamina::engine::cuda
