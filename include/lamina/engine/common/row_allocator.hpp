// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/row_allocator.hpp - functions by which kernels of all engines set row counts
// and read mini-batches while a program runs.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

class process_calls;

/// Functions by which kernels set the number of rows of a domain while a program runs. Such rows
/// are, for example, the rows of a batch that a condition selects, the sequences that are still
/// active at a time step, or the elements of sequences with new lengths.
struct row_allocator {
  void* machine;
  void (*set_rows)(void* machine, int domain, int rows);
  int* (*make_offsets)(void* machine, int domain, int sequences);
  void (*show)(void* machine, int view, void* data) = nullptr;  // sets the address of a view
  bool (*knows)(void* machine, int domain) = nullptr;  // whether rows were set in this iteration
};

/// The source of mini-batches for a program that contains the operator read_minibatch. `next` sets
/// the machine's rows to those of the next mini-batch, feeds its data, and returns whether another
/// mini-batch follows. After `next`, `field` returns the address of the values of a data layer.
/// `processes` is null in a run of one process.
struct minibatch_source {
  void* self;
  bool (*next)(void* self);
  const void* (*field)(void* self, int data) = nullptr;
  process_calls* processes = nullptr;
};

}}}  // namespace lamina::engine
