// SPDX-License-Identifier: Apache-2.0
// The gradient operators of every layer that has a gradient: names, slots and the operators that
// Fluid uses in place of a `*_grad`.

#include <set>
#include <type_traits>

#include "layers/spell.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/transform/append_backward.hpp>
#include <lamina/transform/gradients.hpp>

namespace layer = lamina::layer;

namespace {

std::set<std::string> types(const std::vector<std::string>& lines) {
  std::set<std::string> all;
  for (const std::string& line : lines) all.insert(line.substr(0, line.find(':')));
  return all;
}

std::string line_of(const std::vector<std::string>& lines, const std::string& begin) {
  for (const std::string& line : lines)
    if (line.rfind(begin, 0) == 0) return line;
  return "no " + begin;
}

}  // namespace

TEST_CASE("gradients pass through shapes, parts, products and copies") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 4>(main);
    auto ids = layer::data<"ids", std::int64_t>(main);
    auto h = layer::fc<24>({layer::embedding<9, 4>(ids), x});
    auto m = layer::reshape<4, 6>(h);
    auto t = layer::transpose<0, 2, 1>(layer::squeeze<1>(layer::unsqueeze<1>(m)));
    auto [left, right] = layer::split<2>(layer::print(layer::cumsum(m)));
    auto joined = layer::concat<2>(
        std::tuple{left, layer::slice<layer::along<2, 0, 2>>(layer::pad<0, 0, 0, 0, 1, 0>(right))});
    auto gram = layer::matmul(layer::expand<1, 1, 1>(m), t);
    auto stacked = layer::stack({gram, layer::cast<float>(layer::cast<double>(gram))});
    auto [best, where] = layer::topk<3>(layer::flatten(layer::assign(stacked)));
    auto all = layer::reduce_sum(joined) + layer::reduce_max(gram) + layer::mean(best);
    return layer::clip(all, -9, 9);
  });
  const auto back = lamina::transform::append_backward(net);
  const auto lines = spell(back.view());
  const auto found = types(lines);
  for (const char* type :
       {"lookup_table_grad", "mul_grad", "reshape2_grad", "transpose2_grad", "squeeze2_grad",
        "unsqueeze2_grad", "slice_grad", "pad_grad", "matmul_grad", "expand_grad", "stack_grad",
        "top_k_grad", "flatten2_grad", "reduce_sum_grad", "reduce_max_grad", "mean_grad",
        "clip_grad", "elementwise_add_grad", "concat_grad"}) {
    INFO(type);
    CHECK(found.count(type) == 1);
  }
  for (const char* type : {"split_grad", "cumsum_grad", "print_grad", "assign_grad", "cast_grad"}) {
    INFO(type);
    CHECK(found.count(type) == 0);
  }
  CHECK(line_of(lines, "concat: X=split_0.tmp_0@GRAD") ==
        "concat: X=split_0.tmp_0@GRAD X=split_0.tmp_1@GRAD -> "
        "Out=print_0.tmp_0@GRAD[-1,4,6] axis=-1");
  CHECK(line_of(lines, "cumsum: X=cumsum_0.tmp_0@GRAD").find("exclusive=0 reverse=1") !=
        std::string::npos);
  CHECK(line_of(lines, "print: In=print_0.tmp_0@GRAD").find("is_forward=0") != std::string::npos);
  CHECK(line_of(lines, "cast: X=cast_1.tmp_0@GRAD") ==
        "cast: X=cast_1.tmp_0@GRAD -> Out=cast_0.tmp_0@GRAD[-1,4,4]float64 in_dtype=5 "
        "out_dtype=6");
  CHECK(line_of(lines, "reshape2_grad").find("XShape=reshape2_0.tmp_1 ") != std::string::npos);
  CHECK(line_of(lines, "lookup_table_grad") ==
        "lookup_table_grad: W=embedding_0.w_0 Ids=ids Out@GRAD=embedding_0.tmp_0@GRAD -> "
        "W@GRAD=embedding_0.w_0@GRAD[9,4]");
}

