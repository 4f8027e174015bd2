// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/row_allocator.hpp - what kernels and machines of all engines tell each other
// about rows while a program runs.
#pragma once

namespace lamina::engine {

/// How kernels tell the rows of domains that operators make while a program runs: the part of a
/// batch that a condition chose, what sequences are left at a step, sequences of new lengths.
struct row_allocator {
  void* machine;
  void (*set_rows)(void* machine, int domain, int rows);
  int* (*make_offsets)(void* machine, int domain, int sequences);
  void (*show)(void* machine, int view, void* data) = nullptr;  // where a view lies
  bool (*knows)(void* machine, int domain) = nullptr;  // whether rows were set in this iteration
};

/// Where a program that reads its own mini-batches gets them: `next` binds the machine to the rows
/// of one, feeds it, and returns whether another one follows; `field` is then where the values of a
/// data layer lie.
struct minibatch_source {
  void* self;
  bool (*next)(void* self);
  const void* (*field)(void* self, int data) = nullptr;
};

}  // namespace lamina::engine
