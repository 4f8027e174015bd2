// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/read_kernels.hpp - mini-batches that a program at a place asks for.
#pragma once

#include <lamina/engine/cuda/call_site.hpp>
#include <lamina/operators/read_minibatch.hpp>

namespace lamina::engine::cuda {

/// The host knows whether another mini-batch follows, so that it walks along the loop without a
/// look at the place.
template <>
struct call_kernel<read_minibatch> {
  template <class Backend>
  static void here(Backend&, const call_site& c) {
    const minibatch_source* const source = c.run.source;
    if (source == nullptr) fail(c, {"expected a run with a reader, found none"});
    const bool more = source->next(source->self);
    *static_cast<bool*>(c.output(1).data) = more;
  }
};

}  // namespace lamina::engine::cuda
