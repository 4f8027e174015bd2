// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/first_update.hpp - finds the first group of a schedule that changes a
// parameter.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/plan/plan.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// Returns the first group of the outermost block that updates a parameter. Returns 0 if an inner
/// block updates a parameter, and the number of groups if no group does. If a run fails before this
/// group, all parameters are unchanged.
template <class Schedule>
constexpr int first_updating_group() {
  int first = Schedule::groups;
  for (int g = Schedule::groups; g-- > 0;) {
    const group_code& c = Schedule::plan_type::code.groups[g];
    bool updates = false;
    for (int a = c.arguments; a < c.arguments + c.argument_count; ++a)
      updates = updates || Schedule::table.slot_of[a].space == memory_space::updated;
    if (updates && Schedule::plan_type::grouped.groups[g].block != 0) return 0;
    if (updates) first = g;
  }
  return first;
}

}}}  // namespace lamina::engine
