// SPDX-License-Identifier: Apache-2.0
// lamina/plan/memory_slot.hpp - the position of a variable: which memory, and the offset in it.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

namespace lamina::inline LAMINA_ABI {

/// The memory that a variable lies in.
enum class memory_space : std::int8_t {
  none,         // never stored
  arena,        // offset: floats per row of the domain
  fixed,        // offset: floats
  parameter,    // offset: number of the parameter
  accumulator,  // offset: number of the accumulator
  feed,         // offset: number of the data
  gradient,     // offset: number of the parameter whose gradient is given from outside
  updated,      // offset: number of the parameter that is updated here
  frame,        // offset: floats per row of the domain, in what an iteration leaves
  view,         // offset: number of the view, which gets its address when it is read
  array,        // offset: number of the array of tensors
  rows,         // offset: number of the selected rows
  numbers       // offset: first of the constants that are an update's numbers
};

/// The position of a variable.
struct memory_slot {
  memory_space space;
  std::int16_t domain;  // of the arena
  int offset;
};

}  // namespace lamina::inline LAMINA_ABI
