// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/ctc/cpu_align.hpp - the kernel of ctc_align, which turns a path into its
// labels.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/loss/ctc/definition.hpp>
#if LAMINA_DEFINES
#include <cstdint>

#include <lamina/engine/cpu/memory/label.hpp>
#include <lamina/operators/sequence/ids/cpu.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::ctc_align> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::ctc_align>::run(const call_context& c) {
  const int blank = c.integer(0);
  const bool merges = c.flag(1);
  detail::keep_rows(c, [=](const operand& x, int r, int first) {
    const std::int64_t id = integer_in(x, r, 0);
    return id != blank && !(merges && r > first && id == integer_in(x, r - 1, 0));
  });
}
LAMINA_INSTANCE(void call_kernel<operators::ctc_align>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::ctc_align>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
