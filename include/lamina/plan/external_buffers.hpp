// SPDX-License-Identifier: Apache-2.0
// lamina/plan/external_buffers.hpp - what a machine works on and does not own.
#pragma once

#include <lamina/plan/memory_slot.hpp>

namespace lamina {

/// Memory that a machine does not own: one pointer each, in the order of the program, to where and
/// as the engine of the machine keeps parameters.
struct external_buffers {
  float* const* parameters = nullptr;
  float* const* gradients = nullptr;
  float* const* accumulators = nullptr;
  /// The machine writes to `gradients` what it would update parameters with.
  bool leaves_updates = false;

  /// Where the plan says that something lies which a machine does not own; null for what is not
  /// there.
  float* address_of(memory_slot s) const {
    switch (s.space) {
      case memory_space::parameter:
        return parameters[s.offset];
      case memory_space::accumulator:
        return accumulators == nullptr ? nullptr : accumulators[s.offset];
      case memory_space::gradient:
        return gradients == nullptr ? nullptr : gradients[s.offset];
      case memory_space::updated:
        return (leaves_updates ? gradients : parameters)[s.offset];
      default:
        return nullptr;
    }
  }
};

}  // namespace lamina
