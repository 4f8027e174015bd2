// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/machine.hpp - runs a schedule at a place: launches in order, recorded once for
// each number of rows and then repeated as one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/engine/cuda/machine_memory.hpp>
#include <lamina/program/names.hpp>

namespace lamina::engine::cuda {

/// Runs program P by a backend in float. Owns activations, gradients and copies of the data at the
/// place, never parameters. For programs of one block whose rows are all fed.
template <class P, class Backend>
class machine {
 public:
  using plan_type = plan<P>;
  using schedule = schedule_table<P, Backend>;
  using memory_type = machine_memory<P, Backend>;
  static constexpr int domains = P::desc.count.domains;
  static constexpr bool is_plain = P::desc.count.blocks == 1 && plan_type::fed.all() &&
                                   plan_type::memory.arrays == 0 &&
                                   plan_type::memory.selected_rows == 0;
  static_assert(
      check<is_plain>,
      "lamina: cuda: programs with loops, branches, sequences of new lengths or gradients "
      "of rows do not run on the device yet: see docs/cuda.md");

  LAMINA_COLD machine(Backend& b, const outside_memory& outside)
      : backend_(b), memory_(b, outside) {
    bind(1);
  }

  /// A batch without sequences.
  void bind(int rows, std::int64_t first_row = 0) {
    struct {
      int count[domains] = {};
      const int* offsets[domains] = {};
      std::int64_t first[domains] = {};
    } all;
    all.count[batch::domain] = rows;
    all.first[batch::domain] = first_row;
    bind(all);
  }
  /// Rows by domain, and where their sequences begin; both have to stay until the next run.
  template <class Rows>
  requires requires(const Rows& r) { r.count[0] + r.first[0]; }
  void bind(const Rows& rows) {
    for (int d = 0; d < domains; ++d) first_row_[d] = rows.first[d];
    if (!memory_.set_rows(rows.count, rows.offsets)) return;
    // Groups run one after the other: the largest part of the scratch memory serves all of them.
    // There is no memory yet, but rows are all that tells how much is needed.
    const run_state state{memory_.rows(), memory_.offsets(), first_row_, nullptr, nullptr, nullptr};
    std::ptrdiff_t scratch = 0;
    for (int g = 0; g < schedule::groups; ++g)
      if (const auto needs = schedule::table.entries[g].scratch; needs != nullptr)
        scratch = std::max(scratch, needs(site(g, state)));
    memory_.bind(scratch);
  }
  /// Sets the array of the n-th data, in the memory of the host; it is copied by the next run.
  void feed(int data, const void* values) { memory_.feed(data, values); }
  int rows(int domain = batch::domain) const { return memory_.rows()[domain]; }

  /// Runs every group whose data are among `given` (a bit each), and waits for it. Throws
  /// lamina::error for a label or index out of range and for what the place cannot do.
  void run(unsigned long long given, std::uint64_t seed, std::uint64_t step) {
    memory_.stage(given, seed + step);
    run_key key{{}, {}, given};
    std::copy_n(memory_.rows(), domains, key.rows);
    std::copy_n(first_row_, domains, key.first_row);
    backend_.replay(key, [&] {
      memory_.upload(given);
      const run_state state = memory_state();
      for (int g = 0; g < schedule::groups; ++g) {
        const auto& e = schedule::table.entries[g];
        if ((e.feeds & ~given) != 0) continue;
        const call_site next = site(g, state);
        try {
          backend_.begin_group(next);
          e.run(backend_, next);
          backend_.end_group();
        } catch (const error& what) {
          fail_group(g, what);
        }
      }
      memory_.download_results();
    });
    backend_.wait();
    if (const fault_word f = memory_.found_fault(); f != no_fault) fail(f);
  }

  /// Copies a variable of the program to the host; null if the plan never stores it.
  template <int V>
  float* address() {
    return address(place_of_variable<P, V>);
  }
  float* address(const variable_place& place) { return memory_.fetch(place); }
  /// The same for a variable that the program returns or names, or that persists; null for others.
  static constexpr const variable_place* place(int variable) {
    return variable_table<P>::find(variable);
  }
  float* address(int variable) {
    const variable_place* const found = place(variable);
    return found == nullptr ? nullptr : address(*found);
  }
  /// The gradient of parameter i at the place, in rows as the device keeps it; null if none.
  float* gradient(int i) { return memory_.address_of(gradient_table<P>::table.of[i]); }
  /// The numbers that statements read: attributes, and what an optimizer sets before a step.
  float* constants() { return memory_.constants(); }

 private:
  struct run_key {
    std::int64_t rows[domains], first_row[domains];
    unsigned long long given;
  };

  run_state memory_state() const {
    return {memory_.rows(), memory_.offsets(), first_row_,
            memory_.seed(), memory_.fault(),   memory_.scratch()};
  }
  call_site site(int g, const run_state& state) const {
    const auto& e = schedule::table.entries[g];
    return {schedule::program,
            memory_.arguments() + e.first_argument,
            schedule::table.info + e.first_argument,
            e.group,
            state,
            g};
  }

  /// Adds which variable the group writes: that is the layer's.
  [[noreturn]] LAMINA_COLD static void fail_group(int g, const error& what) {
    const int variable = schedule::table.entries[g].group.variable;
    if (variable < 0) throw error(what);
    const auto& names = run_time_program<P>::desc;
    std::string name(static_cast<std::size_t>(name_length(names, variable)), ' ');
    name_writer w{name.data()};
    write_name(names, variable, w);
    throw error(text() << what.what() << " (for " << name << ")");
  }
  [[noreturn]] LAMINA_COLD void fail(fault_word f) {
    const int g = static_cast<int>(f >> 32), i = static_cast<int>(f & 0xffffffffu);
    const auto& e = schedule::table.entries[g];
    const run_state state = memory_state();
    const call_site failed = site(g, state);
    argument_view numbers = failed.in(e.checked.slot);
    const argument_view first = failed.in(0);
    const int count = e.checked.from == chosen::element ? first.line
                      : e.checked.from == chosen::row   ? first.rows
                                                        : failed.integer(0);
    std::int64_t found[1] = {};
    const std::ptrdiff_t at = i / numbers.columns * numbers.stride + i % numbers.columns;
    const std::size_t width = static_cast<std::size_t>(size_of(numbers.type));
    backend_.download(found, static_cast<const char*>(numbers.data) + at * static_cast<int>(width),
                      width);
    backend_.wait();
    const int row = i / numbers.columns;
    numbers.data = found;
    throw error(text() << "lamina: " << failed.schema().type << ": " << e.checked.what << " in row "
                       << row << ": expected 0 to " << count - 1 << ", found "
                       << numbers.integer(0));
  }

  Backend& backend_;
  memory_type memory_;
  std::int64_t first_row_[domains] = {};
};

}  // namespace lamina::engine::cuda
