// SPDX-License-Identifier: Apache-2.0
// Programs in double on the compiled engine: what the reference executor computes in double, to
// twelve digits, gradients too.
#include <tuple>

#include "laws/engine_law.hpp"
#include "laws/recorded_pieces.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/plan/real_type.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;

namespace {

// Widths below, at and above a panel; fused biases, activations and residuals.
template <int In, int Hidden>
constexpr auto perceptron = program([](block& main) {
  auto x = layer::data<"x", double, In>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto a = layer::fc<Hidden>(x, {.act = lamina::activation::relu});
  auto b = layer::fc<Hidden>(a, {.act = lamina::activation::tanh}) + a;
  auto c = layer::fc<Hidden>(b, {.act = lamina::activation::sigmoid, .bias = false});
  auto logits = layer::fc<5>({b, c});
  auto cost = layer::mean(layer::softmax_with_cross_entropy(logits, label));
  auto accuracy = layer::accuracy(layer::softmax(logits), label);
  return std::tuple{cost, logits, accuracy};
});

template <int W>
constexpr auto pointwise = program([](block& main) {
  auto x = layer::data<"x", double, W>(main);
  auto y = layer::data<"y", double, W>(main);
  auto a = layer::exp(x) + layer::log(x * x + 1.0) * layer::sqrt(y * y + 0.5);
  auto b = layer::gelu(x) - layer::tanh(y) / (layer::abs(x) + 1.0);
  auto c = layer::softplus(x) * layer::swish(y) + layer::elu(x) + layer::leaky_relu(y);
  auto d = layer::sin(x) * layer::cos(y) + layer::pow(layer::abs(x) + 0.25, {.factor = 1.5f});
  auto e = layer::elementwise_max(x, y) + layer::elementwise_min(a, b) + layer::clip(c, -0.3, 0.6);
  auto cost = layer::mean(a * b + c * d) + layer::mean(e * e);
  return std::tuple{cost, a, b, c, d, e};
});

template <int W>
constexpr auto rows = program([](block& main) {
  auto x = layer::data<"x", double, W>(main);
  auto maps = layer::data<"maps", double, 3, W>(main);
  auto a = layer::layer_norm(x);
  auto b = layer::layer_norm<2>(maps);
  auto c = layer::softmax(x * 3.0);
  auto d = layer::l2_normalize(x, {.epsilon = 1e-4f});
  auto e = layer::reduce_sum<2>(maps);
  auto f = layer::reduce_mean<1>(maps);
  auto cost = layer::mean(a * x) + layer::mean(b * b * maps) + layer::mean(c * c) +
              layer::mean(d * x) + layer::mean(e * e) + layer::mean(f * f * f);
  return std::tuple{cost, a, b, c, d, e, f};
});

template <int W>
constexpr auto costs = program([](block& main) {
  auto x = layer::data<"x", double, W>(main);
  auto y = layer::data<"y", double, W>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto p = layer::softmax(x);
  auto a = layer::cross_entropy(p, label);
  auto b = layer::square_error_cost(x, y);
  auto c = layer::softmax_with_cross_entropy(x, layer::softmax(y));
  auto d = layer::cos_sim(x, y);
  auto e = layer::huber_loss(layer::fc<1>(x), layer::fc<1>(y), 0.4f);
  auto f = layer::sigmoid_cross_entropy_with_logits(x, layer::sigmoid(y));
  auto cost = layer::mean(a) + layer::mean(b) + layer::mean(c) + layer::mean(d * d) +
              layer::mean(e) + layer::mean(f);
  return std::tuple{cost, a, b, c, d, e, f};
});

// Products of batches of matrices, heads, and what turns and joins arrays.
constexpr auto attention = program([](block& main) {
  auto x = layer::data<"x", double, 6, 8>(main);
  auto q = layer::fc<8, 2>(x), k = layer::fc<8, 2>(x), v = layer::fc<8, 2>(x);
  auto mixed = layer::scaled_dot_product_attention<2>(q, k, v, {.causal = true});
  auto joined = layer::concat<2>({mixed, x});
  auto halves = layer::transpose<0, 2, 1>(joined);
  auto cost = layer::mean(halves * halves);
  return std::tuple{cost, mixed, halves};
});

constexpr auto words = program([](block& main) {
  auto word = layer::data<"word", std::int64_t>(main);
  auto other = layer::data<"other", std::int64_t>(main);
  auto a = layer::embedding<12, 5, double>(word, {.param = {.name = "table"}});
  auto b = layer::embedding<12, 5, double>(other, {.param = {.name = "table"}});
  auto hidden = layer::fc<7>(layer::concat({a, b}), {.act = lamina::activation::tanh});
  auto cost = layer::mean(hidden * hidden);
  return std::tuple{cost, a, hidden};
});

// A recurrence that is written as a loop: arrays of steps, and weights' gradients as sums over
// them.
constexpr auto loop = program([](block& main) {
  auto x = layer::sequence<"x", double, 4>(main);
  auto out = layer::dynamic_rnn(x, [&](auto& step) {
    auto in = step.input(x);
    auto h = step.template memory<double>(lamina::dims<6>);
    auto next = layer::fc<6>(std::tuple{in, h}, {.act = lamina::activation::tanh});
    step.update(h, next);
    return next;
  });
  return std::tuple{pieces::cost_of(out), out};
});

constexpr auto sequences = program([](block& main) {
  auto x = layer::sequence<"x", double, 3>(main);
  auto sum = layer::sequence_pool(x, {.type = lamina::pooling_type::sum});
  auto average = layer::sequence_pool(x, {.type = lamina::pooling_type::average});
  auto largest = layer::sequence_pool(x, {.type = lamina::pooling_type::max});
  auto root = layer::sequence_pool(x, {.type = lamina::pooling_type::sqrt});
  auto repeated = layer::sequence_expand(average, x);
  auto weights = layer::sequence_softmax(layer::fc<1>(x));
  auto turned = layer::sequence_reverse(x) * x + repeated;
  auto seen = layer::row_conv<2>(x);
  auto cost = pieces::cost_of(sum) + pieces::cost_of(largest) + pieces::cost_of(root) +
              pieces::cost_of(turned) + pieces::cost_of(weights) + pieces::cost_of(seen);
  return std::tuple{cost, sum, largest, turned, weights, seen};
});

// Shapes, orders and choices: copies forward, sums backward.
constexpr auto shapes = program([](block& main) {
  auto x = layer::data<"x", double, 4, 6>(main);
  auto row = layer::data<"row", double, 6>(main);
  auto a = layer::reshape<6, 4>(x) * 2.0;
  auto b = layer::slice<layer::along<1, 1, 3>>(x);
  auto c = layer::stack<1>({row, row * row});
  auto d = layer::cumsum<1>(row);
  auto e = layer::prelu(x);
  auto f = layer::expand<1, 2, 1>(x);
  auto g = layer::elementwise_add<0>(x, layer::fc<4>(row));
  auto cost = pieces::cost_of(a) + pieces::cost_of(b) + pieces::cost_of(c) + pieces::cost_of(d) +
              pieces::cost_of(e) + pieces::cost_of(f) + pieces::cost_of(g);
  return std::tuple{cost, a, b, c, d, e, f, g};
});

constexpr auto products = program([](block& main) {
  auto x = layer::data<"x", double, 5, 7>(main);
  auto y = layer::data<"y", double, 5, 9>(main);
  auto z = layer::data<"z", double, 9, 5>(main);
  auto a = layer::matmul<layer::matmul_form{.transpose_x = true}>(x, y);
  auto b = layer::matmul<layer::matmul_form{.transpose_x = true, .transpose_y = true}>(
      x, z, {.alpha = 0.5f});
  auto c = layer::matmul(z, x);
  auto cost = pieces::cost_of(a) + pieces::cost_of(b) + pieces::cost_of(c);
  return std::tuple{cost, a, b, c};
});

// A mask of the same random numbers as in float.
constexpr auto dropped = program([](block& main) {
  auto x = layer::data<"x", double, 21>(main);
  auto a =
      layer::dropout(x, 0.3f, {.implementation = layer::dropout_implementation::upscale_in_train});
  auto b = layer::dropout(layer::fc<9>(a), 0.5f);
  return std::tuple{pieces::cost_of(b), a, b};
});

// Normalisation over the batch and inside of images, whose values keep their channels.
constexpr auto normalised = program([](block& main) {
  auto x = layer::data<"x", double, 4, 3, 5>(main);
  auto row = layer::data<"row", double, 6>(main);
  auto a = layer::batch_norm(x, {.act = lamina::activation::relu});
  auto b = layer::group_norm<2>(x);
  auto c = layer::instance_norm(x);
  auto d = layer::lrn(x);
  auto e = layer::batch_norm(row);
  auto cost = layer::mean(a * a * x) + layer::mean(b * b * x) + layer::mean(c * c * x) +
              pieces::cost_of(d) + layer::mean(e * e * row);
  return std::tuple{cost, a, b, c, d, e};
});

static_assert(std::is_same_v<lamina::real_of<decltype(words)>, double>);

}  // namespace

TEST_CASE("a perceptron in double") {
  check_engine(perceptron<3, 4>);
  check_engine(perceptron<33, 16>);
  check_engine(perceptron<17, 40>);
}
TEST_CASE("pointwise functions in double") {
  check_engine(pointwise<3>);
  check_engine(pointwise<21>);
}
TEST_CASE("rows in double") {
  check_engine(rows<3>);
  check_engine(rows<19>);
}
TEST_CASE("costs in double") {
  check_engine(costs<4>, {.limit = 4});
  check_engine(costs<18>, {.limit = 4});
}
TEST_CASE("attention in double") { check_engine(attention); }
TEST_CASE("embeddings in double") { check_engine(words, {.limit = 12}); }
TEST_CASE("a loop in double") {
  check_engine(loop);
  // More rows than one product of several steps takes.
  check_engine(loop, {.batches = {150, 300}});
}
TEST_CASE("sequences in double") { check_engine(sequences); }
TEST_CASE("shapes in double") { check_engine(shapes); }
TEST_CASE("batches of matrices in double") { check_engine(products); }
TEST_CASE("dropout in double") { check_engine(dropped, {.rows_are_alone = false}); }
TEST_CASE("normalisation in double") { check_engine(normalised, {.rows_are_alone = false}); }
