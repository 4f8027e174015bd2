// SPDX-License-Identifier: Apache-2.0
// lamina/model/evaluation/sequence_view.hpp - the sequences in the rows of an activation.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/core/arrays/checked_index.hpp>
#include <lamina/engine/common/sequence_rows.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The result of `sequences<"name">()`. Sequence i consists of the rows from begin(i) up to, but
/// not including, end(i). An index outside of [0, count) throws lamina::error, unless NDEBUG is
/// defined.
struct sequence_view : engine::sequence_rows {
  int begin(int i) const { return sequence_rows::begin(checked(i)); }
  int end(int i) const { return sequence_rows::end(checked(i)); }
  int length(int i) const { return sequence_rows::length(checked(i)); }

 private:
  int checked(int i) const {
    return static_cast<int>(
        detail::checked_index("sequences", 0, i, static_cast<std::size_t>(count)));
  }
};

}}  // namespace lamina
