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

/// Dropout of inference is the identity, with a mask of ones.
inline void raise_dropout(onnx_import_node& n) {
  if (n.version() >= 12 && n.has(2) && n.list(2, "a training mode").at(0) != 0 &&
      !(n.has(1) && n.constant(1, "a ratio").cast<double>().flat(0) == 0))
    n.fail("expected the dropout of inference, found that of training");
  n.out(n.in(0));
  if (n.wants(1)) n.out(1, n.filled(1, dtype::boolean, n.in(0).dims));
}

inline void add_random_dropout(onnx_operators& to) {
  to.add("dropout", lower_dropout);
  to.add_node("Dropout", raise_dropout);
}

}}}  // namespace lamina::onnx
