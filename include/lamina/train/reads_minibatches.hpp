// SPDX-License-Identifier: Apache-2.0
// lamina/train/reads_minibatches.hpp - tells whether a program is a training loop itself, and
// whether several processes run it together.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/program/program.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Whether program P reads its mini-batches itself, with layer::read_minibatch.
template <program_type P>
constexpr bool reads_minibatches() {
  for (int i = 0; i < counts_of<P>.operators; ++i)
    if (P::desc.operators[i].schema->facts.reads_minibatch) return true;
  return false;
}

/// Whether program P has operators in which all processes of a run take part, such as
/// c_allreduce_sum.
template <program_type P>
constexpr bool meets_processes() {
  for (int i = 0; i < counts_of<P>.operators; ++i)
    if (P::desc.operators[i].schema->facts.meets_processes) return true;
  return false;
}

}}  // namespace lamina
