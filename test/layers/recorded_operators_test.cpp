// SPDX-License-Identifier: Apache-2.0
// What each layer records: operators, slots, shapes, types and attributes.

#include "layers/spell.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

using lines = std::vector<std::string>;

TEST_CASE("recorded: reductions") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 4, 6>(main);
    layer::reduce_sum(x);
    layer::reduce_mean<1>(x);
    layer::reduce_max<1>(x, layer::keep_dim);
    layer::reduce_min<0, -1>(x);
    layer::reduce_prod<1, 2>(x);
    layer::reduce_any<1>(layer::less_than(x, x));
    layer::cumsum<1>(x, {.reverse = true});
    layer::mean(x, {.name = "cost"});
  });
  CHECK(spell(net.view()) ==
        lines{"reduce_sum: X=x -> Out=reduce_sum_0.tmp_0[1] dim=0 keep_dim=0 reduce_all=1",
              "reduce_mean: X=x -> Out=reduce_mean_0.tmp_0[-1,6] dim=1 keep_dim=0 reduce_all=0",
              "reduce_max: X=x -> Out=reduce_max_0.tmp_0[-1,1,6] dim=1 keep_dim=1 reduce_all=0",
              "reduce_min: X=x -> Out=reduce_min_0.tmp_0[4] dim=0,-1 keep_dim=0 reduce_all=0",
              "reduce_prod: X=x -> Out=reduce_prod_0.tmp_0[-1] dim=1,2 keep_dim=0 reduce_all=0",
              "less_than: X=x Y=x -> Out=less_than_0.tmp_0[-1,4,6]bool",
              "reduce_any: X=less_than_0.tmp_0 -> Out=reduce_any_0.tmp_0[-1,6]bool dim=1 "
              "keep_dim=0 reduce_all=0",
              "cumsum: X=x -> Out=cumsum_0.tmp_0[-1,4,6] axis=1 exclusive=0 reverse=1",
              "mean: X=x -> Out=cost.tmp_0[1]"});
}

TEST_CASE("recorded: shapes") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 4, 6>(main);
    layer::reshape<0, 2, -1>(x);
    layer::transpose<0, 2, 1>(x);
    layer::squeeze<1>(layer::unsqueeze<1>(x));
    layer::flatten(x);
  });
  CHECK(
      spell(net.view()) ==
      lines{
          "reshape2: X=x -> Out=reshape2_0.tmp_0[-1,4,2,3] XShape=reshape2_0.tmp_1[0,-1,4,6] "
          "shape=0,4,2,3",
          "transpose2: X=x -> Out=transpose2_0.tmp_0[-1,6,4] XShape=transpose2_0.tmp_1[0,-1,4,6] "
          "axis=0,2,1",
          "unsqueeze2: X=x -> Out=unsqueeze2_0.tmp_0[-1,1,4,6] XShape=unsqueeze2_0.tmp_1[0,-1,4,6] "
          "axes=1",
          "squeeze2: X=unsqueeze2_0.tmp_0 -> Out=squeeze2_0.tmp_0[-1,4,6] "
          "XShape=squeeze2_0.tmp_1[0,-1,1,4,6] axes=1",
          "flatten2: X=x -> Out=flatten2_0.tmp_0[-1,24] XShape=flatten2_0.tmp_1[0,-1,4,6] axis=1"});
}

TEST_CASE("recorded: parts") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 4, 6>(main);
    layer::concat({x, x});
    layer::concat<-1>(std::tuple{x, layer::slice<layer::along<2, -2, 99>>(x)});
    layer::split<2>(x);
    layer::split<layer::sections<1, 3>, 1>(x);
    layer::stack({x, x});
    layer::pad<0, 0, 0, 0, 1, 2>(x, 0.5f);
    layer::expand<1, 2, 1>(x);
    layer::sum({x, x, x});
  });
  CHECK(spell(net.view()) ==
        lines{"concat: X=x X=x -> Out=concat_0.tmp_0[-1,8,6] axis=1",
              "slice: Input=x -> Out=slice_0.tmp_0[-1,4,2] axes=2 starts=-2 ends=99",
              "concat: X=x X=slice_0.tmp_0 -> Out=concat_1.tmp_0[-1,4,8] axis=-1",
              "split: X=x -> Out=split_0.tmp_0[-1,4,3] Out=split_0.tmp_1[-1,4,3] sections= num=2 "
              "axis=-1",
              "split: X=x -> Out=split_1.tmp_0[-1,1,6] Out=split_1.tmp_1[-1,3,6] sections=1,3 "
              "num=0 axis=1",
              "stack: X=x X=x -> Y=stack_0.tmp_0[-1,2,4,6] axis=1",
              "pad: X=x -> Out=pad_0.tmp_0[-1,4,9] paddings=0,0,0,0,1,2 pad_value=0.5",
              "expand: X=x -> Out=expand_0.tmp_0[-1,8,6] expand_times=1,2,1",
              "sum: X=x X=x X=x -> Out=sum_0.tmp_0[-1,4,6]"});
}

