// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/read_minibatch/cpu.hpp - the kernel of programs that read mini-batches
// while they run.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/control/read_minibatch/definition.hpp>
#if LAMINA_DEFINES
#include <cstddef>
#include <cstring>

#include <lamina/engine/common/call_error.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::read_minibatch> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::read_minibatch>::run(const call_context& c) {
  const minibatch_source* const source = c.run().source;
  if (source == nullptr) fail(c, {"expected a run with a reader, found none"});
  const bool more = source->next(source->self);
  const int count = c.output_count(0);
  const int* const fields = c.program().arguments + c.op()->outputs + 1;
  for (int i = 0; i < count; ++i) {
    const operand to = c.output(0, i);
    const void* const from = source->field(source->self, c.program().variables[fields[i]].index);
    // Most fields use the reader's memory. Only a field that the gradient of a loop reads has
    // separate memory, to which it is copied.
    if (!to || to.data == from || to.rows == 0) continue;
    std::memcpy(to.data, from,
                static_cast<std::size_t>(to.rows) * static_cast<std::size_t>(to.columns) *
                    static_cast<std::size_t>(size_of(to.type)));
  }
  *static_cast<bool*>(c.output(1).data) = more;
}
LAMINA_INSTANCE(void call_kernel<operators::read_minibatch>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::read_minibatch>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
