// SPDX-License-Identifier: Apache-2.0
// lamina/operators/operators.hpp - all operators.
// Generated: test/structure/operator_lists.py --update writes this list.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/activation/prelu_maxout/definition.hpp>
#include <lamina/operators/activation/simple/definition.hpp>
#include <lamina/operators/activation/softmax/definition.hpp>
#include <lamina/operators/activation/tunable/definition.hpp>
#include <lamina/operators/collective/all_reduce/definition.hpp>
#include <lamina/operators/control/array/definition.hpp>
#include <lamina/operators/control/array/definition_step_array.hpp>
#include <lamina/operators/control/block/definition.hpp>
#include <lamina/operators/control/print/definition.hpp>
#include <lamina/operators/control/rank_table/definition.hpp>
#include <lamina/operators/control/read_minibatch/definition.hpp>
#include <lamina/operators/control/split_merge/definition.hpp>
#include <lamina/operators/conv/definition.hpp>
#include <lamina/operators/decode/beam_search/definition.hpp>
#include <lamina/operators/elementwise/assign/definition.hpp>
#include <lamina/operators/elementwise/binary/definition.hpp>
#include <lamina/operators/elementwise/clip/definition.hpp>
#include <lamina/operators/elementwise/compare/definition.hpp>
#include <lamina/operators/elementwise/sum/definition.hpp>
#include <lamina/operators/elementwise/unary/definition.hpp>
#include <lamina/operators/embedding/gather/definition.hpp>
#include <lamina/operators/embedding/lookup_table/definition.hpp>
#include <lamina/operators/embedding/selected_rows/definition.hpp>
#include <lamina/operators/fill/definition.hpp>
#include <lamina/operators/gradient.hpp>
#include <lamina/operators/gradient_rule.hpp>
#include <lamina/operators/loss/crf/definition.hpp>
#include <lamina/operators/loss/cross_entropy/definition.hpp>
#include <lamina/operators/loss/ctc/definition.hpp>
#include <lamina/operators/loss/in_batch/definition.hpp>
#include <lamina/operators/loss/pointwise/definition.hpp>
#include <lamina/operators/loss/row/definition.hpp>
#include <lamina/operators/matrix/matmul/definition.hpp>
#include <lamina/operators/matrix/mul/definition.hpp>
#include <lamina/operators/metric/classification/definition.hpp>
#include <lamina/operators/metric/sequence/definition.hpp>
#include <lamina/operators/norm/batch_norm/definition.hpp>
#include <lamina/operators/norm/cos_sim/definition.hpp>
#include <lamina/operators/norm/layer_norm/definition.hpp>
#include <lamina/operators/norm/lrn/definition.hpp>
#include <lamina/operators/norm/norm/definition.hpp>
#include <lamina/operators/operator_definition.hpp>
#include <lamina/operators/order/argsort/definition.hpp>
#include <lamina/operators/pointwise.hpp>
#include <lamina/operators/pool/pool2d/definition.hpp>
#include <lamina/operators/pool/pool3d/definition.hpp>
#include <lamina/operators/random/distribution/definition.hpp>
#include <lamina/operators/random/dropout/definition.hpp>
#include <lamina/operators/recurrent/definition.hpp>
#include <lamina/operators/recurrent/gru/definition.hpp>
#include <lamina/operators/recurrent/lstm/definition.hpp>
#include <lamina/operators/recurrent/lstm_unit/definition.hpp>
#include <lamina/operators/reduce/cumsum/definition.hpp>
#include <lamina/operators/reduce/dimensions/definition.hpp>
#include <lamina/operators/reduce/squared_l2/definition.hpp>
#include <lamina/operators/region/definition.hpp>
#include <lamina/operators/region/patch/definition.hpp>
#include <lamina/operators/region/roi/definition.hpp>
#include <lamina/operators/resize/definition.hpp>
#include <lamina/operators/sequence/conv/definition.hpp>
#include <lamina/operators/sequence/expand/definition.hpp>
#include <lamina/operators/sequence/ids/definition.hpp>
#include <lamina/operators/sequence/pad/definition.hpp>
#include <lamina/operators/sequence/pool/definition.hpp>
#include <lamina/operators/sequence/shape/definition.hpp>
#include <lamina/operators/sequence/softmax/definition.hpp>
#include <lamina/operators/shape/concat/definition.hpp>
#include <lamina/operators/shape/query/definition.hpp>
#include <lamina/operators/shape/reshape/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Calls f(operator_list<...>{}) for the operators of each header of definitions. Gradient
/// operators are derived from them, and update operators from the optimizers.
template <class F>
void for_each_operator_list(F&& f) {
  f(operators::activation_prelu_maxout_operators{});
  f(operators::activation_simple_operators{});
  f(operators::activation_softmax_operators{});
  f(operators::activation_tunable_operators{});
  f(operators::collective_all_reduce_operators{});
  f(operators::control_array_operators{});
  f(operators::control_array_step_array_operators{});
  f(operators::control_block_operators{});
  f(operators::control_print_operators{});
  f(operators::control_rank_table_operators{});
  f(operators::control_read_minibatch_operators{});
  f(operators::control_split_merge_operators{});
  f(operators::conv_operators{});
  f(operators::decode_beam_search_operators{});
  f(operators::elementwise_assign_operators{});
  f(operators::elementwise_binary_operators{});
  f(operators::elementwise_clip_operators{});
  f(operators::elementwise_compare_operators{});
  f(operators::elementwise_sum_operators{});
  f(operators::elementwise_unary_operators{});
  f(operators::embedding_gather_operators{});
  f(operators::embedding_lookup_table_operators{});
  f(operators::fill_operators{});
  f(operators::loss_crf_operators{});
  f(operators::loss_cross_entropy_operators{});
  f(operators::loss_ctc_operators{});
  f(operators::loss_in_batch_operators{});
  f(operators::loss_pointwise_operators{});
  f(operators::loss_row_operators{});
  f(operators::matrix_matmul_operators{});
  f(operators::matrix_mul_operators{});
  f(operators::metric_classification_operators{});
  f(operators::metric_sequence_operators{});
  f(operators::norm_batch_norm_operators{});
  f(operators::norm_cos_sim_operators{});
  f(operators::norm_layer_norm_operators{});
  f(operators::norm_lrn_operators{});
  f(operators::norm_norm_operators{});
  f(operators::order_argsort_operators{});
  f(operators::pool_pool2d_operators{});
  f(operators::pool_pool3d_operators{});
  f(operators::random_distribution_operators{});
  f(operators::random_dropout_operators{});
  f(operators::recurrent_gru_operators{});
  f(operators::recurrent_lstm_operators{});
  f(operators::recurrent_lstm_unit_operators{});
  f(operators::reduce_cumsum_operators{});
  f(operators::reduce_dimensions_operators{});
  f(operators::reduce_squared_l2_operators{});
  f(operators::region_patch_operators{});
  f(operators::region_roi_operators{});
  f(operators::resize_operators{});
  f(operators::sequence_conv_operators{});
  f(operators::sequence_expand_operators{});
  f(operators::sequence_ids_operators{});
  f(operators::sequence_pad_operators{});
  f(operators::sequence_pool_operators{});
  f(operators::sequence_shape_operators{});
  f(operators::sequence_softmax_operators{});
  f(operators::shape_concat_operators{});
  f(operators::shape_query_operators{});
  f(operators::shape_reshape_operators{});
}

}}  // namespace lamina
