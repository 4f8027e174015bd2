// SPDX-License-Identifier: Apache-2.0
// lamina/plan/memory.hpp - assigns memory to each stored variable of a plan. Values with a run-time
// number of rows are in an arena, one per row domain, in which a value may reuse the memory of
// values that are no longer needed. An offset in an arena is in floats per row, so one plan is
// valid for all batch sizes and sequence lengths. All other values have fixed addresses.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/arrays/padding.hpp>
#include <lamina/plan/aliasing.hpp>
#include <lamina/plan/array_views.hpp>
#include <lamina/plan/memory_slot.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The position of each variable, and the sizes of all memory of a plan.
template <int Variables, int Domains, int Blocks>
struct memory_plan {
  memory_slot slot_of[bound(Variables)];
  int arena_width[bound(Domains)];           // floats per row, by domain
  int frame_width[bound(Blocks * Domains)];  // floats per row, by loop body and domain
  int arrays;                                // number of arrays of tensors
  int selected_rows;                         // number of sparse gradients (selected rows)
  long long fixed_size;                      // floats
  int unshared_width;                        // floats per row without shared memory
  /// Returns the floats per row of all arenas together.
  constexpr int width() const {
    int sum = 0;
    for (const int w : arena_width) sum += w;
    return sum;
  }
};

/// Returns the number of floats per row of a variable, including padding.
constexpr int row_width(const plan_variable& v) {
  return is_real(v.type) ? padded(v.columns) * (size_of(v.type) / 4)
                         : padded((v.columns * size_of(v.type) + 3) / 4);
}

/// The default argument of plan_memory() for `RowsApart`: no block is marked.
struct no_rows_apart {
  static constexpr bool of(int) { return false; }
};

/// Assigns a position to every variable. In an arena this is a free range that is large enough,
/// such as the memory of a value that is no longer needed; if there is none, the arena grows. The
/// memory of a block follows the memory of the enclosing block; sibling blocks share memory. Values
/// that an iteration keeps for its gradient are in the frame of that iteration, its separate
/// memory. Values with the same elements share memory (aliasing.hpp). In a block that `RowsApart`
/// marks, a value may reuse the memory of another value only if both have the same width: then row
/// r of one value overlaps only row r of the other value.
template <class P, auto const& L, auto const& B, auto const& Reach, auto const& Views,
          auto const& Same, class RowsApart = no_rows_apart>
