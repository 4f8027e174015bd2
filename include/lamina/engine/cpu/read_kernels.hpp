// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/read_kernels.hpp - mini-batches that a program asks for.
#pragma once

#include <lamina/engine/call/call_error.hpp>
#include <lamina/engine/cpu/call_context.hpp>
#include <lamina/operators/read_minibatch.hpp>

namespace lamina::engine::cpu {

template <>
struct call_kernel<read_minibatch> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const minibatch_source* const source = c.run().source;
    if (source == nullptr) fail(c, {"expected a run with a reader, found none"});
    const bool more = source->next(source->self);
    *static_cast<bool*>(c.output(1).data) = more;
  }
};

}  // namespace lamina::engine::cpu
