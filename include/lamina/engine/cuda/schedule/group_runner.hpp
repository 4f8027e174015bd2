// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/schedule/group_runner.hpp - launches a group of a schedule on a device.
#pragma once

#include <lamina/core/config.hpp>

#include <string>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/engine/cuda/memory/machine_memory.hpp>
#include <lamina/program/names.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// Launches the groups of program P by a backend.
template <class P, class Backend>
class group_runner {
  using schedule = schedule_table<P, Backend>;

 public:
  /// Launches group g. The message of an error names the variable that the group writes, which
  /// identifies the layer.
  static void run(Backend& b, const machine_memory<P, Backend>& memory, int g,
                  const run_context& state) {
    try {
      const call_context c = memory.site(g, state);
      b.begin_group(c);
      schedule::table.entries[g].run(b, c);
      b.end_group();
    } catch (const error& what) {
      fail(g, what);
    }
  }

 private:
  [[noreturn]] LAMINA_COLD static void fail(int g, const error& what) {
    const int variable = schedule::table.entries[g].group.variable;
    if (variable < 0) throw error(what);
    const auto& names = run_time_program<P>::desc;
    std::string name(static_cast<std::size_t>(name_length(names, variable)), ' ');
    name_writer w{name.data()};
    write_name(names, variable, w);
    throw error(text() << what.what() << " (for " << name << ")");
  }
};

}}}  // namespace lamina::engine::cuda
