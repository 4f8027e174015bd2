// SPDX-License-Identifier: Apache-2.0
// A convolution and a pool in one layer on the engine.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/layers/simple_img_conv_pool.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::window;

namespace {

// Where relu bends, float and double may differ; averages over a batch depend on all rows.
const lamina::law::engine_law_options together{
    .low = 0.1f, .tolerance = 1e-4, .rows_are_alone = false, .batches = {3}};

// What each group of a plan begins with.
template <class Plan>
constexpr int count_heads(lamina::fusion_anchor head) {
  int n = 0;
  for (int g = 0; g < Plan::groups; ++g) n += Plan::grouped.groups[g].head == head ? 1 : 0;
  return n;
}

using lamina::fusion_anchor;

// By given statistics: for each convolution its factors, then one group with all that
// follows. The mean is the seventh.
constexpr auto three_convolutions = program([](block& main) {
  auto image = layer::data<"image", float, 2, 5, 7>(main);
  auto y = layer::basic_block<4>(layer::conv_bn<4, 2>(image));
  return std::tuple{layer::mean(y * y), y};
});

using tested = lamina::plan<lamina::for_test<std::remove_const_t<decltype(three_convolutions)>>>;

static_assert(tested::groups == 7 && count_heads<tested>(fusion_anchor::conv) == 3);

// A bias and an activation behind a convolution, and their gradients behind that of the next one.
constexpr auto two_convolutions = program([](block& main) {
  auto image = layer::data<"image", float, 2, 7, 9>(main);
  auto a = layer::conv2d<3, 3, window{.padding = 1}>(image, {.act = lamina::activation::tanh});
  auto b = layer::conv2d<5, 2, window{.stride = 2}>(a, {.act = lamina::activation::relu});
  return std::tuple{layer::mean(b * b), b};
});

using trained =
    lamina::plan<lamina::with_backward<std::remove_const_t<decltype(two_convolutions)>, false>>;

static_assert(count_heads<trained>(fusion_anchor::conv) == 2 &&
              count_heads<trained>(fusion_anchor::conv_dx) == 1 &&
              count_heads<trained>(fusion_anchor::pointwise) <= 3);

constexpr auto lenet = program([](block& main) {
  auto image = layer::data<"image", float, 1, 16, 16>(main);
  auto a = layer::simple_img_conv_pool<4, 5, 2, window{.stride = 2}>(
      image, {.act = lamina::activation::tanh});
  auto b = layer::simple_img_conv_pool<6, 3, 2, window{.stride = 2}, window{.padding = 1}>(
      a, {.type = lamina::pooling_type::average, .bias = false});
  auto c = layer::fc<3>(b);
  return std::tuple{layer::mean(c * c), c};
});

// Windows that overlap, over a relu and over a sigmoid without a bias; and an activation that is
// read by more than its pool.
constexpr auto pooled = program([](block& main) {
  constexpr window half{.stride = 2};
  auto image = layer::data<"image", float, 2, 9, 12>(main);
  auto a = layer::conv2d<5, 3>(image, {.act = lamina::activation::relu});
  auto b = layer::pool2d<3, window{.stride = 2, .padding = 1}>(a);
  auto c = layer::conv2d<4, 2>(b, {.act = lamina::activation::sigmoid, .bias = false});
  auto d = layer::pool2d<2, half>(c);
  auto e = layer::conv2d<3, 1>(image, {.act = lamina::activation::tanh});
  auto f = layer::pool2d<2, half>(e);
  return std::tuple{layer::mean(d * d) + layer::mean(e * e) + layer::mean(f * f), d, f};
});

template <class Plan>
constexpr int bare_convolutions() {
  int n = 0;
  for (int g = 0; g < Plan::groups; ++g)
    n += Plan::grouped.groups[g].head == fusion_anchor::conv && Plan::grouped.groups[g].count == 1;
  return n;
}

using pooled_program = std::remove_const_t<decltype(pooled)>;

static_assert(bare_convolutions<lamina::plan<lamina::for_test<pooled_program>>>() == 2);

static_assert(bare_convolutions<lamina::plan<lamina::with_backward<pooled_program, false>>>() == 2);

}  // namespace

TEST_CASE("convolutions and pools in one layer") {
  lamina::law::check_engine(lenet, {.batches = {1, 5}});
  lamina::law::check_engine(pooled, {.batches = {1, 7}});
}

TEST_CASE("what follows convolutions is computed with them, in images of any size") {
  lamina::law::check_engine(three_convolutions, together);
  lamina::law::check_engine(two_convolutions, {.low = 0.1f, .batches = {1, 3}});
}
