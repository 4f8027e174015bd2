// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/row_allocator.hpp - how kernels and machines of all engines exchange row
// counts while a program runs.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina::inline LAMINA_ABI::engine {

/// How kernels set the rows of domains that operators make while a program runs: the part of a
/// batch that a condition chose, the sequences that remain at a step, sequences of new lengths.
struct row_allocator {
  void* machine;
  void (*set_rows)(void* machine, int domain, int rows);
  int* (*make_offsets)(void* machine, int domain, int sequences);
  void (*show)(void* machine, int view, void* data) = nullptr;  // sets the address of a view
  bool (*knows)(void* machine, int domain) = nullptr;  // whether rows were set in this iteration
};

/// The source of mini-batches for a program that reads its own: `next` binds the machine to the
/// rows of a mini-batch, feeds it, and returns whether another one follows; `field` then gives the
/// address of the values of a data layer.
struct minibatch_source {
  void* self;
  bool (*next)(void* self);
  const void* (*field)(void* self, int data) = nullptr;
};

}  // namespace lamina::inline LAMINA_ABI::engine
