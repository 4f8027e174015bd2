// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/domain_rows.hpp - the number of rows and the sequence offsets of each row
// domain in one run, and the functions by which kernels of all engines set them.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/core/rows.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The sequences of one row domain. Sequence i contains the rows from begin(i) to before end(i).
struct sequence_rows {
  const int* offsets;
  int count;

  int begin(int i) const { return offsets[i] - offsets[0]; }
  int end(int i) const { return offsets[i + 1] - offsets[0]; }
  int length(int i) const { return offsets[i + 1] - offsets[i]; }
};

/// The rows of one run, indexed by row domain of the program. A domain has one sequence per row of
/// its parent domain. Sequence i contains the rows from offsets[i] - offsets[0] to before offsets[i
/// + 1] - offsets[0]. Because offsets[0] is subtracted, the offsets of a part of a mini-batch are a
/// pointer into the offsets of the whole mini-batch.
template <int Domains>
struct domain_rows {
  int count[bound(Domains)] = {};
  const int* offsets[bound(Domains)] = {};  // null for a domain without sequences
  std::int64_t first[bound(Domains)] = {};  // the first row of this run in the whole mini-batch

  constexpr domain_rows() = default;
  /// The rows of a batch of samples without sequences.
  constexpr explicit domain_rows(int batch_rows, std::int64_t first_row = 0) {
    count[batch::domain] = batch_rows;
    first[batch::domain] = first_row;
  }
};

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