constexpr auto plan_memory() {
  constexpr const program_desc& p = P::desc;
  constexpr int variables = L.count.variables;
  constexpr int groups = B.count;
  constexpr int blocks = P::desc.count.blocks, domains = P::desc.count.domains;
  memory_plan<variables, domains, blocks> r{};
  int first_made[bound(groups + 1)], first_dead[bound(groups + 1)], first_held[bound(blocks)];
  int next_made[bound(variables)], next_dead[bound(variables)];
  for (int g = 0; g <= groups; ++g) first_made[g] = first_dead[g] = -1;
  for (int b = 0; b < blocks; ++b) first_held[b] = -1;
  for (int v = 0; v < variables; ++v) {
    const plan_variable d = L.variables[v];
    const bool own = d.root == v;
    if (d.rows < 0 && v < p.count.variables && p.variables[v].kind != variable_kind::data)
      r.unshared_width += row_width(d);
    if (v < p.count.variables) {
      const variable_desc from = p.variables[v];
      if (from.kind == variable_kind::parameter) {
        r.slot_of[v] = {memory_space::parameter, 0, from.index};
        continue;
      }
      if (from.kind == variable_kind::accumulator) {
        r.slot_of[v] = {memory_space::accumulator, 0, from.index};
        continue;
      }
      // A data layer is read from the caller's memory. But if a loop reads mini-batches and its
      // gradient reads the data, the data are kept per iteration in a frame.
      if (from.kind == variable_kind::data && Reach.frame(v) < 0) {
        r.slot_of[v] = {memory_space::feed, 0, from.index};
        continue;
      }
      if (from.kind == variable_kind::tensor_array) {
        r.slot_of[v] = {memory_space::array, 0, r.arrays++};
        continue;
      }
      if (from.kind == variable_kind::selected_rows) {
        r.slot_of[v] = {memory_space::rows, 0, r.selected_rows++};
        continue;
      }
      if (from.kind == variable_kind::gradient && B.producer[v] < 0 && own &&
          (blocks == 1 || !B.stored[v])) {
        if (p.variables[from.of].kind == variable_kind::parameter)
          r.slot_of[v] = {memory_space::gradient, 0, p.variables[from.of].index};
        continue;
      }
    }
    if (v >= p.count.variables && d.rows == 0) {
      r.slot_of[v] = {memory_space::array, 0, r.arrays++};
      continue;
    }
    if (!own || (!B.stored[v] && !(v < p.count.variables && p.variables[v].persistable))) continue;
    if (const int view = Views.number(v); view >= 0) {
      r.slot_of[v] = {memory_space::view, 0, view};
      continue;
    }
    if (const int body = Reach.frame(v); body >= 0) {
      const int domain = domain_of_rows(d.rows);
      int& width = r.frame_width[body * domains + domain];
      r.slot_of[v] = {memory_space::frame, static_cast<std::int16_t>(domain), width};
      width += d.rows < 0 ? row_width(d) : d.rows * row_width(d);
      continue;
    }
    if (d.rows >= 0) {
      if (Same.shares(v)) continue;
      r.slot_of[v] = {memory_space::fixed, 0, static_cast<int>(r.fixed_size)};
      r.fixed_size += static_cast<long long>(d.rows) * row_width(d);
      continue;
    }
    if (const int owner = Reach.owner(v); blocks > 1 && owner != d.block) {
      next_made[v] = first_held[owner], first_held[owner] = v;
      continue;
    }
    const int g = B.producer[v];
    if (g < 0 || Same.shares(v)) continue;
    const int end = blocks > 1 ? last_need<B>(v) : Same.last[v];
    next_made[v] = first_made[g], first_made[g] = v;
    next_dead[v] = first_dead[end], first_dead[end] = v;
  }
  struct hole {
    int at, width, domain;
  };
  hole holes[bound(variables)];
  int top[bound(blocks * domains)];  // floats per row, by block and domain
  for (int b = 0, g = 0; b < blocks; ++b) {
    for (int d = 0; d < domains; ++d)
      top[b * domains + d] = b == 0 ? 0 : top[p.blocks[b].parent * domains + d];
    int count = 0;  // number of holes
    // Assigns positions first to the values that other blocks read, which are needed throughout
    // this block, then to the values of each group.
    for (bool held = true; held || (g < groups && B.groups[g].block == b); held = false) {
      for (int v = held ? first_held[b] : first_made[g]; v >= 0; v = next_made[v]) {
        const int width = row_width(L.variables[v]);
        const int domain = domain_of_rows(L.variables[v].rows);
        int h = count - 1;
        while (h >= 0 && (holes[h].width < width || holes[h].domain != domain ||
                          (RowsApart::of(b) && holes[h].width != width)))
          --h;
        const int at = h >= 0 ? holes[h].at : top[b * domains + domain];
        if (h < 0)
          top[b * domains + domain] += width;
        else if (holes[h].width == width)
          holes[h] = holes[--count];
        else
          holes[h] = {at + width, holes[h].width - width, domain};
        r.slot_of[v] = {memory_space::arena, static_cast<std::int16_t>(domain), at};
      }
      if (held) continue;
      for (int v = first_dead[g]; v >= 0; v = next_dead[v])
        holes[count++] = {r.slot_of[v].offset, row_width(L.variables[v]),
                          domain_of_rows(L.variables[v].rows)};
      ++g;
    }
    for (int d = 0; d < domains; ++d)
      if (r.arena_width[d] < top[b * domains + d]) r.arena_width[d] = top[b * domains + d];
  }
  for (int v = 0; Same.found && v < variables; ++v)
    if (Same.shares(v)) r.slot_of[v] = r.slot_of[Same.of[v]], r.slot_of[v].offset += Same.at[v];
  return r;
}

}}  // namespace lamina
