// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/graph_blocks.hpp - which blocks of a program a recorded graph may run as often
// as a condition at the place says, without the host.
#pragma once

#include <lamina/engine/cuda/host_operators.hpp>
#include <lamina/engine/cuda/padded_rows.hpp>
#include <lamina/operators/block_operators.hpp>

namespace lamina::engine::cuda {

/// By block of a program, and by row domain: whether a recorded graph computes as many rows of it
/// as there may be.
template <int Blocks, int Domains>
struct graph_blocks {
  bool of[at_least_one(Blocks)];
  padded_rows<Domains> padded;
};

namespace detail {

/// Finds what repeats alike in a program.
template <class P>
class graph_block_finder {
  using plan_type = plan<P>;
  static constexpr const auto& l = plan_type::lowered;
  static constexpr int blocks = P::desc.count.blocks, domains = P::desc.count.domains;

 public:
  constexpr graph_block_finder() {
    for (int k = 0; k < l.count.instructions; ++k)
      if (const instruction& i = l.instructions[k]; is_gradient(i))
        has_gradient_[P::desc.blocks[i.runs].forward_block] = true;
  }

  constexpr graph_blocks<blocks, domains> find() {
    graph_blocks<blocks, domains> r{{}, find_padded_rows<P>()};
    for (bool changed = true; changed;) {
      padded_ = r.padded;
      find_blocks(r);
      changed = false;
      // A branch that the host cannot leave to a graph needs to know its rows.
      for (int k = 0; k < l.count.instructions; ++k) {
        const instruction& i = l.instructions[k];
        if (!chooses_rows(i) || r.of[i.runs]) continue;
        bool& padded = r.padded.of[domain_of_rows(l.variables[l.operands[i.inputs].id].rows)];
        changed = changed || padded;
        padded = false;
      }
      for (int d = 0; d < domains; ++d)
        if (const int parent = P::desc.domains[d].parent;
            r.padded.of[d] && !plan_type::fed.of[parent] && !r.padded.of[parent])
          r.padded.of[d] = false, changed = true;
    }
    return r;
  }

 private:
  constexpr void find_blocks(graph_blocks<blocks, domains>& r) const {
    for (int k = 0; k < l.count.instructions; ++k)
      if (const instruction& i = l.instructions[k]; i.runs >= 0)
        r.of[i.runs] = repeats_alike(i) && (!is_loop(i) || !keeps(i) || may_start_anew(k));
    // A loop and its gradients go by the same copies of frames.
    for (int k = 0; k < l.count.instructions; ++k)
      if (const instruction& i = l.instructions[k]; is_gradient(i) && !r.of[i.runs])
        r.of[P::desc.blocks[i.runs].forward_block] = false;
    for (int k = 0; k < l.count.instructions; ++k)
      if (const instruction& i = l.instructions[k]; is_gradient(i))
        r.of[i.runs] = r.of[P::desc.blocks[i.runs].forward_block];
  }

  static constexpr bool is_gradient(const instruction& i) {
    return i.runs >= 0 && i.schema == &schema_of<while_block_gradient>();
  }
  static constexpr bool is_loop(const instruction& i) {
    return i.schema == &schema_of<while_block>();
  }
  /// Whether it is a loop that leaves frames, or the gradient of one.
  constexpr bool keeps(const instruction& i) const {
    return is_gradient(i) || (is_loop(i) && has_gradient_[i.runs]);
  }

  /// Whether it is a branch for the rows that a mask chooses.
  static constexpr bool chooses_rows(const instruction& i) {
    return i.runs >= 0 && !is_loop(i) && !is_gradient(i) &&
           l.variables[l.operands[i.inputs].id].rows < 0;
  }

  /// Whether each pass of a block does the same with the same arrays: it has no arrays of tensors,
  /// and makes no rows but those that are padded. Loops inside leave no frames.
  constexpr bool repeats_alike(const instruction& block) const {
    if (chooses_rows(block) &&
        !padded_.of[domain_of_rows(l.variables[l.operands[block.inputs].id].rows)])
      return false;
    for (int k = 0; k < l.count.instructions; ++k) {
      const instruction& i = l.instructions[k];
      if (!is_inside(P::desc, i.block, block.runs)) continue;
      if (is_of_host(i.schema) || is_done_with_host(i.schema)) return false;
      if (i.runs >= 0 && (keeps(i) || !repeats_alike(i))) return false;
      for (int a = i.inputs; a < i.inputs + i.input_count; ++a)
        if (!stays(l.operands[a].id, block.runs)) return false;
      for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
        if (!stays(l.results[o], block.runs)) return false;
    }
    return true;
  }
  /// Whether a variable lies at one place in all passes of a block.
  constexpr bool stays(int v, int block) const {
    if (v < 0) return true;
    const int root = l.variables[v].root;
    const memory_space space = plan_type::memory.slots[root].space;
    // Products of a loop's rows are not put aside here (collect_kernels.hpp).
    if (space == memory_space::array && root >= P::desc.count.variables) return true;
    const int domain = domain_of_rows(l.variables[v].rows);
    if (space == memory_space::array || space == memory_space::view ||
        (!plan_type::fed.of[domain] && !padded_.of[domain]))
      return false;
    return space != memory_space::frame || has_frame_around(plan_type::reach.frame(root), block);
  }
  /// Whether a block is a part of the body of a loop, or of its gradient, that keeps a frame.
  static constexpr bool has_frame_around(int body, int block) {
    for (; block > 0; block = P::desc.blocks[block].parent)
      if (block == body || P::desc.blocks[block].forward_block == body) return true;
    return false;
  }

  /// Whether a run may begin again, where a graph had too little room for the frames of a loop:
  /// the loop is none of another block, and nothing that outlives a run has changed before it ends.
  static constexpr bool may_start_anew(int loop) {
    if (l.instructions[loop].block != 0) return false;
    bool ended = false;
    for (int n = 0; n < l.count.instructions; ++n) {
      const int k = plan_type::grouped.order[n];
      const instruction& i = l.instructions[k];
      ended = ended || k == loop;
      if (ended && i.block == 0) continue;
      if (i.schema->kind == operator_kind::update) return false;
      for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
        if (outlives(l.results[o])) return false;
    }
    return true;
  }
  static constexpr bool outlives(int v) {
    if (v < 0) return false;
    const int root = l.variables[v].root;
    const memory_space space = plan_type::memory.slots[root].space;
    return space == memory_space::parameter || space == memory_space::accumulator ||
           space == memory_space::updated ||
           (root < P::desc.count.variables && P::desc.variables[root].persistable);
  }

  bool has_gradient_[at_least_one(blocks)] = {};
  padded_rows<domains> padded_{};
};

}  // namespace detail

template <class P>
constexpr auto find_graph_blocks() {
  return detail::graph_block_finder<P>().find();
}

template <class P>
inline constexpr auto graph_blocks_of = find_graph_blocks<P>();

}  // namespace lamina::engine::cuda
