// SPDX-License-Identifier: Apache-2.0
// lamina/plan/array_views.hpp - finds values that a loop can read from an array of tensors, or
// write to it, without a copy.
//
// A variable that is read from an array can be a view: only the address of the array's slot is
// stored. If a loop keeps the values of each iteration in a frame for its gradient, writing such a
// value to an array only stores the address of the value in the slot. Therefore a write to a slot
// must not overwrite memory to which a view refers. If no gradient reads the views and each
// iteration writes the array at most once, two buffers per slot, used in turn, are enough. If
// gradients read the views, every write gets new memory until the array is cleared.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/operators/control/rank_table/definition.hpp>
#include <lamina/plan/block_reach.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The memory for a value that is written to an array slot again: the memory that the slot has now,
/// the other of its two buffers, or new memory.
enum class slot_memory : std::uint8_t { in_place, alternate, fresh };

/// The views of a program, with a number for each. A program without loops or without arrays has no
/// views.
template <int Variables, int Instructions>
struct array_views {
  int numbers[bound(Variables)];         // by variable: the number of its view, or -1
  slot_memory memory[bound(Variables)];  // by array
  bool refers[bound(Instructions)];      // by instruction: it stores an address in a slot
  int count;

  /// Returns the number of variable v among the views, or -1 if v is not a view.
  constexpr int number(int v) const { return Variables > 0 && v >= 0 ? numbers[v] : -1; }
  constexpr bool refers_at(int instruction) const {
    return Instructions > 0 && refers[instruction];
  }
};

namespace detail {

/// Finds the variables that can be views, and the writes that can store an address.
template <class P, auto const& L, auto const& Loops, auto const& Reach>
struct view_finder {
  static constexpr int variables = L.count.variables, instructions = L.count.instructions;
  static constexpr int blocks = P::desc.count.blocks;

  array_views<variables, instructions> r{};
  int writers[bound(variables)];    // by variable: the number of instructions that write it
  int array_of[bound(variables)];   // by view: the array that it reads
  int last_read[bound(variables)];  // by array: its last reader, or the number of instructions if a
                                    // gradient reads it
  int once_in[bound(variables)];    // by array: the block with its only write_to_array; -1: none,
                                    // -2: several
  int gradient[bound(blocks)];      // by body of a loop: the instruction of its gradient
  bool cleared[bound(variables)];

  static constexpr int several = -2;

  constexpr view_finder() = default;
  view_finder(const view_finder&) = delete;

  static constexpr bool is_array(int v) {
    return v >= 0 && v < P::desc.count.variables &&
           P::desc.variables[v].kind == variable_kind::tensor_array;
  }
  static constexpr int parent(int block) { return P::desc.blocks[block].parent; }
  static constexpr bool is_gradient_block(int block) {
    for (; block > 0; block = parent(block))
      if (P::desc.blocks[block].forward_block >= 0) return true;
    return false;
  }
  static constexpr int root_of(int v) { return v < 0 ? v : L.variables[v].root; }

  /// Counts the writers of each variable, and finds the last reader of each array and, if only one
  /// write_to_array in a block other than the array's own block writes it, that block.
  constexpr void find_uses() {
    for (int v = 0; v < variables; ++v)
      writers[v] = 0, array_of[v] = last_read[v] = once_in[v] = r.numbers[v] = -1,
      cleared[v] = false;
    for (int b = 0; b < blocks; ++b) gradient[b] = -1;
    for (int k = 0; k < instructions; ++k) {
      const instruction& i = L.instructions[k];
      if (i.schema->facts.block == block_rule::loop_gradient)
        gradient[P::desc.blocks[i.runs].forward_block] = k;
      if (i.runs >= 0) continue;
      for (int a = i.inputs; a < i.inputs + i.input_count; ++a)
        if (const int v = root_of(L.operands[a].id); is_array(v))
          last_read[v] = is_gradient_block(i.block) ? instructions : k;
      for (int o = i.outputs; o < i.outputs + i.output_count; ++o) {
        const int v = root_of(L.results[o]);
        if (v < 0) continue;
        ++writers[v];
        if (!is_array(v)) continue;
        if (same_address(i.schema, &schema_of<operators::write_to_array>())) {
          if (i.block != L.variables[v].block) once_in[v] = once_in[v] == -1 ? i.block : several;
        } else if (!same_address(i.schema, &schema_of<operators::read_from_array_gradient>()) &&
                   !same_address(i.schema, &schema_of<operators::write_to_array_gradient>())) {
          // An array is created by one instruction of its own block. Any other instruction that
          // writes the variable clears the array.
          cleared[v] = cleared[v] || i.block != L.variables[v].block || writers[v] > 1;
        }
      }
    }
  }

