// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/layer_calls.hpp - the table of layers for native_source. It says which layer
// records an operator, and how the call of this layer is written.
//
// A row is the type of an operator and a call, FUNCTION<TEMPLATE>(ARGUMENTS; OPTIONS) -> RESULTS,
// with the following words:
//
//   Slot            the variable in a slot: words with a capital letter
//   Slot*, Slot{}   all variables in a slot, as a tuple, or in braces
//   attribute       the value of an attribute: words without a capital letter
//   attribute...    the numbers of a list
//   word=VALUE      is left out of the text if the attribute has this value
//   option:attr     an option whose name is not that of the attribute
//   option@Slot.w   the parameter in a slot, which the layer makes and names NAME.w_N
//   option?Slot     an option that is false if the slot is empty
//   #Slot           a counter that the layer makes
//   ~attribute      is not written, because it follows from the types of variables
//   $word           is computed by native_calls.hpp
//   &act            the place of the activation among the options, by default the first
//   -> Slot, ...    the outputs that the function returns, by default the first output
//   +1              a bias along dimension 1 and an activation that follow become options
//   +$act           an activation that follows becomes an option
//   +$flatten       the product, with the sum, bias and activation that follow, becomes an fc
//   key NAME        the kind of layer in generated names, by default the operator's type
//
// Slots that a row does not name must be empty, and attributes must have their defaults.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

struct layer_call {
  std::string_view type, call;
};

