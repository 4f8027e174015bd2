// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/library_conversions.hpp - the conversions of all operators to ONNX.
// Generated: test/structure/operator_lists.py --update writes this list.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/activation/onnx.hpp>
#include <lamina/operators/control/onnx.hpp>
#include <lamina/operators/control/onnx_loop.hpp>
#include <lamina/operators/conv/onnx.hpp>
#include <lamina/operators/elementwise/onnx.hpp>
#include <lamina/operators/elementwise/onnx_quantize.hpp>
#include <lamina/operators/elementwise/onnx_quantize_runtime.hpp>
#include <lamina/operators/embedding/onnx.hpp>
#include <lamina/operators/fill/onnx.hpp>
#include <lamina/operators/loss/onnx.hpp>
#include <lamina/operators/matrix/onnx.hpp>
#include <lamina/operators/matrix/onnx_einsum.hpp>
#include <lamina/operators/matrix/onnx_signal.hpp>
#include <lamina/operators/metric/onnx.hpp>
#include <lamina/operators/norm/onnx.hpp>
#include <lamina/operators/order/onnx.hpp>
#include <lamina/operators/pool/onnx.hpp>
#include <lamina/operators/random/onnx.hpp>
#include <lamina/operators/recurrent/onnx.hpp>
#include <lamina/operators/recurrent/onnx_cells.hpp>
#include <lamina/operators/reduce/onnx.hpp>
#include <lamina/operators/region/onnx.hpp>
#include <lamina/operators/resize/onnx.hpp>
#include <lamina/operators/resize/onnx_grid_sample.hpp>
#include <lamina/operators/sequence/onnx.hpp>
#include <lamina/operators/shape/onnx.hpp>
#include <lamina/operators/shape/onnx_tensor_lists.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Adds the conversions of all operators of the library that ONNX can express.
inline void add_library_conversions(onnx_operators& to) {
  add_activation_prelu_maxout(to);
  add_activation_simple(to);
  add_activation_softmax(to);
  add_activation_tunable(to);
  add_control_array(to);
  add_control_block(to);
  add_control_print(to);
  add_control_rank_table(to);
  add_control_split_merge(to);
  add_control_loop(to);
  add_image(to);
  add_elementwise_assign(to);
  add_elementwise_binary(to);
  add_elementwise_clip(to);
  add_elementwise_compare(to);
  add_elementwise_sum(to);
  add_elementwise_unary(to);
  add_elementwise_quantize(to);
  add_elementwise_quantize_runtime(to);
  add_embedding_gather(to);
  add_embedding_lookup_table(to);
  add_fill(to);
  add_loss_cross_entropy(to);
  add_loss_ctc(to);
  add_loss_pointwise(to);
  add_loss_row(to);
  add_matrix_matmul(to);
  add_matrix_mul(to);
  add_matrix_einsum(to);
  add_matrix_signal(to);
  add_metric_classification(to);
  add_norm_batch_norm(to);
  add_norm_cos_sim(to);
  add_norm_group_norm(to);
  add_norm_layer_norm(to);
  add_norm_lrn(to);
  add_norm_norm(to);
  add_order_argsort(to);
  add_pool_pool2d(to);
  add_pool_pool3d(to);
  add_random_dropout(to);
  add_recurrent_gru(to);
  add_recurrent_gru_unit(to);
  add_recurrent_lstm(to);
  add_recurrent_lstm_unit(to);
  add_recurrent_cells(to);
  add_reduce_cumsum(to);
  add_reduce_dimensions(to);
  add_reduce_mean(to);
  add_reduce_squared_l2(to);
  add_region_patch(to);
  add_region_roi_align(to);
  add_region_roi_pool(to);
  add_resize(to);
  add_resize_grid_sample(to);
  add_sequence_conv(to);
  add_sequence_expand(to);
  add_sequence_ids(to);
  add_sequence_pad(to);
  add_sequence_pool(to);
  add_sequence_shape(to);
  add_sequence_softmax(to);
  add_shape_concat(to);
  add_shape_query(to);
  add_shape_reshape(to);
  add_shape_tensor_lists(to);
}

}}}  // namespace lamina::onnx
