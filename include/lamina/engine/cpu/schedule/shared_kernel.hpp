// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/shared_kernel.hpp - runs the kernels that all engines share.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/common/shared_kernel.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <class Op>
requires has_shared_kernel<Op>
struct call_kernel<Op> {
  template <class Real = float>
  static void run(const call_context& c) {
    require_real<Real>(c, c.input(0));
    if (!has_output(c)) return;
    const auto kernel = bind_call<shared_kernel<Op, Real>>(static_cast<const operator_call&>(c));
    for (int i = 0; i < kernel.count; ++i)
      if constexpr (requires { kernel.scratch; })
        kernel.run(i, reinterpret_cast<double*>(c.scratch()));
      else
        kernel.run(i);
  }
  template <class Real = float>
  requires requires(const shared_kernel<Op, Real>& kernel) { kernel.scratch; }
  static std::ptrdiff_t scratch(const call_context& c) {
    return in_floats<double>(
        bind_call<shared_kernel<Op, Real>>(static_cast<const operator_call&>(c)).scratch);
  }
};

}}}  // namespace lamina::engine::cpu
