// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/block_runner.hpp - runs loops and branches on the CPU.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/engine/common/block_runner.hpp>
#include <lamina/engine/cpu/memory/machine_memory.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The functions that engine::block_runner needs to run blocks (loop bodies and branches) in the
/// memory of a CPU machine.
template <class P>
struct block_engine {
  using memory_type = machine_memory<P>;
  using schedule = schedule_table<P>;
  using context_type = run_context;
  using chunks = buffer_chunks;

  LAMINA_INLINE static void run_group(memory_type& m, int group, const run_context& c) {
    if (const group_check& look = m.checked_by())
      return look.run(look, schedule::program, group, m.arguments(), c);
    const schedule_entry& e = schedule::table.entries[group];
    e.run(schedule::program, m.arguments() + e.first_argument,
          schedule::table.info + e.first_argument, e.group, c);
  }
  static bool is_true(memory_type& m, int argument) {
    return *reinterpret_cast<const bool*>(m.arguments()[argument]);
  }
  static int* rows(memory_type& m) { return m.rows().count; }
  static const int** offsets(memory_type& m) { return m.rows().offsets; }
  static void bind_rows(memory_type& m) { m.bind_rows(); }
  static constexpr int own_words(int) { return 0; }
  static void set_own_addresses(memory_type&, int, std::uintptr_t*) {}
};

/// Runs the blocks of program P.
template <class P>
using block_runner = engine::block_runner<P, block_engine<P>>;

}}}  // namespace lamina::engine::cpu
