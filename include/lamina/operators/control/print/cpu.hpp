// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/print/cpu.hpp - the kernel of the print operator.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/control/print/common.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Runs on the host only, because it writes to stderr.
template <>
struct call_kernel<operators::print> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::print>::run(const call_context& c) {
  const operand in = c.input(0), out = c.output(0);
  if (prints_now(c))
    print_operand(c, in, {load_as<double>, load_as<std::int64_t>},
                  [&](int domain) { return c.sequences(domain); });
  if (out) copy_elements(in, out);
}
LAMINA_INSTANCE(void call_kernel<operators::print>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::print>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
