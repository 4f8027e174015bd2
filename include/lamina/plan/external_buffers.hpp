// SPDX-License-Identifier: Apache-2.0
// lamina/plan/external_buffers.hpp - memory that a machine uses but does not own.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/plan/memory_slot.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Addresses of memory that a machine does not own: one pointer per parameter, per gradient of a
/// parameter, and per accumulator, in the order of the program. The arrays have the layout of the
/// parameters in the machine's engine.
struct external_buffers {
  float* const* parameters = nullptr;
  float* const* gradients = nullptr;
  float* const* accumulators = nullptr;
  /// If true, the machine does not update parameters, but writes their gradients to `gradients`.
  bool leaves_updates = false;

  /// Returns the address of the value at position `s` of the plan; null if it is not in external
  /// memory.
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

}}  // namespace lamina
