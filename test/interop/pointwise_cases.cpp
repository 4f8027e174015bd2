// SPDX-License-Identifier: Apache-2.0
// Cases of operators that work element by element.
#include <interop/case_writer.hpp>

namespace interop {
namespace {

/// One operator of x [3, 4].
template <class F>
void unary(case_writer& to, const char* name, F, const case_options& options = {}) {
  to.write(
      name, []<class T>(block& main) { return squared(F{}(layer::data<"x", T, 4>(main))); },
      options);
}
/// One operator of x and y [3, 4].
template <class F>
void binary(case_writer& to, const char* name, F, const case_options& options = {}) {
  to.write(
      name,
      []<class T>(block& main) {
        auto x = layer::data<"x", T, 4>(main);
        return squared(F{}(x, layer::data<"y", T, 4>(main)));
      },
      options);
}
/// One operator of x and y whose result is no number to differentiate.
template <class F>
void choice(case_writer& to, const char* name, F) {
  case_options options{.low = 0, .high = 3, .gradients = false};
  to.write(
      name,
      []<class T>(block& main) {
        auto x = layer::floor(layer::data<"x", T, 4>(main));
        return F{}(x, layer::floor(layer::data<"y", T, 4>(main)));
      },
      options);
}

}  // namespace

void write_pointwise_cases(case_writer& to) {
  const case_options positive{.low = 0.2f, .high = 2};
  const case_options wide{.low = -4, .high = 4};
  unary(to, "relu", [](auto x) { return layer::relu(x); });
  unary(to, "tanh", [](auto x) { return layer::tanh(x); });
  unary(to, "sigmoid", [](auto x) { return layer::sigmoid(x); });
  unary(
      to, "logsigmoid", [](auto x) { return layer::logsigmoid(x); }, wide);
  unary(
      to, "softplus", [](auto x) { return layer::softplus(x); }, wide);
  unary(to, "softsign", [](auto x) { return layer::softsign(x); });
  unary(to, "tanh_shrink", [](auto x) { return layer::tanh_shrink(x); });
  unary(to, "exp", [](auto x) { return layer::exp(x); });
  unary(
      to, "log", [](auto x) { return layer::log(x); }, positive);
  unary(
      to, "sqrt", [](auto x) { return layer::sqrt(x); }, positive);
  unary(
      to, "rsqrt", [](auto x) { return layer::rsqrt(x); }, positive);
  unary(to, "abs", [](auto x) { return layer::abs(x); });
  unary(
      to, "ceil", [](auto x) { return layer::ceil(x); }, wide);
  unary(
      to, "floor", [](auto x) { return layer::floor(x); }, wide);
  unary(
      to, "round", [](auto x) { return layer::round(x); }, wide);
  unary(
      to, "sin", [](auto x) { return layer::sin(x); }, wide);
  unary(
      to, "cos", [](auto x) { return layer::cos(x); }, wide);
  unary(to, "asin", [](auto x) { return layer::asin(x); });
  unary(to, "acos", [](auto x) { return layer::acos(x); });
  unary(
      to, "atan", [](auto x) { return layer::atan(x); }, wide);
  unary(
      to, "reciprocal", [](auto x) { return layer::reciprocal(x); }, positive);
  unary(to, "square", [](auto x) { return layer::square(x); });
  unary(to, "sign", [](auto x) { return layer::sign(x); });
  unary(
      to, "gelu", [](auto x) { return layer::gelu(x); }, wide);
  unary(
      to, "gelu_approximate", [](auto x) { return layer::gelu(x, {.approximate = true}); }, wide);
  unary(
      to, "selu", [](auto x) { return layer::selu(x); }, wide);
  unary(to, "leaky_relu", [](auto x) { return layer::leaky_relu(x, {.alpha = 0.1f}); });
  unary(
      to, "elu", [](auto x) { return layer::elu(x, {.alpha = 0.7f}); }, wide);
  unary(
      to, "relu6", [](auto x) { return layer::relu6(x, {.threshold = 6}); }, wide);
  unary(
      to, "brelu", [](auto x) { return layer::brelu(x, {.t_min = -1, .t_max = 2}); }, wide);
  unary(
      to, "soft_relu", [](auto x) { return layer::soft_relu(x, {.threshold = 3}); }, wide);
  unary(to, "stanh", [](auto x) { return layer::stanh(x); });
  unary(
      to, "hard_sigmoid", [](auto x) { return layer::hard_sigmoid(x); }, wide);
  unary(
      to, "swish", [](auto x) { return layer::swish(x, {.beta = 1}); }, wide);
  unary(
      to, "hard_swish", [](auto x) { return layer::hard_swish(x); }, wide);
  unary(
      to, "pow", [](auto x) { return layer::pow(x, {.factor = 2.5f}); }, positive);
  unary(to, "hard_shrink", [](auto x) { return layer::hard_shrink(x); });
  unary(to, "softshrink", [](auto x) { return layer::softshrink(x); });
  unary(to, "thresholded_relu",
        [](auto x) { return layer::thresholded_relu(x, {.threshold = 0.3f}); });
  unary(to, "scale", [](auto x) { return layer::scale(x, 2, {.bias = 0.5f}); });
  unary(to, "scale_before",
        [](auto x) { return layer::scale(x, 2, {.bias = 0.5f, .bias_after_scale = false}); });
  unary(to, "clip", [](auto x) { return layer::clip(x, -0.5f, 0.4f); });
  unary(to, "clip_by_norm", [](auto x) { return layer::clip_by_norm(x, 0.9f); },
        {.gradients = false});
  unary(to, "assign", [](auto x) { return layer::assign(x); });
  unary(to, "prelu", [](auto x) { return layer::prelu(x); });
  unary(to, "prelu_element",
        [](auto x) { return layer::prelu(x, {.mode = layer::prelu_mode::element}); });
  to.write("cast",
           []<class T>(block& main) {
             return layer::cast<T>(layer::cast<integer>(layer::data<"x", T, 4>(main)));
           },
           {.low = -4, .high = 4, .gradients = false, .edges = false});
  to.write("cast_double", lamina::program([](block& main) {
             auto x = layer::data<"x", float, 4>(main);
             return squared(layer::cast<float>(layer::square(layer::cast<double>(x))));
           }));
  unary(to, "print", [](auto x) { return layer::print(x, {.first_n = 1, .summarize = 1}); });

  binary(to, "elementwise_add", [](auto x, auto y) { return layer::elementwise_add(x, y); });
  binary(to, "elementwise_sub", [](auto x, auto y) { return layer::elementwise_sub(x, y); });
  binary(to, "elementwise_mul", [](auto x, auto y) { return layer::elementwise_mul(x, y); });
  binary(
      to, "elementwise_div", [](auto x, auto y) { return layer::elementwise_div(x, y); }, positive);
  binary(to, "elementwise_max", [](auto x, auto y) { return layer::elementwise_max(x, y); });
  binary(to, "elementwise_min", [](auto x, auto y) { return layer::elementwise_min(x, y); });
  binary(
      to, "elementwise_pow", [](auto x, auto y) { return layer::elementwise_pow(x, y); }, positive);
  to.write("elementwise_broadcast", []<class T>(block& main) {
    auto x = layer::data<"x", T, 2, 4>(main);
    return squared(layer::elementwise_mul<0>(x, layer::fc<2>(layer::reduce_mean<2>(x))));
  });
  to.write("elementwise_mod", lamina::program([](block& main) {
             auto x = layer::data<"x", integer, 4>(main), y = layer::data<"y", integer, 4>(main);
             return layer::elementwise_mod(x - 5, y + 1);
           }),
           {.integers = 10, .gradients = false});
  to.write("elementwise_floordiv", lamina::program([](block& main) {
             auto x = layer::data<"x", integer, 4>(main), y = layer::data<"y", integer, 4>(main);
             return layer::elementwise_floordiv(x, y + 1);
           }),
           {.integers = 10, .gradients = false});
  to.write("sum", []<class T>(block& main) {
    auto x = layer::data<"x", T, 4>(main), y = layer::data<"y", T, 4>(main);
    return squared(layer::sum({x, y, x}));
  });
  to.write("increment", lamina::program([](block& main) {
             auto i = layer::fill_constant<integer>(main, 3);
             return layer::increment(i, 2);
           }),
           {.gradients = false});
  choice(to, "less_than", [](auto x, auto y) { return layer::less_than(x, y); });
  choice(to, "less_equal", [](auto x, auto y) { return layer::less_equal(x, y); });
  choice(to, "greater_than", [](auto x, auto y) { return layer::greater_than(x, y); });
  choice(to, "greater_equal", [](auto x, auto y) { return layer::greater_equal(x, y); });
  choice(to, "equal", [](auto x, auto y) { return layer::equal(x, y); });
  choice(to, "not_equal", [](auto x, auto y) { return layer::not_equal(x, y); });
  choice(to, "logical_and", [](auto x, auto y) {
    return layer::logical_and(layer::less_than(x, y), layer::equal(x, x));
  });
  choice(to, "logical_or", [](auto x, auto y) {
    return layer::logical_or(layer::less_than(x, y), layer::equal(x, y));
  });
  choice(to, "logical_xor", [](auto x, auto y) {
    return layer::logical_xor(layer::less_than(x, y), layer::equal(x, x));
  });
  choice(to, "logical_not",
         [](auto x, auto y) { return layer::logical_not(layer::less_than(x, y)); });

  const auto zero_or_one = [] {
    return tensor({3, 4}, std::vector<float>{0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0});
  };
  const case_options labelled{.feed = {{"y", zero_or_one()}}};
  binary(
      to, "sigmoid_cross_entropy_with_logits",
      [](auto x, auto y) { return layer::sigmoid_cross_entropy_with_logits(x, y); }, labelled);
  const auto column = [](std::vector<float> v) { return tensor({3, 1}, v); };
  const auto losses = [&](const char* name, auto f, std::vector<float> x, std::vector<float> y) {
    using F = decltype(f);
    to.write(name,
             []<class T>(block& main) {
               auto p = layer::data<"x", T, 1>(main);
               return squared(F{}(p, layer::data<"y", T, 1>(main)));
             },
             {.feed = {{"x", column(x)}, {"y", column(y)}}});
  };
  losses("log_loss", [](auto x, auto y) { return layer::log_loss(x, y); }, {0.2f, 0.9f, 0.6f},
         {0, 1, 1});
  losses("hinge_loss", [](auto x, auto y) { return layer::hinge_loss(x, y); }, {0.2f, -0.9f, 1.6f},
         {0, 1, 1});
  losses("huber_loss", [](auto x, auto y) { return layer::huber_loss(x, y, 0.5f); },
         {0.2f, -0.9f, 1.6f}, {0, 1, 1.5f});
  losses("modified_huber_loss", [](auto x, auto y) { return layer::modified_huber_loss(x, y); },
         {0.2f, -1.9f, 1.6f}, {0, 1, 1});
  binary(
      to, "smooth_l1_loss", [](auto x, auto y) { return layer::smooth_l1(x, y); }, wide);
  binary(
      to, "kldiv_loss", [](auto x, auto y) { return layer::kldiv_loss(x, y); }, positive);
  const auto ranks = [&](const char* name, auto f) {
    using F = decltype(f);
    to.write(name,
             []<class T>(block& main) {
               auto label = layer::data<"label", T, 1>(main);
               auto left = layer::data<"left", T, 1>(main);
               return squared(F{}(label, left, layer::data<"right", T, 1>(main)));
             },
             {.feed = {{"label", column({1, 0, 1})}}});
  };
  ranks("rank_loss", [](auto l, auto a, auto b) { return layer::rank_loss(l, a, b); });
  ranks("margin_rank_loss",
        [](auto l, auto a, auto b) { return layer::margin_rank_loss(l, a, b); });
}

}  // namespace interop
