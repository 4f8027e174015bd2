// SPDX-License-Identifier: Apache-2.0
// Which programs have a cost whose gradient needs that of a gradient operator without one.
#include <type_traits>

#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/transform/append_backward.hpp>
#include <lamina/transform/gradients.hpp>
#include <lamina/transform/second_gradient_check.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::named;

namespace {

/// A cost that contains the slope of a function, unless the slope is a constant.
template <class F, bool Stop = false>
constexpr auto cost_of_slope = lamina::program([](block& main) {
  auto h = layer::fc<4>(layer::data<"x", float, 3>(main));
  auto [slope] = layer::gradients(F{}(main, h), h);
  if constexpr (Stop) layer::stop_gradient(slope);
  return layer::mean(layer::square(slope) * h);
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
/// The slope by the scale of a batch_norm, of which no gradient is known.
constexpr auto slope_by_scale = lamina::program([](block& main) {
  auto h = layer::fc<4>(layer::data<"x", float, 3>(main));
  auto scale = layer::create_parameter<float, 4>(main, {.name = "scale"});
  auto [slope] = layer::gradients(layer::batch_norm(h, {.param = {.name = "scale"}}) * h, scale);
  return layer::mean(layer::square(slope));
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
