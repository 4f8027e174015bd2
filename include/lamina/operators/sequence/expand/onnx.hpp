// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/expand/onnx.hpp - rows that are repeated, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/sequence/onnx.hpp>

namespace lamina::inline LAMINA_ABI {

namespace onnx {

/// Repeats each row of X for the rows of one sequence of Y.
inline void lower_sequence_expand(onnx_operator& op) {
  const std::int64_t level = op.integer("ref_level", -1);
  if (op.program().variable(op.name("X")).lod_level > 0 || (level != -1 && level != 0))
    op.fail("expected one row of X for each sequence of Y, found sequences in X or ref_level " +
            std::to_string(level));
  const std::string& lengths = lengths_in(op, "Y");
  op.out("Out", "Gather", {op.in("X"), positions_of(op, lengths).id}, {{"axis", 0}});
  op.program().set_lengths(op.name_of_output("Out"), lengths);
}

inline void add_sequence_expand(onnx_operators& to) {
  to.add("sequence_expand", lower_sequence_expand);
  to.add("sequence_expand_as", lower_sequence_expand);
}

}  // namespace onnx

}  // namespace lamina::inline LAMINA_ABI