TEST_CASE("recorded: rows by number") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 4, 6>(main);
    auto i = layer::data<"i", std::int64_t>(main);
    layer::gather(x, i);
    layer::embedding<50, 3>(i, {.padding_idx = -2, .is_sparse = true});
    layer::embedding<50, 3>(i);
    layer::embedding<50, 3>(i, {.is_distributed = true});
    layer::one_hot<5>(i, {.allow_out_of_range = true});
  });
  CHECK(spell(net.view()) ==
        lines{"gather: X=x Index=i -> Out=gather_0.tmp_0[-1,4,6]",
              "lookup_table: W=embedding_0.w_0 Ids=i -> Out=embedding_0.tmp_0[-1,3] is_sparse=1 "
              "is_distributed=0 padding_idx=48",
              "lookup_table: W=embedding_1.w_0 Ids=i -> Out=embedding_1.tmp_0[-1,3]",
              "lookup_table: W=embedding_2.w_0 Ids=i -> Out=embedding_2.tmp_0[-1,3] is_sparse=1 "
              "is_distributed=1 padding_idx=-1",
              "one_hot: X=i -> Out=one_hot_0.tmp_0[-1,5] depth=5 allow_out_of_range=1"});
}

TEST_CASE("recorded: products") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 4, 6>(main);
    auto v = layer::data<"v", float, 6>(main);
    layer::matmul<layer::matmul_form{.transpose_y = true}>(x, x, {.alpha = 0.5f});
    auto table = layer::fill_constant<float, 6, 2>(main, 0.25);
    layer::matmul(x, table);
    layer::matmul(v, table);
    layer::mul<2>(x, table);
    layer::matmul<layer::matmul_form{.transpose_x = true}>(v, v);
    layer::cos_sim(v, v);
    layer::cos_sim(v, layer::fill_constant<float, 1, 6>(main, 1));
  });
  CHECK(
      spell(net.view()) ==
      lines{
          "matmul: X=x Y=x -> Out=matmul_0.tmp_0[-1,4,4] transpose_X=0 transpose_Y=1 alpha=0.5 "
          "skip_zeros=0 skip_zero_grads=0",
          "fill_constant: -> Out=fill_constant_0.tmp_0[6,2] shape=6,2 dtype=5 value=0.25 "
          "force_cpu=0",
          "matmul: X=x Y=fill_constant_0.tmp_0 -> Out=matmul_1.tmp_0[-1,4,2] transpose_X=0 "
          "transpose_Y=0 alpha=1 skip_zeros=0 skip_zero_grads=0",
          "matmul: X=v Y=fill_constant_0.tmp_0 -> Out=matmul_2.tmp_0[-1,2] transpose_X=0 "
          "transpose_Y=0 alpha=1 skip_zeros=0 skip_zero_grads=0",
          "mul: X=x Y=fill_constant_0.tmp_0 -> Out=mul_0.tmp_0[-1,4,2] x_num_col_dims=2 "
          "y_num_col_dims=1",
          "matmul: X=v Y=v -> Out=matmul_3.tmp_0[6,6] transpose_X=1 transpose_Y=0 alpha=1 "
          "skip_zeros=0 skip_zero_grads=0",
          "cos_sim: X=v Y=v -> Out=cos_sim_0.tmp_0[-1,1] XNorm=cos_sim_0.tmp_1[-1,1] "
          "YNorm=cos_sim_0.tmp_2[-1,1]",
          "fill_constant: -> Out=fill_constant_1.tmp_0[1,6] shape=1,6 dtype=5 value=1 force_cpu=0",
          "cos_sim: X=v Y=fill_constant_1.tmp_0 -> Out=cos_sim_1.tmp_0[-1,1] "
          "XNorm=cos_sim_1.tmp_1[-1,1] YNorm=cos_sim_1.tmp_2[1,1]"});
}

