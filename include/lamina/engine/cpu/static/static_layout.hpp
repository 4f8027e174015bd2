// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/static/static_layout.hpp - the memory layout of a plan for a constant number of
// rows: one block of memory in which every offset is a compile-time constant.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>
#include <string_view>

#include <lamina/engine/cpu/gemm/gemm.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/engine/cpu/static/static_conv_shape.hpp>
#include <lamina/engine/cpu/static/static_windows.hpp>
#include <lamina/plan/call_program.hpp>
#include <lamina/plan/plan_operators.hpp>
#include <lamina/plan/run_time_tables.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// A policy of static_layout: all parameters have the same memory layout as in the model.
/// (static_bfloat16.hpp has a policy with another layout.)
struct float_weights {
  /// Whether parameters that are right operands of matrix products have a layout that differs from
  /// the layout in the model.
  static constexpr bool own_panels = false;
  static constexpr std::ptrdiff_t scratch_floats(int rows, int depth, int columns) {
    return gemm_scratch_floats(rows, depth, columns);
  }
};

namespace detail {

/// The memory of a plan without the variables that are in windows or that windows make needless.
template <class P, auto const& Windows>
struct memory_beside_windows {
  using plan_type = plan<P>;
  static constexpr auto grouped = [] {
    auto g = plan_type::grouped;
    for (int v = 0; v < plan_type::lowered.count.variables; ++v)
      if (Windows.containing(v) >= 0 || Windows.before(v) >= 0) g.stored[v] = false;
    return g;
  }();
  static constexpr auto memory = plan_memory<P, plan_type::lowered, grouped, plan_type::reach,
                                             plan_type::views, plan_type::same>();
};

}  // namespace detail

/// The offsets of parameters, data, constants and activations of program P for `Rows` samples, in
/// floats from the beginning of one block of memory. All offsets are multiples of 64 bytes, except
/// those of single constants.
template <class P, int Rows, class Weights = float_weights>
struct static_layout {
  using weights = Weights;
  using plan_type = plan<P>;
  static constexpr int data_count = counts_of<P>.data;
  static constexpr int parameter_count = counts_of<P>.parameters;
  static constexpr int constant_count = plan_type::lowered.count.constants;

  /// The value used as the offset of an array that has no memory.
  static constexpr std::ptrdiff_t nowhere = -1;

  /// The states in windows, by data layer (static_windows.hpp).
  static constexpr static_windows<P> windows{};
  static constexpr const auto& memory_plan() {
    if constexpr (windows.found)
      return detail::memory_beside_windows<P, windows>::memory;
    else
      return plan_type::memory;
  }

