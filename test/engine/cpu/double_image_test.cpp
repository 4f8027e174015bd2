// SPDX-License-Identifier: Apache-2.0
// Images in double on the compiled engine, beside the reference executor in double; and the costs
// of sequences of tags.
#include <tuple>

#include "laws/engine_law.hpp"
#include "laws/recorded_pieces.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::pool;
using lamina::program;
using lamina::window;
using lamina::law::check_engine;

namespace {

// As LeNet: convolutions with bias and activation, pools, and a residual.
constexpr auto net = program([](block& main) {
  auto image = layer::data<"image", double, 2, 12, 11>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto a = layer::conv2d<5, 3, window{.padding = 1}>(image, {.act = lamina::activation::relu});
  auto b = layer::pool2d<2, window{.stride = 2}>(a);
  auto c = layer::conv2d<5, 3, window{.padding = 1}>(b) + b;
  auto d = layer::batch_norm(c, {.act = lamina::activation::relu});
  auto e = layer::pool2d<3, window{.stride = 2}>(d, {.type = pool::average});
  auto logits = layer::fc<4>(e);
  return std::tuple{layer::mean(layer::softmax_with_cross_entropy(logits, label)), logits, a, d};
});

// Strides, paddings, dilations and groups.
template <int Channels, int Filters, int Size, window Window>
constexpr auto convolved = program([](block& main) {
  auto x = layer::data<"x", double, Channels, 9, 10>(main);
  auto y = layer::conv2d<Filters, Size, Window>(x);
  return std::tuple{pieces::cost_of(y), y};
});

constexpr auto transposed = program([](block& main) {
  auto x = layer::data<"x", double, 4, 5, 6>(main);
  auto y = layer::conv2d_transpose<3, 3, window{.stride = 2, .padding = 1}>(x);
  return std::tuple{pieces::cost_of(y), y};
});

constexpr auto volumes = program([](block& main) {
  auto x = layer::data<"x", double, 2, 4, 5, 6>(main);
  auto y = layer::conv3d<3, 2, lamina::window3{.stride = 2, .padding = 1}>(x);
  return std::tuple{pieces::cost_of(y), y};
});

constexpr auto tags = program([](block& main) {
  auto x = layer::sequence<"x", double, 5>(main);
  auto label = layer::sequence<"label", std::int64_t>(x);
  auto cost = layer::linear_chain_crf(x, label, {.param = {.name = "crf"}});
  return std::tuple{layer::mean(cost), cost, layer::crf_decoding(x, {.param = {.name = "crf"}})};
});

}  // namespace

TEST_CASE("a net of images in double") { check_engine(net, {.limit = 4, .rows_are_alone = false}); }
TEST_CASE("convolutions in double") {
  check_engine(convolved<3, 4, 3, window{}>);
  check_engine(convolved<4, 6, 3, window{.stride = 2, .padding = 2, .groups = 2}>);
  check_engine(convolved<3, 3, 2, window{.padding = 1, .dilation = 3, .groups = 3}>);
  check_engine(convolved<2, 17, 1, window{.stride = 3}>);
}
TEST_CASE("transposed convolutions and volumes in double") {
  check_engine(transposed);
  check_engine(volumes);
}
TEST_CASE("linear_chain_crf in double") { check_engine(tags, {.limit = 5}); }
