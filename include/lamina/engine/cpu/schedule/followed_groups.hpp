// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/followed_groups.hpp - calls a function after each group of a schedule,
// for callers that act while a run is in progress.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/group_check.hpp>
#include <lamina/engine/cpu/schedule/schedule_table.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Runs groups in place of the machine and calls a function after each group. It uses the hook for
/// a group_check, which every machine has, so machines need no additional code for it.
struct followed_groups {
  const schedule_entry* entries = nullptr;
  const argument_info* info = nullptr;
  int outermost = 0;  // number of groups of the outermost block, the first in the schedule
  void* self = nullptr;
  int thread = 0;
  /// Called after each group. `group` is its number, or -1 for a group of an inner block.
  void (*advance)(void* self, int thread, int group) = nullptr;

  LAMINA_API LAMINA_COLD group_check as_check() const;

 private:
  static void run(const group_check& how, const program_view& program, int g,
                  float* const* arguments, const run_context& c) {
    const followed_groups& f = *static_cast<const followed_groups*>(how.schedule);
    const schedule_entry& e = f.entries[g];
    e.run(program, arguments + e.first_argument, f.info + e.first_argument, e.group, c);
    f.advance(f.self, f.thread, g < f.outermost ? g : -1);
  }
};

#if LAMINA_DEFINES

group_check followed_groups::as_check() const {
  group_check made;
  made.run = &run;
  made.schedule = this;
  return made;
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
