// SPDX-License-Identifier: Apache-2.0
// lamina/plan/memory_slot.hpp - the position of a variable: the kind of memory and the offset in
// it.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

namespace lamina { inline namespace LAMINA_ABI {

/// The kind of memory that holds a variable, and the meaning of the offset in it.
enum class memory_space : std::int8_t {
  none,         // never stored
  arena,        // offset: floats per row of the domain
  fixed,        // offset: floats
  parameter,    // offset: index of the parameter
  accumulator,  // offset: index of the accumulator
  feed,         // offset: index of the data variable
  gradient,     // offset: index of the parameter whose gradient the caller holds
  updated,      // offset: index of the parameter that is updated here
  frame,        // offset: floats per row of the domain, in the frame of an iteration
  view,         // offset: index of the view; its address is set when the array is read
  array,        // offset: index of the array of tensors
  rows,         // offset: index of the selected rows (sparse gradient)
  numbers       // offset: index of the first of the constants that are an update's scalar arguments
};

/// The position of a variable.
struct memory_slot {
  memory_space space;
  std::int16_t domain;  // row domain of the arena
  int offset;
};

}}  // namespace lamina
