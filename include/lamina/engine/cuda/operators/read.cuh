// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/operators/read.cuh - mini-batches that a program at a place asks for.
#pragma once

#include <lamina/engine/cuda/call_site.hpp>
#include <lamina/engine/cuda/part_copy.cuh>
#include <lamina/operators/read_minibatch.hpp>

namespace lamina::engine::cuda {

/// The host knows whether another mini-batch follows, so that it walks along the loop without a
/// look at the place, unless an operator there writes to the same variable.
template <>
struct call_kernel<read_minibatch> {
  static constexpr bool launches = true;
  template <class Backend>
  static void here(Backend&, const call_site& c) {
    *static_cast<bool*>(c.output(1).data) = next(c);
  }
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const bool more = next(c);
    fill(b, c.output(1), more ? 1 : 0);
  }

 private:
  static bool next(const call_site& c) {
    const minibatch_source* const source = c.run.source;
    if (source == nullptr) fail(c, {"expected a run with a reader, found none"});
    return source->next(source->self);
  }
};

}  // namespace lamina::engine::cuda
