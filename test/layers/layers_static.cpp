// SPDX-License-Identifier: Apache-2.0
// The types that layers return, and the operator behind each activation.
#include <string_view>
#include <tuple>

#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;
using lamina::activation;
using lamina::batch;
using lamina::once;
using lamina::variable;

namespace {

template <class Expected, class Found>
constexpr void is_a(Found) {
  static_assert(__is_same(Expected, Found));
}

struct every_layer {
  constexpr void operator()(lamina::block& main) const {
    auto x = layer::data<"x", float, 4, 6>(main);
    auto y = layer::data<"y", float, 24>(main);
    auto d = layer::data<"d", double, 6>(main);
    auto i = layer::data<"i", std::int64_t>(main);
    is_a<variable<std::int64_t, batch, 1>>(i);
    is_a<variable<float, batch, 7>>(layer::fc<7>({x, x}));
    is_a<variable<float, batch, 4, 7>>(layer::fc<7, 2>(x));
    is_a<variable<float, batch, 7>>(layer::fc<7>(std::tuple{x, y}));
    is_a<variable<double, batch, 3>>(layer::fc<3>(d));
    is_a<variable<float, batch, 8>>(layer::embedding<100, 8>(i));
    is_a<variable<double, batch, 8>>(layer::embedding<100, 8, double>(i));
    is_a<variable<float, once, 1>>(layer::reduce_sum(x));
    is_a<variable<float, batch, 6>>(layer::reduce_mean<1>(x));
    is_a<variable<float, batch, 1, 6>>(layer::reduce_max<1>(x, layer::keep_dim));
    is_a<variable<float, once, 4, 6>>(layer::reduce_min<0>(x));
    is_a<variable<float, once, 1, 4, 6>>(layer::reduce_min<0>(x, layer::keep_dim));
    is_a<variable<float, batch>>(layer::reduce_prod<1, -1>(x));
    is_a<variable<float, batch, 8, 6>>(layer::concat({x, x}));
    is_a<variable<float, batch, 2, 4, 6>>(layer::stack({x, x}));
    auto [a, b] = layer::split<layer::sections<1, 3>, 1>(x);
    is_a<variable<float, batch, 1, 6>>(a);
    is_a<variable<float, batch, 3, 6>>(b);
    is_a<variable<float, batch, 4, 2>>(layer::slice<layer::along<2, -2, 99>>(x));
    is_a<variable<float, batch, 4, 9>>(layer::pad<0, 0, 0, 0, 1, 2>(x));
    is_a<variable<float, batch, 8, 6>>(layer::expand<1, 2, 1>(x));
    is_a<variable<float, batch, 4, 6>>(layer::gather(x, i));
    is_a<variable<float, batch, 4, 2, 3>>(layer::reshape<4, 2, -1>(y));
    is_a<variable<float, batch, 6, 4>>(layer::transpose<0, 2, 1>(x));
    is_a<variable<float, batch, 4, 1, 6>>(layer::unsqueeze<2>(x));
    is_a<variable<float, batch, 24>>(layer::flatten(x));
    is_a<variable<float, batch, 4, 4>>(
        layer::matmul<layer::matmul_form{.transpose_y = true}>(x, x));
    is_a<variable<float, once, 24, 24>>(
        layer::matmul<layer::matmul_form{.transpose_x = true}>(y, y));
    is_a<variable<float, batch, 1>>(layer::cos_sim(y, y));
    is_a<variable<float, batch, 1>>(layer::softmax_with_cross_entropy(y, i));
    is_a<variable<float, batch, 1>>(layer::smooth_l1(x, x));
    is_a<variable<float, once, 1>>(layer::kldiv_loss(y, y));
    is_a<variable<float, batch, 10>>(layer::one_hot<10>(i));
    auto [values, places] = layer::topk<3>(x);
    is_a<variable<float, batch, 4, 3>>(values);
    is_a<variable<std::int64_t, batch, 4, 3>>(places);
    is_a<variable<bool, batch, 24>>(layer::less_than(y, y));
    is_a<variable<bool, once, 1>>(layer::reduce_any(layer::equal(i, i)));
    is_a<variable<double, batch, 24>>(layer::cast<double>(y));
    is_a<variable<float, batch, 4, 6>>(1 - x * 2 / (x + 1));
    is_a<variable<bool, once, 1>>(layer::fill_constant<bool>(main, true));
    is_a<variable<float, once, 2, 3>>(layer::fill_constant<float, 2, 3>(main, 0.5));
  }
};
static_assert(lamina::program<every_layer>::desc.fault.kind == lamina::fault_kind::none);

constexpr bool names(activation act, std::string_view type) {
  return layer::operator_of(act) != nullptr && layer::operator_of(act)->type == type;
}
static_assert(layer::operator_of(activation::identity) == nullptr);
static_assert(names(activation::relu, "relu"));
static_assert(names(activation::tanh, "tanh"));
static_assert(names(activation::sigmoid, "sigmoid"));
static_assert(names(activation::logsigmoid, "logsigmoid"));
static_assert(names(activation::softplus, "softplus"));
static_assert(names(activation::softsign, "softsign"));
static_assert(names(activation::tanh_shrink, "tanh_shrink"));
static_assert(names(activation::mish, "mish"));
static_assert(names(activation::exp, "exp"));
static_assert(names(activation::log, "log"));
static_assert(names(activation::sqrt, "sqrt"));
// The block is a handle: a record function may take it in any way.
constexpr auto record_mean = [](auto& main) {
  return layer::mean(layer::data<"x", float, 4>(main));
};
constexpr auto records_mean = [](const auto& net) {
  return net.desc.count.operators == 2 && net.desc.cost >= 0;
};
static_assert(records_mean(lamina::program([](auto main) { return record_mean(main); })));
static_assert(records_mean(lamina::program([](auto& main) {
  static_assert(__is_same(decltype(main), lamina::block&));
  return record_mean(main);
})));
static_assert(records_mean(lamina::program([](lamina::block main) { return record_mean(main); })));
static_assert(records_mean(lamina::program([](const lamina::block& main) {
  return record_mean(main);
})));

// A program of data alone is one, with nothing to compute.
static_assert(lamina::program([](lamina::block& main) {
                layer::data<"x", float, 4>(main);
              }).desc.count.operators == 1);

static_assert(names(activation::rsqrt, "rsqrt"));
static_assert(names(activation::abs, "abs"));
static_assert(names(activation::ceil, "ceil"));
static_assert(names(activation::floor, "floor"));
static_assert(names(activation::round, "round"));
static_assert(names(activation::sin, "sin"));
static_assert(names(activation::cos, "cos"));
static_assert(names(activation::asin, "asin"));
static_assert(names(activation::acos, "acos"));
static_assert(names(activation::atan, "atan"));
static_assert(names(activation::reciprocal, "reciprocal"));
static_assert(names(activation::square, "square"));
static_assert(names(activation::gelu, "gelu"));
static_assert(names(activation::selu, "selu"));
static_assert(names(activation::leaky_relu, "leaky_relu"));
static_assert(names(activation::elu, "elu"));
static_assert(names(activation::relu6, "relu6"));
static_assert(names(activation::brelu, "brelu"));
static_assert(names(activation::soft_relu, "soft_relu"));
static_assert(names(activation::stanh, "stanh"));
static_assert(names(activation::hard_sigmoid, "hard_sigmoid"));
static_assert(names(activation::swish, "swish"));
static_assert(names(activation::hard_swish, "hard_swish"));
static_assert(names(activation::pow, "pow"));
static_assert(names(activation::hard_shrink, "hard_shrink"));
static_assert(names(activation::softshrink, "softshrink"));
static_assert(names(activation::thresholded_relu, "thresholded_relu"));
static_assert(names(activation::softmax, "softmax"));

}  // namespace
