// SPDX-License-Identifier: Apache-2.0
// lamina/executor/operator_registry.hpp - operators by type name, for programs that are read from
// files.
#pragma once

#include <lamina/core/config.hpp>

#include <map>
#include <string_view>
#include <vector>

#include <lamina/executor/paddle2_kernels.hpp>
#include <lamina/operators/operators.hpp>
#include <lamina/operators/pointwise_evaluation.hpp>
#include <lamina/operators/update/definition_fluid.hpp>
#include <lamina/optimizer/optimizers.hpp>
#include <lamina/optimizer/step_operators.hpp>
#include <lamina/optimizer/update_operator.hpp>

namespace lamina::inline LAMINA_ABI {

/// A list of operator types.
template <class... Op>
struct operator_list {};

/// All operators of the library except updates of parameters. Gradients follow from them.
using library_operators = operator_list<
    batch_norm, group_norm, instance_norm, lrn, conv2d, depthwise_conv2d, conv3d, conv2d_transpose,
    pool2d, last_rnn_memory, last_rnn_memory_gradient, while_block, while_block_gradient,
    conditional_block, conditional_block_gradient, relu, tanh, sigmoid, logsigmoid, softplus,
    softsign, tanh_shrink, gelu, selu, assign, cast, increment, beam_search, beam_search_decode,
    clip, clip_to_norm, less_than, less_equal, greater_than, greater_equal, equal, not_equal,
    logical_and, logical_or, logical_xor, logical_not, concat, split, stack, slice, pad, expand,
    gather, linear_chain_crf, crf_decoding, softmax_with_cross_entropy, cross_entropy, warpctc,
    ctc_align, dropout, elementwise_add, elementwise_sub, elementwise_mul, elementwise_div,
    elementwise_max, elementwise_min, elementwise_pow, elementwise_mod, elementwise_floordiv,
    fill_zeros_like, data, fill_constant, uniform_random, gaussian_random,
    truncated_gaussian_random, uniform_random_batch_size_like, gaussian_random_batch_size_like,
    assign_value, gru, gru_unit, lookup_table, gradient_of<lookup_table>,
    sigmoid_cross_entropy_with_logits, log_loss, hinge_loss, huber_loss, modified_huber_loss,
    rank_loss, margin_rank_loss, lstm, lstmp, lstm_unit, matmul, mean, top_k, accuracy, auc,
    one_hot, mul, layer_norm, norm, cos_sim, lamina::print, lod_rank_table, max_sequence_len,
    lod_tensor_to_array, array_to_lod_tensor, shrink_rnn_memory, reorder_lod_tensor_by_rank,
    fill_constant_batch_size_like, reduce_sum, reduce_mean, reduce_max, reduce_min, reduce_prod,
    reduce_all, reduce_any, cumsum, reshape2, transpose2, squeeze2, unsqueeze2, flatten2,
    smooth_l1_loss, kldiv_loss, bpr_loss, label_smooth, sequence_conv, row_conv, sequence_expand,
    sequence_expand_as, sequence_enumerate, sequence_erase, sequence_scatter, edit_distance,
    chunk_eval, sequence_pad, sequence_unpad, sequence_mask, sequence_pool, sequence_reverse,
    sequence_concat, sequence_slice, sequence_reshape, lod_reset, sequence_softmax, softmax,
    merge_lod_tensor, split_lod_tensor, select_output, select_input, tensor_to_tensor_array,
    tensor_array_to_tensor, scale, sum, write_to_array, write_to_array_gradient, read_from_array,
    read_from_array_gradient, lod_array_length, leaky_relu, elu, relu6, brelu, soft_relu, stanh,
    hard_sigmoid, swish, hard_swish, pow, hard_shrink, softshrink, thresholded_relu, prelu, maxout,
    exp, log, sqrt, rsqrt, square, reciprocal, abs, sin, cos, asin, acos, atan, ceil, floor, round,
    sign, argsort, arg_max, arg_min, unstack, crop, scatter, multiplex, minus, shape, is_empty,
    where_index, range, l1_norm, squared_l2_norm, squared_l2_distance, pool3d,
    max_pool2d_with_index, unpool, roi_align, psroi_pool, bilinear_interp, nearest_interp,
    im2sequence, pad2d, roi_pool, spp, read_minibatch, decayed_learning_rate, gradient_scale>;

/// The schemas of operators by type name. A recorded program refers to the definitions of its
/// operators; a program that was read only names them. A type may have several forms with different
/// slots: Fluid's `sgd` takes the learning rate as a variable, lamina's as an attribute.
class operator_registry {
 public:
  /// A registry with all operators of the library, their gradients, and all updates.
  operator_registry() {
    add_all(library_operators{});
    add_updates<optimizer::sgd, optimizer::momentum, optimizer::adagrad, optimizer::adam,
                optimizer::adamax, optimizer::adadelta, optimizer::rmsprop, optimizer::ftrl,
                optimizer::decayed_adagrad, optimizer::proximal_gd, optimizer::proximal_adagrad,
                optimizer::lamb, optimizer::lars_momentum>();
    add_all(operator_list<fluid::sgd, fluid::momentum, fluid::adagrad, fluid::adam, fluid::adamax,
                          fluid::adadelta, fluid::rmsprop, fluid::ftrl, fluid::decayed_adagrad,
                          fluid::proximal_gd, fluid::proximal_adagrad, fluid::lamb,
                          fluid::lars_momentum, fluid::lookup_table_v2,
                          fluid::flatten_contiguous_range>{});
  }

  /// Registers an operator, and its gradient if it has one: `registry.add<my_operator>()`.
  template <class Op>
  void add() {
    add(schema_of<Op>());
    if constexpr (Op::differentiable != 0 && !requires { &Op::gradient; })
      add(schema_of<gradient_of<Op>>());
  }
  /// Registers one form of an operator; forms registered earlier are tried first.
  void add(const operator_schema& schema) { forms_[schema.type].push_back(&schema); }

  /// All forms of a type; empty for a type that is not registered.
  const std::vector<const operator_schema*>& forms(std::string_view type) const {
    static const std::vector<const operator_schema*> none;
    const auto found = forms_.find(type);
    return found == forms_.end() ? none : found->second;
  }
  /// All types, in alphabetic order.
  std::vector<std::string_view> types() const {
    std::vector<std::string_view> all;
    for (const auto& [type, forms] : forms_) all.push_back(type);
    return all;
  }

 private:
  template <class... Op>
  void add_all(operator_list<Op...>) {
    const int each[] = {(add<Op>(), 0)...};  // a list, not a fold: clang folds at most 256 operands
    (void)each;
  }
  template <class... Opt>
  void add_updates() {
    (add_update<Opt, false>(), ...);
    (add_update<Opt, true>(), ...);
  }
  // The form for selected rows has the attributes of the other one, and lazy_mode.
  template <class Opt, bool Given>
  void add_update() {
    if constexpr (optimizer::traits<Opt>::has_lazy_mode)
      add(schema_of<rows_update_operator<Opt, Given>>());
    else
      add(schema_of<update_operator<Opt, Given>>());
  }

  std::map<std::string_view, std::vector<const operator_schema*>> forms_;
};

/// The operators of the library.
inline const operator_registry& known_operators() {
  static const operator_registry all;
  return all;
}

}  // namespace lamina::inline LAMINA_ABI