  struct positions {
    std::ptrdiff_t parameters[bound(parameter_count)];
    std::ptrdiff_t data[bound(data_count)];  // that of the window if a window holds the state
    std::ptrdiff_t constants, fixed, arena, order, cursors, scratch, end;
  };
  static constexpr int rows_of(int known) {
    return known < 0 ? Rows * parts_of_rows(known) : known;
  }
  /// The floats of all rows of the concatenation in window i, and of the whole window. The window
  /// moves back when it has advanced by a quarter of them.
  static constexpr int window_floats(int i) {
    return Rows * padded(windows.of[i].channels * windows.of[i].length());
  }
  static constexpr int window_capacity(int i) {
    const int block = windows.of[i].block, blocks = window_floats(i) / 4 / block;
    return window_floats(i) + (blocks + 1) * block;
  }
  /// The size of input data i in floats.
  static constexpr int data_floats(int i) {
    if (windows.found && windows.of[i].data >= 0) return padded(window_capacity(i));
    const plan_variable& d = plan_type::lowered.variables[P::desc.data[i]];
    return padded(((d.rows < 0 ? Rows : d.rows) * d.columns * size_of(d.type) + 3) / 4);
  }
  /// Whether the weights of a product are larger than 24 KiB, half of a first-level cache of 48
  /// KiB. Then every second run reads the panels from the last to the first (`panel_order`), so
  /// that it begins with the panels that the previous run has left in the cache.
  static constexpr bool alternates(const group_desc& d) {
    return !Weights::own_panels && d.head == fusion_anchor::gemm &&
           panels_floats(d.depth, d.columns) > 6 * 1024;
  }
  static constexpr bool alternates() {
    for (int g = 0; g < plan_type::groups; ++g)
      if (alternates(plan_type::grouped.groups[g])) return true;
    return false;
  }
  /// The caller must call this function before each run on a block of memory; it reverses the order
  /// in which the run reads large weights.
  static LAMINA_INLINE void begin_run(float* memory) {
    if constexpr (alternates()) memory[at.order] = 1.F - memory[at.order];
  }
  static LAMINA_INLINE panel_order order_of_panels(const float* memory) {
    return memory[at.order] == 0.F ? panel_order::ascending : panel_order::descending;
  }
  /// Floats of scratch memory that group g needs.
  static constexpr std::ptrdiff_t scratch_floats(int g) {
    const group_desc& d = plan_type::grouped.groups[g];
    if (d.head == fusion_anchor::gemm)
      return Weights::scratch_floats(rows_of(d.rows), d.depth, d.columns);
    if (d.head == fusion_anchor::conv)
      return static_conv_shape(P::desc,
                               plan_type::lowered.instructions[plan_type::grouped.order[d.first]])
          .padded_floats();
    return 0;
  }
  /// Whether parameter i is used only as the right operand of products.
  static constexpr bool is_factor(int i) {
    bool found = false;
    for (int g = 0; g < plan_type::groups; ++g) {
      const group_code code = plan_type::code.groups[g];
      for (int a = 0; a < code.argument_count; ++a) {
        const int v = plan_type::code.arguments[code.arguments + a];
        if (v < 0) continue;
        const memory_slot slot = plan_type::memory.slot_of[v];
        if (slot.space != memory_space::parameter || slot.offset != i) continue;
        if (a != 1 || plan_type::grouped.groups[g].head != fusion_anchor::gemm) return false;
        found = true;
      }
    }
    return found;
  }
  /// Whether parameter i is stored in panels that differ from the model's panels.
  static constexpr bool has_own_panels(int i) {
    if constexpr (Weights::own_panels) return is_factor(i);
    return false;
  }
  static constexpr std::ptrdiff_t parameter_floats(int i) {
    const parameter_layout& d = parameter_table<P>::table.of[i];
    if constexpr (Weights::own_panels) {
      if (is_factor(i)) return Weights::panels_floats(d.rows, d.columns);
    }
    return static_cast<std::ptrdiff_t>(d.rows) * padded(d.columns);
  }
  static constexpr positions make() {
    positions p{};
    std::ptrdiff_t next = 0;
    for (int i = 0; i < parameter_count; ++i) {
      p.parameters[i] = next;
      next += parameter_floats(i);
    }
    for (int i = 0; i < data_count; ++i) p.data[i] = next, next += data_floats(i);
    p.constants = next;
    next += padded(constant_count);
    p.fixed = next;
    next += memory_plan().fixed_size;
    p.arena = next;
    next += static_cast<std::ptrdiff_t>(memory_plan().arena_width[batch::domain]) * Rows;
    p.order = next;
    if (alternates()) next += alignment_floats;
    p.cursors = next;
    if (windows.found) next += padded(2 * data_count);
    p.scratch = next;
    std::ptrdiff_t most = 0;
    for (int g = 0; g < plan_type::groups; ++g) {
      const std::ptrdiff_t n = scratch_floats(g);
      if (n > most) most = n;
    }
    // Kernels read whole vectors, and the last vector of the last row may extend beyond the end of
    // the row.
    p.end = next + most + 4 * alignment_floats;
    return p;
  }
  static constexpr positions at = make();

  /// The offset of a memory slot.
  static constexpr std::ptrdiff_t position(memory_slot s) {
    if (s.space == memory_space::arena)
      return at.arena + static_cast<std::ptrdiff_t>(s.offset) * Rows;
    if (s.space == memory_space::fixed) return at.fixed + s.offset;
    if (s.space == memory_space::parameter) return at.parameters[s.offset];
    if (s.space == memory_space::feed) return at.data[s.offset];
    return nowhere;
  }
  /// The offset of a variable of the plan: for the concatenation in a window, of the beginning of
  /// the window; nowhere for its parts.
  static constexpr std::ptrdiff_t position_of(int v) {
    if (const int window = windows.containing(v); window >= 0) return at.data[window];
    if (const int data = staged(plan_type::same.shares(v) ? plan_type::same.of[v] : v); data >= 0)
      return at.data[data];
    const memory_slot slot = memory_plan().slot_of[v];
    if (slot.space == memory_space::feed && is_window(slot.offset)) return nowhere;
    return position(slot);
  }
  /// The data layer of which variable v is a copy with padded rows, or -1. The memory of one row
  /// has the padding, so the copy is the data layer itself.
  static constexpr int staged(int v) {
    const int g = plan_type::grouped.producer[v];
    if (Rows != 1 || g < 0 || plan_type::grouped.groups[g].head != fusion_anchor::call) return -1;
    const instruction& i =
        plan_type::lowered
            .instructions[plan_type::grouped.order[plan_type::grouped.groups[g].first]];
    if (!same_address(i.schema, &schema_of<operators::stage_feed>())) return -1;
    const int from = plan_type::lowered.operands[i.inputs].id;
    const plan_variable& d = plan_type::lowered.variables[from];
    const memory_slot slot = plan_type::memory.slot_of[d.root];
    return slot.space == memory_space::feed && d.rows < 0 && d.type == dtype::float32 ? slot.offset
                                                                                      : -1;
  }
  static constexpr bool is_window(int i) { return windows.found && windows.of[i].data >= 0; }