TEST_CASE("recorded: costs of classifiers") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto v = layer::data<"v", float, 6>(main);
    auto w = layer::data<"w", float, 6>(main);
    auto i = layer::data<"i", std::int64_t>(main);
    layer::softmax_with_cross_entropy(v, i);
    layer::softmax_with_cross_entropy(v, w);
    layer::softmax_with_cross_entropy(v, i, {.ignore_index = 3});
    layer::cross_entropy(layer::softmax(v), i);
    layer::cross_entropy(v, w);
    layer::bpr_loss(v, i);
    layer::accuracy<2>(v, i, {.name = "acc"});
    layer::label_smooth(v);
  });
  CHECK(spell(net.view()) ==
        lines{"softmax_with_cross_entropy: Logits=v Label=i -> "
              "Softmax=softmax_with_cross_entropy_0.tmp_0[-1,6] "
              "Loss=softmax_with_cross_entropy_0.tmp_1[-1,1]",
              "softmax_with_cross_entropy: Logits=v Label=w -> "
              "Softmax=softmax_with_cross_entropy_1.tmp_0[-1,6] "
              "Loss=softmax_with_cross_entropy_1.tmp_1[-1,1] soft_label=1 ignore_index=-100 "
              "numeric_stable_mode=1 axis=-1",
              "softmax_with_cross_entropy: Logits=v Label=i -> "
              "Softmax=softmax_with_cross_entropy_2.tmp_0[-1,6] "
              "Loss=softmax_with_cross_entropy_2.tmp_1[-1,1] soft_label=0 ignore_index=3 "
              "numeric_stable_mode=1 axis=-1",
              "softmax: X=v -> Out=softmax_0.tmp_0[-1,6]",
              "cross_entropy: X=softmax_0.tmp_0 Label=i -> Y=cross_entropy_0.tmp_0[-1,1] "
              "soft_label=0 ignore_index=-100",
              "cross_entropy: X=v Label=w -> Y=cross_entropy_1.tmp_0[-1,1] soft_label=1 "
              "ignore_index=-100",
              "bpr_loss: X=v Label=i -> Y=bpr_loss_0.tmp_0[-1,1]",
              "top_k: X=v -> Out=top_k_0.tmp_0[-1,2] Indices=top_k_0.tmp_1[-1,2]int64 k=2",
              "accuracy: Out=top_k_0.tmp_0 Indices=top_k_0.tmp_1 Label=i -> Accuracy=acc.tmp_0[1] "
              "Correct=acc.tmp_1[1]int32 Total=acc.tmp_2[1]int32",
              "label_smooth: X=v -> Out=label_smooth_0.tmp_0[-1,6] epsilon=0.1"});
}

