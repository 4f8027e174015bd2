// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/domain_rows.hpp - the numbers of rows of a run, and the offsets of its
// sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/core/rows.hpp>
#include <lamina/engine/common/row_allocator.hpp>
#include <lamina/engine/common/sequence_rows.hpp>

namespace lamina::inline LAMINA_ABI::engine {

/// The rows of one run, by row domain of the program. Sequence i of a domain is its rows
/// offsets[i] - offsets[0] to offsets[i + 1] - offsets[0], one sequence for each row of the
/// domain's parent: a part of a mini-batch points into the offsets of the whole.
template <int Domains>
struct domain_rows {
  int count[Domains] = {};
  const int* offsets[Domains] = {};  // null for a domain without sequences
  std::int64_t first[Domains] = {};  // the first row of this run in the whole mini-batch

  constexpr domain_rows() = default;
  /// A batch of dense samples.
  constexpr explicit domain_rows(int batch_rows, std::int64_t first_row = 0) {
    count[batch::domain] = batch_rows;
    first[batch::domain] = first_row;
  }
};

}  // namespace lamina::inline LAMINA_ABI::engine
