// SPDX-License-Identifier: Apache-2.0
// Images of constant size.
#include <random>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/static/static_image_kernels.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/bfloat16/bfloat16_machine.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/static_evaluator.hpp>

namespace layer = lamina::layer;

namespace {

std::vector<float> numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> all(count);
  for (float& x : all) x = normal(random);
  return all;
}

// Groups, dilation, a stride, paddings, a batch_norm, a residual, both kinds of pools.
constexpr auto image_net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 3, 13, 11>(main);
  auto c1 = layer::conv_bn<8, 3, lamina::window{.padding = 1}>(image);
  auto c2 =
      layer::conv2d<12, 3, lamina::window{.stride = 2, .padding = 2, .dilation = 2, .groups = 4}>(
          c1, {.act = lamina::activation::relu});
  auto p1 = layer::pool2d<3, lamina::window{.stride = 2, .padding = 1}>(c1);
  auto c3 = layer::conv2d<12, 1>(p1, {.bias = false});
  auto p2 = layer::pool2d<2, lamina::window{.stride = 1}>(layer::relu(c2 + c3),
                                                          {.type = lamina::pooling_type::average});
  auto p3 = layer::global_pool2d(p2, {.type = lamina::pooling_type::average});
  return layer::fc<4>(layer::fc<9>(p2, {.name = "whole"}) + layer::fc<9>(p3), {.name = "y"});
});

}  // namespace

TEST_CASE("a static evaluator computes images") {
  using program = std::remove_const_t<decltype(image_net)>;
  lamina::model model{image_net, 7};
  auto numbers_of_norm = model.get(3);  // no zeros and ones
  for (float& x : numbers_of_norm) x = std::abs(x) + 0.5f;
  model.set(3, numbers_of_norm);
  for (float& x : numbers_of_norm) x *= 2;
  model.set(4, numbers_of_norm);
  const auto x = numbers(2 * 3 * 13 * 11, 8);
  lamina::evaluator e{model};
  e.forward(lamina::feed<"image">(x));
  lamina::static_evaluator<program, 2> s;
  s.load(model);
  std::copy(x.begin(), x.end(), s.input<"image">().begin());
  s.forward();
  for (std::size_t r = 0; r < 2; ++r) {
    for (std::size_t j = 0; j < 9; ++j)
      CHECK(s.activation<"whole">(static_cast<int>(r))[j] ==
            Approx(e.activation<"whole">()(r, j)).margin(1e-5));
    for (std::size_t j = 0; j < 4; ++j)
      CHECK(s.activation<"y">(static_cast<int>(r))[j] ==
            Approx(e.activation<"y">()(r, j)).margin(1e-5));
  }
}

namespace {

// One slope per net, per channel and per element; lengths are whole vectors or are not.
constexpr auto bent_net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3, 5, 7>(main);
  auto all = layer::prelu(x, {.name = "all"});
  auto channels = layer::prelu(x, {.mode = layer::prelu_mode::channel, .name = "channels"});
  auto elements = layer::prelu(x, {.mode = layer::prelu_mode::element, .name = "elements"});
  return std::tuple{all, channels, elements};
});

}  // namespace

TEST_CASE("a static evaluator computes prelu") {
  lamina::model model{bent_net, 7};
  for (int i = 0; i < 3; ++i) {
    auto slopes = model.get(i);
    const auto random = numbers(slopes.size(), static_cast<unsigned>(i));
    std::copy(random.begin(), random.end(), slopes.begin());
    model.set(i, slopes);
  }
  const auto x = numbers(2 * 3 * 5 * 7, 8);
  lamina::evaluator e{model};
  e.forward(lamina::feed<"x">(x));
  lamina::static_evaluator<std::remove_const_t<decltype(bent_net)>, 2> s;
  s.load(model);
  std::copy(x.begin(), x.end(), s.input<"x">().begin());
  s.forward();
  const auto same = [](const auto& from, const auto& expected, int row) {
    auto at = expected.begin() + row * 105;
    for (const float y : from) CHECK(y == *at++);
  };
  for (int r = 0; r < 2; ++r) {
    same(s.activation<"all">(r), e.activation<"all">(), r);
    same(s.activation<"channels">(r), e.activation<"channels">(), r);
    same(s.activation<"elements">(r), e.activation<"elements">(), r);
  }
}

namespace {

// Results of one element per channel, and of rows that are shorter than a vector.
constexpr auto short_net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6, 1, 7>(main);
  auto five = layer::conv2d<20, lamina::extent2{1, 3}>(x, {.act = lamina::activation::tanh});
  auto one = layer::conv2d<21, lamina::extent2{1, 5}>(five, {.act = lamina::activation::relu});
  auto y = layer::conv2d<9, 1>(one, {.name = "y"});
  return layer::prelu(y + y, {.mode = layer::prelu_mode::channel, .name = "z"});
});

}  // namespace

TEST_CASE("a static evaluator computes short rows of images") {
  const lamina::model model{short_net, 7};
  const auto x = numbers(2 * 6 * 7, 9);
  lamina::evaluator e{model};
  e.forward(lamina::feed<"x">(x));
  lamina::static_evaluator<std::remove_const_t<decltype(short_net)>, 2> s;
  s.load(model);
  std::copy(x.begin(), x.end(), s.input<"x">().begin());
  s.forward();
  for (int r = 0; r < 2; ++r)
    for (std::size_t j = 0; j < 9; ++j) {
      const auto row = static_cast<std::size_t>(r);
      CHECK(s.activation<"y">(r)[j] == Approx(e.activation<"y">()(row, j, 0, 0)).margin(1e-5));
      CHECK(s.activation<"z">(r)[j] == Approx(e.activation<"z">()(row, j, 0, 0)).margin(1e-5));
    }
}
