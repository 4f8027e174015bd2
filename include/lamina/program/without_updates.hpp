// SPDX-License-Identifier: Apache-2.0
// lamina/program/without_updates.hpp - a training program whose updates somebody else does.
#pragma once

#include <lamina/program/program.hpp>

namespace lamina {

/// A training program that computes its gradients and leaves the updates out: for gradients that
/// several machines compute, or whose norms must be known first. It shares the other's lowering, so
/// it costs the compiler little.
template <class Training>
struct without_updates : program_base<without_updates<Training>> {
  using training = Training;
  using result = typename Training::result;
  static constexpr const program_desc& desc = Training::desc;
};

}  // namespace lamina
