// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/machine.hpp - runs a schedule: a constexpr table of groups, walked by a loop.
#pragma once

#include <cstdint>
#include <utility>

#include <lamina/engine/cpu/aligned_buffer.hpp>
#include <lamina/engine/cpu/call_kernels.hpp>
#include <lamina/engine/cpu/copy_kernels.hpp>
#include <lamina/engine/cpu/group_kernel.hpp>
#include <lamina/plan/call_program.hpp>
#include <lamina/plan/run_time_tables.hpp>

namespace lamina::engine::cpu {

/// An entry of the table.
struct schedule_entry {
  group_function run;
  scratch_function scratch;
  int first_argument;
  group_info group;
  unsigned long long feeds;
};

/// The table of a program: groups, what each argument is, and where it lies.
template <class P>
struct schedule_table {
  using plan_type = plan<P>;
  static constexpr int groups = plan_type::groups;
  static constexpr int arguments = plan_type::code.count.arguments;
  static constexpr const program_view& program = call_program<P>::view;

  struct functions {
    group_function run[at_least_one(plan_type::kernels)];
    scratch_function scratch[at_least_one(plan_type::kernels)];
  };
  template <int... K>
  static constexpr functions make_functions(std::integer_sequence<int, K...>) {
    return {{&group_kernel<expression::group_of<plan_type, plan_type::distinct.first[K]>>::run...},
            {scratch_of<
                group_kernel<expression::group_of<plan_type, plan_type::distinct.first[K]>>>()...}};
  }
  template <class Kernel>
  static constexpr scratch_function scratch_of() {
    return Kernel::scratch;
  }

  struct table_type {
    schedule_entry entries[at_least_one(groups)];
    argument_info info[at_least_one(arguments)];
    memory_slot slots[at_least_one(arguments)];
  };

  static constexpr argument_info info_of(int v) {
    const variable_place d = place_of<plan_type>(v);
    const int known = plan_type::lowered.variables[v].variable;
    return {d.rows,
            d.columns,
            d.stride,
            d.type,
            d.panel,
            known >= 0 ? P::desc.variables[known].dims : 0,
            known >= 0 ? P::desc.variables[known].rank : 0};
  }

  /// The operator whose kernel an instruction calls; null for any other.
  static constexpr const operator_desc* operator_of(const instruction& i) {
    using calls = call_program<P>;
    const bool called = i.head == group_head::call && i.op >= 0 &&
                        lamina::detail::calls_operator(*i.schema, P::desc.operators[i.op]);
    return called ? &calls::desc.operators[calls::numbers.of[i.op]] : nullptr;
  }

  static constexpr table_type make() {
    constexpr functions f = make_functions(std::make_integer_sequence<int, plan_type::kernels>{});
    table_type t{};
    for (int g = 0; g < groups; ++g) {
      const group_desc& d = plan_type::grouped.groups[g];
      const group_code& c = plan_type::code.groups[g];
      const instruction& i = plan_type::lowered.instructions[plan_type::grouped.order[d.first]];
      const int kernel = plan_type::distinct.kernel[g];
      t.entries[g] = {
          f.run[kernel],
          f.scratch[kernel],
          c.arguments,
          {d.rows, d.columns, d.depth, d.panel, c.argument_count, i.schema->bare, operator_of(i)},
          d.feeds};
      for (int a = c.arguments; a < c.arguments + c.argument_count; ++a) {
        const int v = plan_type::code.arguments[a];
        const argument_use use = plan_type::code.uses[a];
        if (v < 0) {
          t.info[a] = {1, 1, 1, dtype::float32, false, 0, 0};
          t.slots[a] = {use == argument_use::numbers ? memory_space::numbers : memory_space::none,
                        0, is_constant(v) ? constant_index(v) : -1};
        } else {
          t.info[a] = info_of(v);
          t.slots[a] = plan_type::memory.slots[v];
          if (use == argument_use::updated) t.slots[a].space = memory_space::updated;
        }
      }
    }
    return t;
  }
  static constexpr table_type table = make();
};

/// Memory that a machine does not own: parameters, their gradients, accumulators, feeds. One
/// pointer each, in the order of the program.
struct outside_memory {
  float* const* parameters = nullptr;
  float* const* gradients = nullptr;
  float* const* accumulators = nullptr;
  /// The machine writes to `gradients` what it would update parameters with.
  bool leaves_updates = false;
};

/// Runs program P on the CPU in float. Owns activations and gradients, never parameters. Not for
/// two threads at once; any number of machines may share parameters that none of them writes.
template <class P>
class machine {
 public:
  using plan_type = plan<P>;
  using schedule = schedule_table<P>;

  LAMINA_COLD explicit machine(const outside_memory& outside)
      : outside_(outside), fixed_(static_cast<std::size_t>(fixed_size)) {
    for (int i = 0; i < constants_count; ++i) constants_[i] = constant_table<P>::table.of[i];
    bind(1);
  }

  static constexpr int domains = P::desc.count.domains;
  static constexpr int constants_count = plan_type::lowered.count.constants;
  /// Floats a row, by domain: the part of the memory plan that is needed at run time.
  struct arena_widths {
    int of[domains];
  };
  static constexpr arena_widths make_widths() {
    arena_widths w{};
    copy_items(w.of, plan_type::memory.arena_width, domains);
    return w;
  }
  static constexpr arena_widths width = make_widths();

