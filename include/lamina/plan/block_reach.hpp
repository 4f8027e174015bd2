// SPDX-License-Identifier: Apache-2.0
// lamina/plan/block_reach.hpp - finds the values that are read outside of the block that computes
// them.
//
// If a value is read only in its own block and in blocks inside that block, all iterations of a
// loop can use the same memory for it. But the block of a loop's gradient, which is outside of the
// loop, reads the value of each iteration, so each iteration needs separate memory. The value is
// then stored in a frame, the memory that one iteration of a loop keeps. The loop is the innermost
// loop around the value that does not contain the reader.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/control/block/definition.hpp>
#include <lamina/plan/grouping.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Where the variables are read. Both arrays are indexed by variable: `owners` has the innermost
/// block that contains the variable and all its readers, and `frames` the body of the loop that
/// keeps the variable's value per iteration, or -1. A program of one block needs neither array.
template <int Variables>
struct block_reach {
  int owners[bound(Variables)];
  int frames[bound(Variables)];

  constexpr int owner(int v) const { return Variables > 0 ? owners[v] : 0; }
  constexpr int frame(int v) const { return Variables > 0 ? frames[v] : -1; }
};

/// Returns, by block, whether it is the body of a `while` operator.
template <class P, auto const& L>
constexpr auto find_loops() {
  struct {
    bool of[bound(P::desc.count.blocks)];
  } r{};
  if (P::desc.count.blocks > 1)
    for (int k = 0; k < L.count.instructions; ++k)
      if (L.instructions[k].runs >= 0 && L.instructions[k].schema->facts.block == block_rule::loop)
        r.of[L.instructions[k].runs] = true;
  return r;
}

/// Finds where each variable is read.
template <class P, auto const& L, auto const& Loops>
constexpr auto find_reach() {
  constexpr int variables = P::desc.count.blocks > 1 ? L.count.variables : 0;
  block_reach<variables> r{};
  if constexpr (variables > 0) {
    int parent[P::desc.count.blocks];
    for (int b = 0; b < P::desc.count.blocks; ++b) parent[b] = P::desc.blocks[b].parent;
    for (int v = 0; v < variables; ++v) r.owners[v] = L.variables[v].block, r.frames[v] = -1;
    // Returns the innermost block that contains both `owner` and `from`. The number of a block is
    // larger than the numbers of the blocks around it.
    const auto around = [&](int owner, int from) {
      while (owner != from)
        if (owner > from)
          owner = parent[owner];
        else
          from = parent[from];
      return owner;
    };
    for (int k = 0; k < L.count.instructions; ++k) {
      const instruction i = L.instructions[k];
      for (int a = i.inputs, end = a + i.input_count; a < end; ++a) {
        const int id = L.operands[a].id;
        if (id < 0) continue;
        const int v = L.variables[id].root;
        if (r.owners[v] != i.block) r.owners[v] = around(r.owners[v], i.block);
      }
      for (int o = i.outputs, end = o + i.output_count; o < end; ++o) {
        const int id = L.results[o];
        if (id < 0) continue;
        const int v = L.variables[id].root;
        if (r.owners[v] != i.block) r.owners[v] = around(r.owners[v], i.block);
      }
    }
    for (int v = 0; v < variables; ++v) {
      const int owner = r.owners[v];
      for (int b = L.variables[v].block; b != owner; b = parent[b])
        if (Loops.of[b]) {
          r.frames[v] = b;
          break;
        }
    }
  }
  return r;
}

}}  // namespace lamina