TEST_CASE("recorded: costs of pairs") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto v = layer::data<"v", float, 6>(main);
    auto w = layer::data<"w", float, 6>(main);
    layer::square_error_cost(v, w);
    layer::sigmoid_cross_entropy_with_logits(v, w, {.ignore_index = 7});
    layer::log_loss(v, w);
    layer::hinge_loss(v, w);
    layer::huber_loss(v, w, 0.5f);
    layer::modified_huber_loss(v, w);
    layer::rank_loss(w, v, v);
    layer::margin_rank_loss(w, v, v);
    layer::smooth_l1(v, w);
    layer::smooth_l1(v, w, v, w, {.sigma = 2});
    layer::kldiv_loss<layer::reduction::batchmean>(v, w);
    layer::kldiv_loss<layer::reduction::none>(v, w);
  });
  CHECK(spell(net.view()) ==
        lines{"elementwise_sub: X=v Y=w -> Out=square_error_cost_0.tmp_0[-1,6]",
              "square: X=square_error_cost_0.tmp_0 -> Out=square_error_cost_0.tmp_1[-1,6]",
              "sigmoid_cross_entropy_with_logits: X=v Label=w -> "
              "Out=sigmoid_cross_entropy_with_logits_0.tmp_0[-1,6] ignore_index=7 normalize=0",
              "log_loss: Predicted=v Labels=w -> Loss=log_loss_0.tmp_0[-1,6] epsilon=0.0001",
              "hinge_loss: Logits=v Labels=w -> Loss=hinge_loss_0.tmp_0[-1,6]",
              "huber_loss: X=v Y=w -> Residual=huber_loss_0.tmp_0[-1,6] "
              "Out=huber_loss_0.tmp_1[-1,6] delta=0.5",
              "modified_huber_loss: X=v Y=w -> IntermediateVal=modified_huber_loss_0.tmp_0[-1,6] "
              "Out=modified_huber_loss_0.tmp_1[-1,6]",
              "rank_loss: Label=w Left=v Right=v -> Out=rank_loss_0.tmp_0[-1,6]",
              "margin_rank_loss: X1=v X2=v Label=w -> Activated=margin_rank_loss_0.tmp_1[-1,6] "
              "Out=margin_rank_loss_0.tmp_0[-1,6] margin=0.1",
              "smooth_l1_loss: X=v Y=w -> Diff=smooth_l1_loss_0.tmp_0[-1,6] "
              "Out=smooth_l1_loss_0.tmp_1[-1,1] sigma=1",
              "smooth_l1_loss: X=v Y=w InsideWeight=v OutsideWeight=w -> "
              "Diff=smooth_l1_loss_1.tmp_0[-1,6] Out=smooth_l1_loss_1.tmp_1[-1,1] sigma=2",
              "kldiv_loss: X=v Target=w -> Loss=kldiv_loss_0.tmp_0[1] reduction=batchmean",
              "kldiv_loss: X=v Target=w -> Loss=kldiv_loss_1.tmp_0[-1,6] reduction=none"});
}

TEST_CASE("recorded: normalisation") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 4, 6>(main);
    layer::layer_norm<2>(x);
    layer::layer_norm(x, {.scale = false, .act = lamina::activation::relu});
    layer::l2_normalize(x);
    layer::dropout(x, 0.25f,
                   {.seed = 3, .implementation = layer::dropout_implementation::upscale_in_train});
    layer::dropout(x, 0.5f);
    layer::softmax<1>(x);
  });
  CHECK(
      spell(net.view()) ==
      lines{
          "layer_norm: X=x Scale=layer_norm_0.w_0 Bias=layer_norm_0.b_0 -> "
          "Y=layer_norm_0.tmp_2[-1,4,6] Mean=layer_norm_0.tmp_0[-1,4] "
          "Variance=layer_norm_0.tmp_1[-1,4] epsilon=0.00001 begin_norm_axis=2",
          "layer_norm: X=x Bias=layer_norm_1.b_0 -> Y=layer_norm_1.tmp_2[-1,4,6] "
          "Mean=layer_norm_1.tmp_0[-1] Variance=layer_norm_1.tmp_1[-1] epsilon=0.00001 "
          "begin_norm_axis=1",
          "relu: X=layer_norm_1.tmp_2 -> Out=layer_norm_1.tmp_3[-1,4,6]",
          "norm: X=x -> Norm=l2_normalize_0.tmp_1[-1,4,1] Out=l2_normalize_0.tmp_0[-1,4,6] axis=-1 "
          "epsilon=0",
          "dropout: X=x -> Out=dropout_0.tmp_0[-1,4,6] Mask=dropout_0.tmp_1[-1,4,6]uint8 "
          "dropout_prob=0.25 is_test=0 fix_seed=1 seed=3 dropout_implementation=upscale_in_train",
          "dropout: X=x -> Out=dropout_1.tmp_0[-1,4,6] Mask=dropout_1.tmp_1[-1,4,6]uint8 "
          "dropout_prob=0.5 is_test=0 fix_seed=0 seed=0 dropout_implementation=downgrade_in_infer",
          "softmax: X=x -> Out=softmax_0.tmp_0[-1,4,6] axis=1"});
}

