// SPDX-License-Identifier: Apache-2.0
// lamina/plan/outside_memory.hpp - what a machine works on and does not own.
#pragma once

namespace lamina {

/// Memory that a machine does not own: one pointer each, in the order of the program, to where and
/// as the engine of the machine keeps parameters.
struct outside_memory {
  float* const* parameters = nullptr;
  float* const* gradients = nullptr;
  float* const* accumulators = nullptr;
  /// The machine writes to `gradients` what it would update parameters with.
  bool leaves_updates = false;
  /// At a place whose gradients are scaled: the gradient of the cost. Null: it is 1.
  const float* cost_gradient = nullptr;
};

}  // namespace lamina
