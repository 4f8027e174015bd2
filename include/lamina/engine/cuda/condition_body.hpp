// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/condition_body.hpp - whether a block of a recorded graph runs, once more or at
// all: what a device decides without the host.
#pragma once

#include <lamina/engine/cuda/call_arguments.hpp>

namespace lamina::engine::cuda {

/// What a loop reports that has begun its last iteration: it does not end, or there is no room for
/// another copy of its frame.
enum class loop_fault : int { endless, no_room };

/// The condition of a loop or branch at the place. A loop that has begun its last iteration reports
/// itself, and ends.
struct condition_body {
  struct arguments {
    const std::uint8_t* condition;
    bool wanted;       // what it has to be
    unsigned* begun;   // iterations
    unsigned* passes;  // in all of the run
    unsigned limit;
    loop_fault beyond;
    fault_word* fault;
    int group;
    bool enters;  // for the first time
  };
  static LAMINA_INLINE LAMINA_FN bool run(const arguments& a) {
    if (a.enters) *a.begun = 0;
    if ((*a.condition != 0) != a.wanted) return false;
    if ((*a.begun)++ < a.limit) {
      ++*a.passes;
      return true;
    }
    report_fault(a.fault, a.group, static_cast<int>(a.beyond));
    return false;
  }
};

/// The gradient of a loop goes on as long as there are iterations that it has not been through.
struct iterations_left_body {
  struct arguments {
    const unsigned* begun;  // iterations of the loop
    unsigned* done;
    bool enters;
  };
  static LAMINA_INLINE LAMINA_FN bool run(const arguments& a) {
    if (a.enters) *a.done = 0;
    if (*a.done == *a.begun) return false;
    ++*a.done;
    return true;
  }
};

/// What follows a loop runs if all its iterations have left a copy of their frame.
struct frames_kept_body {
  struct arguments {
    const unsigned* begun;
    unsigned most;
    bool enters;
  };
  static LAMINA_INLINE LAMINA_FN bool run(const arguments& a) { return *a.begun <= a.most; }
};

}  // namespace lamina::engine::cuda
