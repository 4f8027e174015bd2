// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/library_conversions.hpp - the conversions of all operators to ONNX.
// Generated: test/structure/operator_lists.py --update writes this list.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/control/onnx.hpp>
#include <lamina/operators/conv/onnx.hpp>
#include <lamina/operators/elementwise/onnx.hpp>
#include <lamina/operators/loss/onnx.hpp>
#include <lamina/operators/matrix/onnx.hpp>
#include <lamina/operators/recurrent/onnx.hpp>
#include <lamina/operators/region/onnx.hpp>
#include <lamina/operators/sequence/onnx.hpp>
#include <lamina/operators/shape/onnx.hpp>

namespace lamina::inline LAMINA_ABI::onnx {

/// Adds the conversions of all operators of the library that ONNX can express.
inline void add_library_conversions(onnx_operators& to) {
  add_blocks(to);
  add_image(to);
  add_activations(to);
  add_elementary(to);
  add_of_two(to);
  add_losses(to);
  add_matrix(to);
  add_recurrent(to);
  add_regions(to);
  add_sequences(to);
  add_shape(to);
  extend_whole_numbers(to);
}

}  // namespace lamina::inline LAMINA_ABI::onnx