  /// Gets ready for these rows; allocates only when there was never need for as much memory. The
  /// offsets of sequences are read in place and must outlive the run.
  void bind(const domain_rows<domains>& rows) {
    bool same = bound_;
    for (int d = batch::domain; d < domains; ++d) same = same && rows.count[d] == rows_.count[d];
    rows_ = rows;
    if (!same) bind_anew();
  }
  /// The same for samples without sequences; `first_row` is the place of the first one in the whole
  /// mini-batch.
  void bind(int rows, std::int64_t first_row = 0) { bind(domain_rows<domains>(rows, first_row)); }

  /// Sets the array of the n-th data; it is read in place and must outlive the run.
  void feed(int data, const void* values) {
    // An array without rows may have no address, and no kernel may calculate with none.
    static float nothing[1] = {};
    feeds_[data] = values == nullptr ? nothing : const_cast<void*>(values);
    for (int a = 0; a < schedule::arguments; ++a)
      if (schedule::table.slots[a].space == memory_space::feed &&
          schedule::table.slots[a].offset == data)
        arguments_[a] = static_cast<float*>(feeds_[data]);
  }

  /// Runs every group whose data are among `given` (a bit each).
  void run(unsigned long long given, std::uint64_t seed, std::uint64_t step) {
    const run_context c = context(seed, step);
    for (const schedule_entry& e : schedule::table.entries)
      if ((e.feeds & ~given) == 0)
        e.run(schedule::program, arguments_ + e.first_argument,
              schedule::table.info + e.first_argument, e.group, c);
  }

  /// Rows of the batch, or of another domain.
  int rows(int domain = batch::domain) const { return rows_.count[domain]; }
  /// Where variable V of the program lies.
  template <int V>
  static constexpr const variable_place& place() {
    return place_of_variable<P, V>;
  }
  /// The memory of variable V of the program, null if the plan never stores it.
  template <int V>
  float* address() {
    return address(place<V>());
  }
  float* address(const variable_place& place) { return address_of(place.slot); }
  /// The same for a variable that the program returns or names, or that persists; null for others.
  static constexpr const variable_place* place(int variable) {
    return variable_table<P>::find(variable);
  }
  float* address(int variable) {
    const variable_place* const found = place(variable);
    return found == nullptr ? nullptr : address(*found);
  }
  /// The memory of parameter i's gradient, in the layout of the parameter; null if there is none.
  float* gradient(int i) { return address_of(gradient_table<P>::table.of[i]); }
  /// The numbers that statements read: attributes, and what an optimizer sets before a step.
  float* constants() { return constants_; }

 private:
  static constexpr long long fixed_size = plan_type::memory.fixed_size;

  run_context context(std::uint64_t seed, std::uint64_t step) {
    return {rows_.count, rows_.offsets, rows_.first, seed, step, scratch_.data(), nullptr};
  }
  LAMINA_COLD void bind_anew() {
    bound_ = true;
    std::size_t wanted = 0;
    for (int d = batch::domain; d < domains; ++d) {
      const int rows = rows_.count[d];
      constants_[inverse_rows(d)] = rows > 0 ? 1.0f / static_cast<float>(rows) : 0.0f;
      arena_begin_[d] = wanted;
      wanted += static_cast<std::size_t>(width.of[d]) * static_cast<std::size_t>(rows);
    }
    if (wanted > arena_.size()) arena_.resize(wanted);
    place_arguments();
    const run_context c = context(0, 0);
    std::ptrdiff_t most = 0;
    for (int g = 0; g < schedule::groups; ++g) {
      const schedule_entry& e = schedule::table.entries[g];
      if (e.scratch == nullptr) continue;
      const std::ptrdiff_t n = e.scratch(schedule::program, arguments_ + e.first_argument,
                                         schedule::table.info + e.first_argument, e.group, c);
      if (n > most) most = n;
    }
    if (static_cast<std::size_t>(most) > scratch_.size())
      scratch_.resize(static_cast<std::size_t>(most));
  }
  float* address_of(memory_slot s) {
    switch (s.space) {
      case memory_space::arena:
        return arena_.data() + arena_begin_[s.domain] +
               static_cast<std::ptrdiff_t>(s.offset) * rows_.count[s.domain];
      case memory_space::fixed:
        return fixed_.data() + s.offset;
      case memory_space::parameter:
        return outside_.parameters[s.offset];
      case memory_space::accumulator:
        return outside_.accumulators == nullptr ? nullptr : outside_.accumulators[s.offset];
      case memory_space::gradient:
        return outside_.gradients == nullptr ? nullptr : outside_.gradients[s.offset];
      case memory_space::updated:
        return (outside_.leaves_updates ? outside_.gradients : outside_.parameters)[s.offset];
      case memory_space::numbers:
        return outside_.leaves_updates ? nullptr : constants_ + s.offset;
      case memory_space::feed:
        return static_cast<float*>(feeds_[s.offset]);
      case memory_space::none:
        return s.offset >= 0 ? constants_ + s.offset : nullptr;
    }
    return nullptr;
  }
  void place_arguments() {
    for (int a = 0; a < schedule::arguments; ++a)
      arguments_[a] = address_of(schedule::table.slots[a]);
  }

  outside_memory outside_;
  aligned_buffer arena_, fixed_, scratch_;
  float constants_[at_least_one(constants_count)];
  void* feeds_[at_least_one(P::desc.count.data)] = {};
  float* arguments_[at_least_one(schedule::arguments)] = {};
  domain_rows<domains> rows_;
  std::size_t arena_begin_[domains] = {};
  bool bound_ = false;
};

}  // namespace lamina::engine::cpu
