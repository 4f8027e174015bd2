// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/condition_body.hpp - whether a block of a recorded graph runs, once more or at
// all: what a device decides without the host.
#pragma once

#include <lamina/engine/cuda/call_arguments.hpp>

namespace lamina::engine::cuda {

/// The condition of a loop or branch at the place. A loop that has begun its last iteration reports
/// itself, and ends.
struct condition_body {
  struct arguments {
    const std::uint8_t* condition;
    unsigned* begun;  // iterations
    unsigned limit;
    fault_word* fault;
    int group;
    bool enters;  // for the first time
  };
  static LAMINA_INLINE LAMINA_FN bool run(const arguments& a) {
    if (a.enters) *a.begun = 0;
    if (*a.condition == 0) return false;
    if ((*a.begun)++ < a.limit) return true;
    report_fault(a.fault, a.group, 0);
    return false;
  }
};

}  // namespace lamina::engine::cuda
