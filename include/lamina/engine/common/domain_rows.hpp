// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/domain_rows.hpp - the number of rows and the sequence offsets of each row
// domain in one run.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/core/rows.hpp>
#include <lamina/engine/common/row_allocator.hpp>
#include <lamina/engine/common/sequence_rows.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

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

}}}  // namespace lamina::engine
