// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/sequence_rows.hpp - the offsets of a row domain's sequences in one run.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The sequences of one row domain. Sequence i contains the rows from begin(i) to before end(i).
struct sequence_rows {
  const int* offsets;
  int count;

  int begin(int i) const { return offsets[i] - offsets[0]; }
  int end(int i) const { return offsets[i + 1] - offsets[0]; }
  int length(int i) const { return offsets[i + 1] - offsets[i]; }
};

}}}  // namespace lamina::engine
