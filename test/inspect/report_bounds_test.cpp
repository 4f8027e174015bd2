// SPDX-License-Identifier: Apache-2.0
// What a report counts for the networks of the benchmarks is what their bounds are made of: the
// multiplications and additions that the mathematics needs, counted here by hand, and the bytes of
// arrays that have to be read or written. More would be work that a plan adds, less a wrong bound.
#include "../../benchmarks/networks/chain.hpp"
#include "../../benchmarks/networks/encoder.hpp"
#include "../../benchmarks/networks/lenet.hpp"
#include "../../benchmarks/networks/perceptron.hpp"
#include "../../benchmarks/networks/recurrence.hpp"
#include "../../benchmarks/networks/resnet.hpp"
#include "../../benchmarks/networks/sentiment.hpp"
#include <catch2/catch.hpp>

#include <lamina/inspect/report.hpp>
#include <lamina/optimizer/optimizers.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/transform/append_backward.hpp>

using lamina::program;
using lamina::report_options;

namespace {

constexpr auto perceptron = program([](lamina::block& b) { return networks::perceptron(b); });
constexpr auto lenet = program([](lamina::block& b) { return networks::lenet(b); });
constexpr auto sentiment = program([](lamina::block& b) { return networks::sentiment(b); });
constexpr auto recurrence = program([](lamina::block& b) { return networks::recurrence(b); });
constexpr auto chain = program([](lamina::block& b) { return networks::chain(b); });
constexpr auto chain_cost =
    program([](lamina::block& b) { return lamina::layer::mean(networks::chain(b)); });
constexpr auto resnet = program([](lamina::block& b) { return networks::resnet(b); });
constexpr auto encoder = program([](lamina::block& b) { return networks::encoder(b); });

/// `forward` multiply-adds, and twice as many for gradients but for `of_data`: those of the
/// gradient of what is fed, which nobody asks for.
template <class P>
void check_flops(P net, const report_options& run, double forward, double of_data) {
  CHECK(lamina::report(net, run).flops() == 2 * forward);
  constexpr lamina::optimizer::sgd sgd{.learning_rate = 0.1f};
  CHECK(lamina::report(lamina::transform::minimize(net, sgd), run).flops() ==
        2 * (3 * forward - of_data));
}

/// Multiply-adds of a 3 x 3 convolution of an image.
constexpr double convolution(double from, double to, double size) {
  return from * to * 9 * size * size;
}

}  // namespace

TEST_CASE("report: the work of W1 and W2") {
  check_flops(perceptron, {.rows = 64}, 64 * (784 * 128 + 128 * 64 + 64 * 10), 64 * 784 * 128);
  check_flops(perceptron, {.rows = 1}, 784 * 128 + 128 * 64 + 64 * 10, 784 * 128);
  const double first = 20 * 25 * 24 * 24, second = 50 * 20 * 25 * 8 * 8;
  check_flops(lenet, {.rows = 64}, 64 * (first + second + 800 * 500 + 500 * 10), 64 * first);
}

TEST_CASE("report: the work of W3 and W4") {
  const double words = 1719, width = networks::sentiment_width;
  check_flops(sentiment, {.rows = 32, .tokens = 1719},
              words * 2 * width * 4 * width + 32 * width * 2, 0);
  // 50 steps of 16 rows are counted as one of 800: what does not depend on the step before is
  // computed for all steps together, and the weights' gradient too.
  const double one = networks::recurrence_width * networks::recurrence_width;
  check_flops(recurrence, {.rows = 16, .tokens = 800}, 800 * 2 * one, 800 * one);
}

TEST_CASE("report: the bytes of W6") {
  constexpr double array = 4.0 * networks::chain_elements;
  CHECK(lamina::report(chain).bytes() == 5 * array);  // four operands, y
  // Four operands, four gradients; y is written and read for the mean.
  CHECK(lamina::report(lamina::transform::append_backward(chain_cost)).bytes() ==
        Approx(10 * array).epsilon(1e-6));
}

TEST_CASE("report: the work of W7 and W8") {
  const double first = convolution(3, 16, 32), s1 = 4 * convolution(16, 16, 32);
  const double s2 = convolution(16, 32, 16) + 3 * convolution(32, 32, 16) + 16 * 32 * 16 * 16;
  const double s3 = convolution(32, 64, 8) + 3 * convolution(64, 64, 8) + 32 * 64 * 8 * 8;
  check_flops(resnet, {.rows = 32}, 32 * (first + s1 + s2 + s3 + 64 * 10), 32 * first);

  const double positions = networks::encoder_positions, width = networks::encoder_width;
  const double projections = 3 * positions * width * width;
  const double rest = 9 * positions * width * width + 2 * positions * positions * width;
  check_flops(encoder, {.rows = 8}, 8 * (projections + rest), 8 * projections);
}
