// SPDX-License-Identifier: Apache-2.0
// lamina/operators/random/onnx.hpp - operators of the family random, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Converts the dropout of an inference program: the identity or a multiplication by a constant.
inline void lower_dropout(onnx_operator& op) {
  if (op.wants("Mask")) op.fail("expected that nothing reads Mask, which is of training");
  const bool scales =
      op.string("dropout_implementation", "downgrade_in_infer") == "downgrade_in_infer";
  op.out("Out", affine(op, op.in("X"), scales ? 1 - double(op.real("dropout_prob", 0.5F)) : 1, 0));
}

inline void add_random_dropout(onnx_operators& to) { to.add("dropout", lower_dropout); }

}}}  // namespace lamina::onnx