TEST_CASE("recorded: copies, counters and comparisons") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto v = layer::data<"v", float, 6>(main);
    auto i = layer::data<"i", std::int64_t>(main);
    layer::cast<float>(i);
    layer::assign(v);
    layer::clip(v, -1, 2);
    layer::clip_by_norm(v, 3);
    auto n = layer::fill_constant<std::int64_t>(main, 10);
    layer::increment(n);
    auto more = layer::less_than(i, n);
    layer::greater_equal(i, n, more);
    layer::logical_and(more, layer::logical_not(more));
    layer::print(v, {.message = "v", .first_n = 2, .phase = layer::print_phase::forward});
    layer::scale(v, 3, {.bias = 1, .bias_after_scale = false});
  });
  CHECK(spell(net.view()) ==
        lines{"cast: X=i -> Out=cast_0.tmp_0[-1,1] in_dtype=3 out_dtype=5",
              "assign: X=v -> Out=assign_0.tmp_0[-1,6]",
              "clip: X=v -> Out=clip_0.tmp_0[-1,6] min=-1 max=2",
              "clip_by_norm: X=v -> Out=clip_by_norm_0.tmp_0[-1,6] max_norm=3",
              "fill_constant: -> Out=fill_constant_0.tmp_0[1]int64 shape=1 dtype=3 value=10 "
              "force_cpu=0",
              "increment: X=fill_constant_0.tmp_0 -> Out=increment_0.tmp_0[1]int64 step=1",
              "less_than: X=i Y=increment_0.tmp_0 -> Out=less_than_0.tmp_0[-1,1]bool",
              "greater_equal: X=i Y=increment_0.tmp_0 -> Out=greater_equal_0.tmp_0[-1,1]bool",
              "logical_not: X=greater_equal_0.tmp_0 -> Out=logical_not_0.tmp_0[-1,1]bool",
              "logical_and: X=greater_equal_0.tmp_0 Y=logical_not_0.tmp_0 -> "
              "Out=logical_and_0.tmp_0[-1,1]bool",
              "print: In=v -> Out=print_0.tmp_0[-1,6] first_n=2 message=v summarize=-1 "
              "print_tensor_name=1 print_tensor_type=1 print_tensor_shape=1 print_tensor_lod=1 "
              "print_phase=FORWARD is_forward=1",
              "scale: X=v -> Out=scale_0.tmp_0[-1,6] scale=3 bias=1 bias_after_scale=0"});
}

TEST_CASE("recorded: arithmetic") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto v = layer::data<"v", float, 6>(main);
    auto w = layer::data<"w", float, 6>(main);
    v - 1 + 2 * w;
    1 - v / w;
    3 / -v;
    layer::elementwise_mod(v, w);
    layer::elementwise_pow<0>(layer::fc<6>(v, {.bias = false}), layer::fc<1>(w, {.bias = false}));
  });
  CHECK(spell(net.view()) ==
        lines{"scale: X=v -> Out=tmp_0[-1,6] scale=1 bias=-1 bias_after_scale=1",
              "scale: X=w -> Out=tmp_1[-1,6] scale=2 bias=0 bias_after_scale=1",
              "elementwise_add: X=tmp_0 Y=tmp_1 -> Out=tmp_2[-1,6]",
              "elementwise_div: X=v Y=w -> Out=tmp_3[-1,6]",
              "scale: X=tmp_3 -> Out=tmp_4[-1,6] scale=-1 bias=1 bias_after_scale=1",
              "scale: X=v -> Out=tmp_5[-1,6] scale=-1 bias=0 bias_after_scale=1",
              "reciprocal: X=tmp_5 -> Out=tmp_6[-1,6]",
              "scale: X=tmp_6 -> Out=tmp_7[-1,6] scale=3 bias=0 bias_after_scale=1",
              "elementwise_mod: X=v Y=w -> Out=elementwise_mod_0.tmp_0[-1,6]",
              "mul: X=v Y=fc_0.w_0 -> Out=fc_0.tmp_0[-1,6]",
              "mul: X=w Y=fc_1.w_0 -> Out=fc_1.tmp_0[-1,1]",
              "elementwise_pow: X=fc_0.tmp_0 Y=fc_1.tmp_0 -> Out=elementwise_pow_0.tmp_0[-1,6] "
              "axis=0"});
}