  /// Whether the iterations of block b, or of a loop around it, keep their values for a gradient.
  constexpr bool is_repeated(int b) const {
    for (; b > 0; b = parent(b))
      if (Loops.of[b] && gradient[b] >= 0) return true;
    return false;
  }

  constexpr void try_view(const instruction& i, int v, int array) {
    if (v < 0 || !is_array(array) || cleared[array] || i.block == 0 || writers[v] != 1 ||
        L.variables[v].root != v || L.variables[v].block != i.block || L.variables[v].panel)
      return;
    const bool kept = Reach.frame(v) >= 0;
    if (!kept && Reach.owner(v) != i.block) return;
    slot_memory needed = slot_memory::fresh;
    if (kept) {
      if (is_repeated(L.variables[array].block)) return;
    } else if (!is_gradient_block(i.block)) {
      if (const int b = once_in[array]; b == several || (b != i.block && b >= 0)) return;
      needed = slot_memory::alternate;
    }
    if (r.memory[array] < needed) r.memory[array] = needed;
    r.numbers[v] = r.count++;
    array_of[v] = array;
  }

  constexpr void find_views() {
    for (int k = 0; k < instructions; ++k) {
      const instruction& i = L.instructions[k];
      if (i.head != fusion_anchor::call || i.runs >= 0) continue;
      if (same_address(i.schema, &schema_of<operators::read_from_array>())) {
        try_view(i, L.results[i.outputs], root_of(L.operands[i.inputs].id));
      } else if (same_address(i.schema, &schema_of<operators::write_to_array_gradient>())) {
        if (is_gradient_block(i.block))
          try_view(i, L.results[i.outputs], root_of(L.operands[i.inputs + 2].id));
      } else if (same_address(i.schema, &schema_of<operators::shrink_rnn_memory>())) {
        // shrink_rnn_memory selects the first rows of its operand; if the operand is a view, the
        // result is a view of the same slot.
        const int x = root_of(L.operands[i.inputs].id), v = L.results[i.outputs];
        if (x >= 0 && r.numbers[x] >= 0 && v >= 0 && L.variables[x].block == i.block &&
            P::desc.domains[domain_of_rows(L.variables[v].rows)].kind == domain_kind::step)
          try_view(i, v, array_of[x]);
      }
    }
  }

  constexpr void find_references() {
    for (int k = 0; k < instructions; ++k) {
      const instruction& i = L.instructions[k];
      if (!same_address(i.schema, &schema_of<operators::write_to_array>())) continue;
      const int x = root_of(L.operands[i.inputs].id), array = root_of(L.results[i.outputs]);
      const int body = x < 0 ? -1 : Reach.frame(x);
      r.refers[k] = body >= 0 && is_array(array) && writers[x] == 1 && r.numbers[x] < 0 &&
                    !L.variables[x].panel && x < P::desc.count.variables &&
                    P::desc.variables[x].kind == variable_kind::temporary &&
                    L.variables[array].block == parent(body) && last_read[array] < gradient[body];
    }
  }
};

template <class P>
constexpr bool has_arrays() {
  const int variables = P::desc.count.variables;
  for (int v = 0; v < variables; ++v)
    if (P::desc.variables[v].kind == variable_kind::tensor_array) return true;
  return false;
}

}  // namespace detail

/// Finds the views of program P.
template <class P, auto const& L, auto const& Loops, auto const& Reach>
constexpr auto find_views() {
  if constexpr (P::desc.count.blocks > 1 && detail::has_arrays<P>()) {
    detail::view_finder<P, L, Loops, Reach> f;
    f.find_uses();
    f.find_views();
    f.find_references();
    return f.r;
  } else {
    return array_views<0, 0>{};
  }
}

}}  // namespace lamina