  /// How far window i has advanced: the state is there, and the next state after the latest run.
  struct cursor {
    int now, next;
  };
  template <int Window>
  static LAMINA_INLINE cursor cursor_of(const float* memory) {
    cursor c;
    std::memcpy(&c, memory + at.cursors + 2 * Window, sizeof c);
    return c;
  }
  template <int Window>
  static LAMINA_INLINE void set_cursor(float* memory, cursor c) {
    static_assert(sizeof c == 2 * sizeof(float));
    std::memcpy(memory + at.cursors + 2 * Window, &c, sizeof c);
  }
  /// The address in window `Window` that has advanced by `by`.
  template <int Window, class Float>
  static LAMINA_INLINE Float* window_at(Float* memory, int by) {
    return memory + at.data[Window] + by;
  }
  /// Makes the next state of window `Window` its state.
  template <int Window>
  static void advance(float* memory) {
    constexpr int moved = window_floats(Window);
    int to = cursor_of<Window>(memory).next;
    if (to + moved > window_capacity(Window)) {
      std::memmove(window_at<Window>(memory, 0), window_at<Window>(memory, to),
                   sizeof(float) * static_cast<std::size_t>(moved));
      to = 0;
    }
    set_cursor<Window>(memory, {to, to});
  }
};

/// Group G of a plan, with all data that its kernel needs as compile-time constants.
template <class P, int Rows, int G, class Weights = float_weights>
struct static_group {
  using program = P;
  using layout = static_layout<P, Rows, Weights>;
  using plan_type = plan<P>;
  static constexpr int id = G;
  static constexpr group_desc desc = plan_type::grouped.groups[G];
  static constexpr group_code code = plan_type::code.groups[G];
  static constexpr int rows = layout::rows_of(desc.rows);
  static constexpr int columns = desc.columns;
  static constexpr int depth = desc.depth;
  static constexpr int count = code.argument_count;
  static constexpr instruction first =
      plan_type::lowered.instructions[plan_type::grouped.order[desc.first]];
  /// Whether `given`, a bit mask with one bit per input data, contains all data that the group
  /// reads.
  static constexpr bool runs(unsigned long long given) { return (desc.feeds & ~given) == 0; }

  /// Whether the group is a product with a parameter whose panels differ from the model's panels.
  static constexpr bool multiplies_own_panels() {
    if (!Weights::own_panels || desc.head != fusion_anchor::gemm) return false;
    const int v = plan_type::code.arguments[code.arguments + 1];
    if (v < 0) return false;
    const memory_slot slot = plan_type::memory.slot_of[v];
    return slot.space == memory_space::parameter && layout::has_own_panels(slot.offset);
  }

  struct argument {
    std::ptrdiff_t position;
    argument_info info;
    int window;  // the window that contains it, or -1
  };
  struct table {
    argument of[bound(count)];
  };
  static constexpr table make() {
    table t{};
    const int parts = parts_of_rows(desc.rows < 0 ? desc.rows : desc.depth);
    for (int a = 0; a < count; ++a) {
      const int v = plan_type::code.arguments[code.arguments + a];
      t.of[a] = {layout::nowhere, argument_info_of<plan_type>(code.arguments + a, parts), -1};
      if (is_constant(v)) t.of[a].position = layout::at.constants + constant_index(v);
      if (v < 0) continue;
      t.of[a].position = layout::position_of(v);
      t.of[a].window = layout::windows.containing(v);
      t.of[a].info.rows = layout::rows_of(t.of[a].info.rows);
    }
    return t;
  }
  static constexpr table arguments = make();

  /// The number of dimensions of an argument, including the row dimension.
  static constexpr int rank(int argument) { return arguments.of[argument].info.rank; }
  /// Element `i` of an attribute that is a list of integers; list_size() returns their number.
  /// text() returns the value of an attribute that is a string.
  static constexpr int integer(int attribute, int i) {
    const int at = P::desc.operators[first.op].attributes;
    return P::desc.integers[P::desc.attributes[at + attribute].offset + i];
  }
  static constexpr int list_size(int attribute) {
    const int at = P::desc.operators[first.op].attributes;
    return P::desc.attributes[at + attribute].count;
  }
  static constexpr std::string_view text(int attribute) {
    const int at = P::desc.operators[first.op].attributes;
    if (at < 0) return first.schema->attributes[attribute].text;
    const attribute_value v = P::desc.attributes[at + attribute];
    return {P::desc.characters + v.offset, static_cast<std::size_t>(v.count)};
  }
  /// The size of dimension d of an argument; negative if it is a number of rows, which is known
  /// only at run time.
  static constexpr int extent(int argument, int d) {
    return P::desc.dims[arguments.of[argument].info.dims + d];
  }
  /// The value of an attribute that is a number.
  static constexpr double number(int attribute) {
    const int at = P::desc.operators[first.op].attributes;
    return at < 0 ? first.schema->attributes[attribute].number
                  : P::desc.attributes[at + attribute].number;
  }
};

}}}  // namespace lamina::engine::cpu
