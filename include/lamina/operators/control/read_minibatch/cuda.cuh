// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/read_minibatch/cuda.cuh - the kernel of programs on a device that read
// mini-batches while they run.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/engine/cuda/schedule/call_context.hpp>
#include <lamina/operators/control/read_minibatch/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The host knows whether another mini-batch follows, so it can decide whether the loop continues
/// without reading the condition from the device. It must read the condition from the device only
/// if an operator on the device also writes the condition.
template <>
struct call_kernel<operators::read_minibatch> {
  static constexpr bool launches = true;
  template <class Backend>
  static void here(Backend& b, const call_context& c) {
    const bool more = next(c);
    keep_fields(b, c, c.others);
    *static_cast<bool*>(c.output(1).data) = more;
  }
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const bool more = next(c);
    keep_fields(b, c, c.arguments);
    fill(b, c.output(1), more ? 1 : 0);
  }

 private:
  static bool next(const call_context& c) {
    const minibatch_source* const source = c.run.source;
    if (source == nullptr) fail(c, {"expected a run with a reader, found none"});
    return source->next(source->self);
  }
  /// Copies the fields that the gradient of a loop reads: each iteration keeps its own copy of
  /// them. The operator has no inputs, so field i is argument i on the device.
  template <class Backend>
  static void keep_fields(Backend& b, const call_context& c, float* const* on_device) {
    const int* const fields = c.program().arguments + c.op()->outputs + 1;
    for (int i = 0; i < c.output_count(0); ++i) {
      operand to = c.output(0, i);
      to.data = on_device[i];
      if (!to || to.rows == 0) continue;
      operand from = to;
      from.data = const_cast<void*>(
          c.run.source->field(c.run.source->self, c.program().variables[fields[i]].index));
      copy_elements(b, from, to);
    }
  }
};

}}}  // namespace lamina::engine::cuda
