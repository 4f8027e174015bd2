// SPDX-License-Identifier: Apache-2.0
// lamina/executor/library_kernels.hpp - the executor's kernels of all operators.
// Generated: test/structure/operator_lists.py --update writes this list.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/activation/prelu_maxout/executor.hpp>
#include <lamina/operators/activation/softmax/executor.hpp>
#include <lamina/operators/collective/all_reduce/executor.hpp>
#include <lamina/operators/control/array/executor.hpp>
#include <lamina/operators/control/print/executor.hpp>
#include <lamina/operators/control/rank_table/executor.hpp>
#include <lamina/operators/control/split_merge/executor.hpp>
#include <lamina/operators/conv/executor.hpp>
#include <lamina/operators/decode/beam_search/executor.hpp>
#include <lamina/operators/elementwise/assign/executor.hpp>
#include <lamina/operators/elementwise/clip/executor.hpp>
#include <lamina/operators/elementwise/executor.hpp>
#include <lamina/operators/elementwise/sum/executor.hpp>
#include <lamina/operators/embedding/gather/executor.hpp>
#include <lamina/operators/embedding/lookup_table/executor.hpp>
#include <lamina/operators/fill/executor.hpp>
#include <lamina/operators/loss/crf/executor.hpp>
#include <lamina/operators/loss/cross_entropy/executor.hpp>
#include <lamina/operators/loss/ctc/executor.hpp>
#include <lamina/operators/loss/executor.hpp>
#include <lamina/operators/loss/in_batch/executor.hpp>
#include <lamina/operators/loss/pointwise/executor.hpp>
#include <lamina/operators/loss/row/executor.hpp>
#include <lamina/operators/matrix/matmul/executor.hpp>
#include <lamina/operators/matrix/mul/executor.hpp>
#include <lamina/operators/metric/classification/executor.hpp>
#include <lamina/operators/metric/sequence/executor.hpp>
#include <lamina/operators/norm/batch_norm/executor.hpp>
#include <lamina/operators/norm/cos_sim/executor.hpp>
#include <lamina/operators/norm/executor.hpp>
#include <lamina/operators/norm/layer_norm/executor.hpp>
#include <lamina/operators/norm/lrn/executor.hpp>
#include <lamina/operators/norm/norm/executor.hpp>
#include <lamina/operators/order/argsort/executor.hpp>
#include <lamina/operators/pool/pool2d/executor.hpp>
#include <lamina/operators/pool/pool3d/executor.hpp>
#include <lamina/operators/random/distribution/executor.hpp>
#include <lamina/operators/random/dropout/executor.hpp>
#include <lamina/operators/recurrent/executor.hpp>
#include <lamina/operators/recurrent/gru/executor.hpp>
#include <lamina/operators/recurrent/lstm/executor.hpp>
#include <lamina/operators/recurrent/lstm_unit/executor.hpp>
#include <lamina/operators/reduce/cumsum/executor.hpp>
#include <lamina/operators/reduce/dimensions/executor.hpp>
#include <lamina/operators/reduce/squared_l2/executor.hpp>
#include <lamina/operators/region/patch/executor.hpp>
#include <lamina/operators/region/roi/executor.hpp>
#include <lamina/operators/resize/executor.hpp>
#include <lamina/operators/sequence/conv/executor.hpp>
#include <lamina/operators/sequence/executor.hpp>
#include <lamina/operators/sequence/expand/executor.hpp>
#include <lamina/operators/sequence/ids/executor.hpp>
#include <lamina/operators/sequence/pad/executor.hpp>
#include <lamina/operators/sequence/pool/executor.hpp>
#include <lamina/operators/sequence/shape/executor.hpp>
#include <lamina/operators/sequence/softmax/executor.hpp>
#include <lamina/operators/shape/concat/executor.hpp>
#include <lamina/operators/shape/query/executor.hpp>
#include <lamina/operators/shape/reshape/executor.hpp>
#include <lamina/operators/update/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Adds the kernels of all operators of the library.
template <class Real>
void add_library_kernels(kernel_table<Real>& table) {
  add_activation_kernels(table);
  add_softmax_kernels(table);
  add_all_reduce_kernels(table);
  add_array_kernels(table);
  add_print_kernels(table);
  add_rank_table_kernels(table);
  add_split_merge_kernels(table);
  add_conv_kernels(table);
  add_beam_search_kernels(table);
  add_assign_kernels(table);
  add_clip_kernels(table);
  add_sum_kernels(table);
  add_gather_kernels(table);
  add_lookup_kernels(table);
  add_fill_kernels(table);
  add_crf_kernels(table);
  add_cross_entropy_kernels(table);
  add_ctc_kernels(table);
  add_in_batch_kernels(table);
  add_pointwise_loss_kernels(table);
  add_row_loss_kernels(table);
  add_matrix_kernels(table);
  add_mul_kernels(table);
  add_classification_kernels(table);
  add_sequence_metric_kernels(table);
  add_batch_norm_kernels(table);
  add_cos_sim_kernels(table);
  add_layer_norm_kernels(table);
  add_group_norm_kernels(table);
  add_lrn_kernels(table);
  add_norm_kernels(table);
  add_argsort_kernels(table);
  add_pool_kernels(table);
  add_volume_pool_kernels(table);
  add_random_kernels(table);
  add_dropout_kernels(table);
  add_gru_kernels(table);
  add_gru_unit_kernels(table);
  add_lstm_kernels(table);
  add_lstmp_kernels(table);
  add_lstm_unit_kernels(table);
  add_cumsum_kernels(table);
  add_mean_kernels(table);
  add_reduction_kernels(table);
  add_squared_l2_kernels(table);
  add_patch_kernels(table);
  add_roi_pool_kernels(table);
  add_roi_align_kernels(table);
  add_resize_kernels(table);
  add_sequence_conv_kernels(table);
  add_sequence_expand_kernels(table);
  add_sequence_ids_kernels(table);
  add_sequence_pad_kernels(table);
  add_sequence_pool_kernels(table);
  add_sequence_shape_kernels(table);
  add_sequence_softmax_kernels(table);
  add_shape_kernels(table);
  add_query_kernels(table);
  add_reshape_kernels(table);
  add_optimizer_kernels(table);
}

}}}  // namespace lamina::kernel
