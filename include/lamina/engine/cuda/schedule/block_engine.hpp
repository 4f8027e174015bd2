// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/schedule/block_engine.hpp - runs programs with loops and branches on a device.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/engine/common/block_runner.hpp>
#include <lamina/engine/cuda/memory/machine_memory.hpp>
#include <lamina/engine/cuda/schedule/group_runner.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The Engine of block_runner.hpp for a device. The host runs the control flow and keeps the
/// address and the row count of every array. The kernels that it launches run in the order of the
/// stream.
template <class P, class Backend>
struct device_block_engine {
  using memory_type = machine_memory<P, Backend>;
  using schedule = schedule_table<P, Backend>;
  using context_type = run_context;
  using chunks = device_chunks<Backend>;
  using known = host_table<P, Backend>;

  static void run_group(memory_type& m, int g, const run_context& state) {
    if (!known::table.here[g]) return group_runner<P, Backend>::run(m.backend(), m, g, state);
    m.blocks().make_ranks(g, m.rows());
    const auto& e = schedule::table.entries[g];
    e.run_here(m.backend(), {schedule::program, m.blocks().on_host() + e.first_argument,
                             schedule::table.info + e.first_argument, e.group, state, g,
                             m.arguments() + e.first_argument});
    const int next = g + 1 < schedule::groups ? schedule::table.entries[g + 1].first_argument
                                              : schedule::arguments;
    m.blocks().copy_to_device(e.first_argument, next, m.arguments());
  }
  static bool is_true(memory_type& m, int argument) { return m.is_true(argument); }
  static int* rows(memory_type& m) { return m.rows(); }
  static const int** offsets(memory_type& m) { return m.host_offsets(); }
  static void bind_rows(memory_type& m) { m.bind_rows(); }
  static constexpr int own_words(int loop) { return known::table.words[loop]; }
  static void set_own_addresses(memory_type& m, int loop, std::uintptr_t* words) {
    m.blocks().set_own_addresses(loop, words);
  }
  template <class Push>
  static void keep_own(memory_type& m, int loop, std::uintptr_t* words, const Push& push) {
    m.blocks().keep_own(loop, words, push);
  }
  static void restore_own(memory_type& m, int loop, const std::uintptr_t* words) {
    m.blocks().restore_own(loop, words);
  }
};

/// Runs the blocks of program P on a device.
template <class P, class Backend>
class device_block_runner : public engine::block_runner<P, device_block_engine<P, Backend>> {
 public:
  explicit device_block_runner(Backend& b)
      : engine::block_runner<P, device_block_engine<P, Backend>>(device_chunks<Backend>{&b}) {}
};

}}}  // namespace lamina::engine::cuda
