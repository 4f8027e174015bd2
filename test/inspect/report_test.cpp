// SPDX-License-Identifier: Apache-2.0
// What a report and a summary count is what can be counted by hand.
#include <catch2/catch.hpp>

#include <lamina/inspect/report.hpp>
#include <lamina/inspect/summary.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/optimizers.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/transform/append_backward.hpp>
#include <lamina/transform/freeze.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::activation;
using lamina::program;
using integer = std::int64_t;

namespace {

constexpr auto perceptron = program([](lamina::block& main) {
  auto x = layer::data<"x", float, 784>(main);
  auto h = layer::fc<64>(layer::fc<128>(x, {.act = activation::relu}), {.act = activation::relu});
  return layer::mean(
      layer::softmax_with_cross_entropy(layer::fc<10>(h), layer::data<"y", integer>(main)));
});
constexpr auto convolutions = program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3, 8, 8>(main);
  auto a = layer::conv2d<4, 3>(x, {.act = activation::relu});
  return layer::mean(layer::conv2d<2, 3>(a));
});
constexpr auto positions = program([](lamina::block& main) {
  auto x = layer::data<"x", float, 5, 16>(main);
  auto q = layer::fc<32, 2>(x);
  constexpr lamina::layer::matmul_form by_rows{.transpose_y = true};
  return layer::mean(layer::matmul<by_rows>(q, q));
});
constexpr auto words = program([](lamina::block& main) {
  auto e = layer::embedding<9, 4>(layer::sequence<"words", integer>(main));
  auto [h, c] = layer::dynamic_lstm<64>(layer::fc<64>(e));
  return layer::mean(layer::sequence_pool(h, {.type = lamina::pooling_type::max}));
});
constexpr auto loop = program([](lamina::block& main) {
  auto h = layer::scale(layer::data<"x", float, 3>(main), 1);
  auto i = layer::fill_constant<integer>(main, 0), n = layer::fill_constant<integer>(main, 5);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](lamina::block&) {
    h = layer::tanh(layer::fc<3>(h));
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  return layer::mean(h);
});
// A shared matrix, a batch_norm, convolutions of groups, and a layer of the user's name twice.
constexpr auto branches = program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4, 6, 6>(main);
  auto a = layer::batch_norm(layer::conv2d<8, 3, lamina::window{.groups = 2}>(x, {.bias = false}));
  auto l = layer::fc<5>(a, {.param = {.name = "w"}, .name = "left"});
  auto r = layer::fc<5>(a, {.param = {.name = "w"}, .bias = false, .name = "right"});
  layer::create_parameter<float, 2, 3>(main);
  return layer::mean(l + r);
});

const lamina::layer_summary& layer_of(const lamina::program_summary& s, std::string_view name) {
  for (const lamina::layer_summary& l : s.layers)
    if (l.name == name) return l;
  FAIL("no layer " << name);
  return s.layers[0];
}

}  // namespace

TEST_CASE("summary: flops are those of the report") {
  const lamina::report_options run{.rows = 7, .tokens = 11, .iterations = 5};
  const auto same = [&](auto net) {
    const lamina::program_summary s = lamina::summary(net, run);
    CHECK(s.flops > 0);
    CHECK(s.flops == lamina::report(net, run).flops());
    CHECK(s.parameters == net.parameter_count());
  };
  same(perceptron);
  same(convolutions);
  same(positions);
  same(words);
  same(loop);
  same(branches);
}

TEST_CASE("summary: layers with shapes and parameters, shared ones counted once") {
  const lamina::program_summary s = lamina::summary(branches);
  const auto& conv = layer_of(s, "conv2d_0");
  CHECK(conv.output == "[batch, 8, 4, 4]");
  CHECK(conv.operators == "conv2d");
  CHECK(conv.parameters == 8 * 2 * 9);
  CHECK(conv.flops == 2 * 8 * 16 * 2 * 9);  // a channel reads the 2 of its group
  CHECK(layer_of(s, "batch_norm_0").parameters == 4 * 8);
  const auto& left = layer_of(s, "left");
  CHECK(left.operators == "mul + elementwise_add");
  CHECK(left.parameters == 128 * 5 + 5);
  const auto& right = layer_of(s, "right");
  CHECK(right.parameters == 0);
  CHECK(right.shared == 128 * 5);
  CHECK(right.flops == left.flops);  // the product is computed twice all the same
  CHECK(s.parameters == 8 * 2 * 9 + 4 * 8 + 128 * 5 + 5 + 6);
  CHECK(s.trainable == s.parameters - 2 * 8);  // the moving statistics
  CHECK(s.bytes == 4 * s.parameters);
  CHECK(layer_of(lamina::summary(words), "embedding_0").output == "[words, 4]");
  const auto frozen = lamina::summary(lamina::transform::freeze<"w">(branches));
  CHECK(frozen.trainable == s.trainable - 128 * 5);
  CHECK(frozen.parameters == s.parameters);
}

TEST_CASE("summary: the table") {
  const std::string text = lamina::summary(perceptron, {.rows = 64}).text();
  CHECK_THAT(text, Contains("\nfc_0 ") &&
                       Contains("  mul + elementwise_add + relu  [batch, 128] ") &&
                       Contains(" 100,480      12.845\n"));
  CHECK_THAT(text, Contains("parameters: 109,386, trained 109,386, fixed 0; 427.3 KB\n"
                            "Mflop for 64 rows: 13.976\n"));
  CHECK_THAT(lamina::summary(branches).text(), Contains(" 0 (640)"));
}

TEST_CASE("report: products of a perceptron, forward and in training") {
  const double once = 784 * 128 + 128 * 64 + 64 * 10;
  CHECK(lamina::report(perceptron, {.rows = 64}).flops() == 2 * 64 * once);
  // No gradient of the data: 29.1 million in all.
  constexpr lamina::optimizer::sgd sgd{.learning_rate = 0.1f};
  const auto training = lamina::report(lamina::transform::minimize(perceptron, sgd), {.rows = 64});
  CHECK(training.flops() == 2 * 64 * (3 * once - 784 * 128));
  CHECK_THAT(training.text(), Contains("relu") && Contains("arena+") && Contains("in all"));
  CHECK(training.bytes() > 2 * 4 * once);
}

TEST_CASE("report: convolutions, attention, recurrences and loops") {
  const double first = 2 * 4 * 36 * 27, second = 2 * 2 * 16 * 36;
  CHECK(lamina::report(convolutions, {.rows = 7}).flops() == 7 * (first + second));
  CHECK(lamina::report(lamina::transform::append_backward(convolutions), {.rows = 7}).flops() ==
        7 * (2 * first + 3 * second));

  const double product = 2 * 5 * 16 * 32, square = 2 * 5 * 5 * 32;
  CHECK(lamina::report(positions, {.rows = 3}).flops() == 3 * (product + square));
  CHECK(lamina::report(lamina::transform::append_backward(positions), {.rows = 3}).flops() ==
        3 * (2 * product + 3 * square));

  CHECK(lamina::report(words, {.rows = 2, .tokens = 11}).flops() ==
        11 * (2 * 4 * 64 + 2 * 16 * 64));
  CHECK(lamina::report(loop, {.rows = 2, .iterations = 5}).flops() == 5 * 2 * 2 * 9);
}
