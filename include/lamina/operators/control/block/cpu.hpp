// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/block/cpu.hpp - the kernel, which does nothing, of operators that run a
// block.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/control/block/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The kernel of an operator that runs a block. This kernel does nothing, because block_runner.hpp
/// runs the block.
struct no_kernel {
  template <class Real = float>
  static void run(const call_context&) {}
};
template <>
struct call_kernel<operators::while_block> : no_kernel {};
template <>
struct call_kernel<operators::while_block_gradient> : no_kernel {};
template <>
struct call_kernel<operators::conditional_block> : no_kernel {};
template <>
struct call_kernel<operators::conditional_block_gradient> : no_kernel {};

}}}  // namespace lamina::engine::cpu
