// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/group_check.hpp - a hook that runs the groups of a schedule in place
// of the machine and checks the values that they compute.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// A function that runs a group and checks its arrays, with the data that the function reads. If
/// `run` is null, groups run without a check. The machine calls the function through a pointer, so
/// that only programs that include nan_check.hpp contain the code of the check.
struct group_check {
  void (*run)(const group_check& self, const program_view& program, int group,
              float* const* arguments, const run_context& c) = nullptr;
  const void* schedule = nullptr;
  const program_view* names = nullptr;  // the recorded program, which holds the names of variables
  bool infinity = false, leaves_updates = false;

  explicit operator bool() const { return run != nullptr; }
};

/// The check of program P. Defined in nan_check.hpp, which most programs do not include.
template <class P>
struct nan_check_of;
template <class P>
inline constexpr bool has_nan_check = requires {
  nan_check_of<P>::make();
};

}}}  // namespace lamina::engine::cpu