TEST_CASE("gradients of costs and normalisation reach the parameters, and not the labels") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 6>(main);
    auto label = layer::data<"label", std::int64_t>(main);
    auto soft = layer::data<"soft", float, 6>(main);
    auto h = layer::dropout(layer::layer_norm(layer::fc<6>(x)), 0.5f);
    auto p = layer::softmax(layer::prelu(h));
    auto cost = layer::cross_entropy(p, label) + layer::softmax_with_cross_entropy(h, label) +
                layer::bpr_loss(h, label) + layer::smooth_l1(h, soft) + layer::cos_sim(h, soft);
    auto each = layer::square_error_cost(h, soft) + layer::huber_loss(h, soft, 1) +
                layer::sigmoid_cross_entropy_with_logits(h, soft) + layer::log_loss(p, soft) +
                layer::hinge_loss(h, soft) + layer::modified_huber_loss(h, soft) +
                layer::rank_loss(soft, h, p) + layer::margin_rank_loss(soft, h, p) +
                layer::label_smooth(layer::l2_normalize(p));
    layer::accuracy(p, label);
    return layer::mean(cost) + layer::mean(each) + layer::kldiv_loss(layer::log(p), soft);
  });
  const auto back = lamina::transform::append_backward(net);
  const auto lines = spell(back.view());
  const auto found = types(lines);
  for (const char* type :
       {"dropout_grad",   "layer_norm_grad",       "prelu_grad",
        "softmax_grad",   "cross_entropy_grad",    "softmax_with_cross_entropy_grad",
        "bpr_loss_grad",  "smooth_l1_loss_grad",   "cos_sim_grad",
        "square_grad",    "huber_loss_grad",       "sigmoid_cross_entropy_with_logits_grad",
        "log_loss_grad",  "hinge_loss_grad",       "modified_huber_loss_grad",
        "rank_loss_grad", "margin_rank_loss_grad", "label_smooth_grad",
        "norm_grad",      "kldiv_loss_grad",       "log_grad"}) {
    INFO(type);
    CHECK(found.count(type) == 1);
  }
  CHECK(found.count("accuracy_grad") == 0);
  for (const std::string& line : lines) {
    INFO(line);
    CHECK(line.find("label@GRAD") == std::string::npos);
    CHECK(line.find("soft@GRAD") == std::string::npos);
    CHECK(line.find("BROKEN") == std::string::npos);
  }
  CHECK(
      line_of(lines, "layer_norm_grad") ==
      "layer_norm_grad: X=fc_0.tmp_1 Scale=layer_norm_0.w_0 Mean=layer_norm_0.tmp_0 "
      "Variance=layer_norm_0.tmp_1 Y@GRAD=layer_norm_0.tmp_2@GRAD -> X@GRAD=fc_0.tmp_1@GRAD[-1,6] "
      "Scale@GRAD=layer_norm_0.w_0@GRAD[6] Bias@GRAD=layer_norm_0.b_0@GRAD[6] epsilon=0.00001 "
      "begin_norm_axis=1");
}

using lamina::block;
using lamina::named;

namespace {

/// A cost that contains the gradient of a function, unless the gradient is a constant.
template <class F, bool Stop = false>
constexpr auto cost_of_slope = lamina::program([](block& main) {
  auto h = layer::fc<4>(layer::data<"x", float, 3>(main));
  auto [grad] = layer::gradients(F{}(main, h), h);
  if constexpr (Stop) layer::stop_gradient(grad);
  return layer::mean(layer::square(grad) * h);
});

struct by_tanh {
  constexpr auto operator()(block&, auto h) const { return layer::tanh(h); }
};
struct by_norm {
  constexpr auto operator()(block&, auto h) const { return layer::l2_normalize(h); }
};
/// Pooling by the maximum, of windows of 2 x 1.
template <int Stride>
struct by_maximum {
  constexpr auto operator()(block&, auto h) const {
    return layer::pool2d<lamina::extent2{2, 1}, lamina::window{.stride = {Stride, 1}}>(
        layer::reshape<1, 4, 1>(h));
  }
};
struct by_batch_norm {
  constexpr auto operator()(block&, auto h) const { return layer::batch_norm(h); }
};
/// The gradient by the scale of a batch_norm, of which no gradient is known.
constexpr auto slope_by_scale = lamina::program([](block& main) {
  auto h = layer::fc<4>(layer::data<"x", float, 3>(main));
  auto scale = layer::create_parameter<float, 4>(main, {.name = "scale"});
  auto [grad] = layer::gradients(layer::batch_norm(h, {.param = {.name = "scale"}}) * h, scale);
  return layer::mean(layer::square(grad));
});

struct by_loop {
  constexpr auto operator()(block& main, auto h) const {
    auto i = layer::fill_constant<std::int64_t>(main, 0);
    auto n = layer::fill_constant<std::int64_t>(main, 2);
    auto going = layer::less_than(i, n);
    layer::while_loop(going, [&](block&) {
      h = layer::tanh(h);
      layer::increment(i);
      layer::less_than(i, n, going);
    });
    return h;
  }
};

template <const auto& Program>
using check_of =
    lamina::second_gradient_check<lamina::with_backward<std::remove_cvref_t<decltype(Program)>>>;

}  // namespace

TEST_CASE("a cost finds the gradient operators that have no gradient") {
  STATIC_REQUIRE(!check_of<cost_of_slope<by_tanh>>::found);
  STATIC_REQUIRE(check_of<cost_of_slope<by_norm>>::found);
  STATIC_REQUIRE(std::is_same_v<check_of<cost_of_slope<by_norm>>::name,
                                named<'n', 'o', 'r', 'm', '_', 'g', 'r', 'a', 'd'>>);
  STATIC_REQUIRE(!check_of<cost_of_slope<by_norm, true>>::found);
  STATIC_REQUIRE(!check_of<cost_of_slope<by_maximum<2>>>::found);
  STATIC_REQUIRE(std::is_same_v<check_of<cost_of_slope<by_maximum<1>>>::name,
                                named<'p', 'o', 'o', 'l', '2', 'd', '_', 'g', 'r', 'a', 'd'>>);
  STATIC_REQUIRE(!check_of<cost_of_slope<by_batch_norm>>::found);
  STATIC_REQUIRE(check_of<slope_by_scale>::found);
  STATIC_REQUIRE(std::is_same_v<check_of<cost_of_slope<by_loop>>::name,
                                named<'w', 'h', 'i', 'l', 'e', '_', 'g', 'r', 'a', 'd'>>);
  STATIC_REQUIRE(!check_of<cost_of_slope<by_loop, true>>::found);
}