inline constexpr layer_call layer_calls[] = {
    {"relu", "relu(X)"},
    {"tanh", "tanh(X)"},
    {"sigmoid", "sigmoid(X)"},
    {"logsigmoid", "logsigmoid(X)"},
    {"softplus", "softplus(X)"},
    {"softsign", "softsign(X)"},
    {"tanh_shrink", "tanh_shrink(X)"},
    {"mish", "mish(X; threshold=20)"},
    {"exp", "exp(X)"},
    {"log", "log(X)"},
    {"sqrt", "sqrt(X)"},
    {"rsqrt", "rsqrt(X)"},
    {"abs", "abs(X)"},
    {"ceil", "ceil(X)"},
    {"floor", "floor(X)"},
    {"round", "round(X)"},
    {"sin", "sin(X)"},
    {"cos", "cos(X)"},
    {"asin", "asin(X)"},
    {"acos", "acos(X)"},
    {"atan", "atan(X)"},
    {"erf", "erf(X)"},
    {"reciprocal", "reciprocal(X)"},
    {"square", "square(X)"},
    {"sign", "sign(X)"},
    {"gelu", "gelu(X; approximate=0)"},
    {"selu", "selu(X; scale=1.0507009873554805, alpha=1.6732632423543772)"},
    {"leaky_relu", "leaky_relu(X; alpha=0.02)"},
    {"elu", "elu(X; alpha=1)"},
    {"relu6", "relu6(X; threshold=6)"},
    {"brelu", "brelu(X; t_min=0, t_max=24)"},
    {"soft_relu", "soft_relu(X; threshold=40)"},
    {"stanh", "stanh(X; scale_a=0.67, scale_b=1.7159)"},
    {"hard_sigmoid", "hard_sigmoid(X; slope=0.2, offset=0.5)"},
    {"swish", "swish(X; beta=1)"},
    {"hard_swish", "hard_swish(X; threshold=6, scale=6, offset=3)"},
    {"pow", "pow(X; factor=1)"},
    {"hard_shrink", "hard_shrink(X; threshold=0.5)"},
    {"softshrink", "softshrink(X; lambda=0.5)"},
    {"thresholded_relu", "thresholded_relu(X; threshold=1)"},
    {"softmax", "softmax<axis=-1>(X)"},
    {"maxout", "maxout<groups>(X)"},
    {"elementwise_add", "elementwise_add<axis=-1>(X, Y) +$act"},
    {"elementwise_sub", "elementwise_sub<axis=-1>(X, Y) +$act"},
    {"elementwise_mul", "elementwise_mul<axis=-1>(X, Y) +$act"},
    {"elementwise_div", "elementwise_div<axis=-1>(X, Y) +$act"},
    {"elementwise_max", "elementwise_max<axis=-1>(X, Y) +$act"},
    {"elementwise_min", "elementwise_min<axis=-1>(X, Y) +$act"},
    {"elementwise_pow", "elementwise_pow<axis=-1>(X, Y) +$act"},
    {"elementwise_mod", "elementwise_mod<axis=-1>(X, Y) +$act"},
    {"elementwise_floordiv", "elementwise_floordiv<axis=-1>(X, Y) +$act"},
    {"elementwise_keep", "elementwise_keep<axis=-1>(X, Y) +$act"},
    {"less_than", "less_than(X, Y)"},
    {"less_equal", "less_equal(X, Y)"},
    {"greater_than", "greater_than(X, Y)"},
    {"greater_equal", "greater_equal(X, Y)"},
    {"equal", "equal(X, Y)"},
    {"not_equal", "not_equal(X, Y)"},
    {"logical_and", "logical_and(X, Y)"},
    {"logical_or", "logical_or(X, Y)"},
    {"logical_xor", "logical_xor(X, Y)"},
    {"logical_not", "logical_not(X)"},
    {"scale", "scale(X, scale; bias=0, bias_after_scale=1, &act) +$act"},
    {"sum", "sum(X{})"},
    {"minus", "minus(X, Y)"},
    {"mean", "mean(X)"},
    {"reduce_sum", "reduce_sum<$reduced>(X, $keep; ~dim, ~reduce_all)"},
    {"reduce_mean", "reduce_mean<$reduced>(X, $keep; ~dim, ~reduce_all)"},
    {"reduce_max", "reduce_max<$reduced>(X, $keep; ~dim, ~reduce_all)"},
    {"reduce_min", "reduce_min<$reduced>(X, $keep; ~dim, ~reduce_all)"},
    {"reduce_prod", "reduce_prod<$reduced>(X, $keep; ~dim, ~reduce_all)"},
    {"reduce_all", "reduce_all<$reduced>(X, $keep; ~dim, ~reduce_all)"},
    {"reduce_any", "reduce_any<$reduced>(X, $keep; ~dim, ~reduce_all)"},
    {"cumsum", "cumsum<axis=-1>(X; exclusive=0, reverse=0)"},
    {"cross_entropy", "cross_entropy(X, Label; ~soft_label, ignore_index=-100)"},
    {"softmax_with_cross_entropy",
     "softmax_with_cross_entropy(Logits, Label; ~soft_label, ignore_index=-100) -> Loss"},
    {"sigmoid_cross_entropy_with_logits",
     "sigmoid_cross_entropy_with_logits(X, Label; ignore_index=-100)"},
    {"log_loss", "log_loss(Predicted, Labels; epsilon=1e-4)"},
    {"hinge_loss", "hinge_loss(Logits, Labels)"},
    {"bpr_loss", "bpr_loss(X, Label)"},
    {"rank_loss", "rank_loss(Label, Left, Right)"},
    {"mul", "mul<x_num_col_dims=1, y_num_col_dims=1>(X, Y) +$flatten key fc"},
    {"matmul",
     "matmul<$matmul>(X, Y; ~transpose_X, ~transpose_Y, alpha=1, skip_zeros=0, "
     "skip_zero_grads=0)"},
    {"lookup_table",
     "embedding<$rows W, $columns W>(Ids; param@W.w, padding_idx=-1, is_sparse=0, "
     "is_distributed=0) key embedding"},
    {"lookup_table_v2",
     "embedding<$rows W, $columns W>($column Ids; param@W.w, padding_idx=-1) key embedding"},
    {"reshape2", "reshape<$dims>(X; ~shape)"},
    {"flatten_contiguous_range", "reshape<$dims>(X; ~start_axis, ~stop_axis) key reshape2"},
    {"transpose2", "transpose<axis...>(X)"},
    {"squeeze2", "squeeze<axes...>(X)"},
    {"unsqueeze2", "unsqueeze<axes...>(X)"},
    {"flatten2", "flatten<axis=1>(X)"},
    {"concat", "concat<axis=1>(X*)"},
    {"lod_rank_table", "lod_rank_table<$level>(X; ~level)"},
    {"read_from_array", "array_read(X, I) key array_read"},
    {"lod_array_length", "array_length(X) key array_length"},
    {"expand", "expand<expand_times...>(X)"},
    {"split", "split<$parts>(X; ~sections, ~num, ~axis)"},
    {"slice", "slice<$cuts>(Input; ~axes, ~starts, ~ends)"},
    {"pad", "pad<paddings...>(X, pad_value)"},
    {"gather", "gather(X, Index)"},
    {"assign", "assign(X)"},
    {"cast", "cast<$type>(X; ~in_dtype, ~out_dtype)"},
    {"clip", "clip(X, min, max)"},
    {"clip_by_norm", "clip_by_norm(X, max_norm)"},
    {"fill_constant", "fill_constant<$type, $dims>($main, value; ~shape, ~dtype, ~force_cpu)"},
    {"top_k", "topk<k>(X) -> Out, Indices"},
    {"argsort", "argsort<axis=-1>(X; descending=0) -> Out, Indices"},
    {"arg_max", "argmax<axis=0>(X) key arg_max"},
    {"arg_min", "argmin<axis=0>(X) key arg_min"},
    {"shape", "shape(Input)"},
    {"is_empty", "is_empty(X)"},
    {"cos_sim", "cos_sim(X, Y)"},
    {"squared_l2_norm", "squared_l2_norm(X)"},
    {"l1_norm", "l1_norm(X)"},
    {"auc", "auc(Predict, Label, #StatPos, #StatNeg; num_thresholds=4095) -> AUC"},
    {"dropout",
     "dropout(X, dropout_prob; is_test=0, seed=0, ~fix_seed, "
     "implementation:$dropout_implementation=downgrade_in_infer)"},
    {"batch_norm",
     "batch_norm(X; is_test=0, momentum=0.9, epsilon=1e-5, param@Scale.w, bias_param@Bias.b, "
     "moving_mean_name@Mean.w, moving_variance_name@Variance.w, use_global_stats=0) -> Y +$act"},
    {"layer_norm",
     "layer_norm<begin_norm_axis=1>(X; scale?Scale, shift?Bias, epsilon=1e-5, param@Scale.w, "
     "bias_param@Bias.b, &act) -> Y +$act"},
    {"group_norm",
     "group_norm<groups>(X; scale?Scale, shift?Bias, epsilon=1e-5, param@Scale.w, "
     "bias_param@Bias.b, &act) -> Y +$act"},
    {"lrn", "lrn(X; n=5, k=1, alpha=1e-4, beta=0.75)"},
    {"conv2d",
     "conv2d<$filters, $size, $window>(Input; param@Filter.w, bias_param@Bias.b, ~strides, "
     "~paddings, ~dilations, ~groups) +1"},
    {"depthwise_conv2d",
     "conv2d<$filters, $size, $window>(Input; param@Filter.w, bias_param@Bias.b, ~strides, "
     "~paddings, ~dilations, ~groups) +1 key depthwise_conv2d"},
    {"pool2d",
     "$pool2d(X; ~global_pooling, ~adaptive, ~ksize, ~strides, ~paddings, ~ceil_mode, "
     "type:$pooling_type=max, exclusive=1) key $pool2d"},
    {"sequence_pool", "sequence_pool(X; type:$pooltype=AVERAGE, pad_value=0)"},
    {"sequence_softmax", "sequence_softmax(X)"},
    {"sequence_expand", "sequence_expand<ref_level=-1>(X, Y)"},
    {"sequence_expand_as", "sequence_expand_as(X, Y)"},
    {"sequence_reverse", "sequence_reverse(X)"},
    {"lstm",
     "dynamic_lstm<$columns Weight>(Input; use_peepholes=1, is_reverse=0, "
     "gate_activation:$gate_activation=sigmoid, cell_activation:$cell_activation=tanh, "
     "candidate_activation:$candidate_activation=tanh, param@Weight.w, bias_param@Bias.b) "
     "-> Hidden, Cell"},
    {"gru",
     "dynamic_gru<$rows Weight>(Input; is_reverse=0, origin_mode=0, "
     "gate_activation:$gate_activation=sigmoid, candidate_activation:$activation=tanh, "
     "param@Weight.w, bias?Bias, bias_param@Bias.b) -> Hidden"},
    {"sequence_conv",
     "sequence_conv<$columns Filter, contextLength>(X; padding_start:contextStart, "
     "&act, param@Filter.w) +1"},
};

}}}  // namespace lamina::detail
