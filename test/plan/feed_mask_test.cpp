// SPDX-License-Identifier: Apache-2.0
// Programs with more data layers than a mask has bits.
#include <type_traits>
#include <utility>
#include <vector>

#include "model/numbered_layers.hpp"
#include "model/samples.hpp"

#include <lamina/model/any_model.hpp>
#include <lamina/model/static_evaluator.hpp>
#include <lamina/plan/feed_mask.hpp>

namespace {

namespace layer = lamina::layer;
using Catch::Contains;

constexpr bool few[] = {true, false, true};
static_assert(lamina::feed_mask(few, 3) == 5);
static_assert(lamina::feed_mask(few, 0) == 0);

// Layers 5 and 69 share a bit, as the first five do with those from 64 on; 63 has its own.
constexpr auto net = lamina::program([](lamina::block& main) {
  auto a = test::sum_of_layers<0>(main, std::make_integer_sequence<int, 5>());
  auto b = layer::data<"x05", float>(main);
  auto c = test::sum_of_layers<6>(main, std::make_integer_sequence<int, 57>());
  auto d = layer::data<"x63", float>(main);
  auto e = test::sum_of_layers<64>(main, std::make_integer_sequence<int, 5>());
  auto f = layer::data<"x69", float>(main);
  layer::assign(b + f, {.name = "both"});
  layer::assign(d, {.name = "own"});
  return layer::mean(a + c + e);
});
static_assert(lamina::counts_of<decltype(net)>.data == 70);

}  // namespace

TEST_CASE("layers whose numbers are 64 apart are fed apart, and count when both are") {
  const lamina::any_model m{lamina::model{net}};
  lamina::any_evaluator e = m.evaluator();
  const std::vector<float> two{2}, three{3};
  e.forward({{"x05", two}, {"x69", three}});
  CHECK(e.activation("both")(0, 0) == 5);
  e.forward({{"x63", three}});
  CHECK(e.activation("own")(0, 0) == 3);
  for (const char* const one : {"x05", "x69"}) {
    e.forward({{one, two}});
    CHECK_THAT(test::error_of([&] { (void)e.activation("both"); }),
               Contains("expected a feed of x05") && Contains("x69"));
  }
  CHECK_THAT(test::error_of([&] {
               e.forward({{"x69", two}, {"x69", three}});
             }),
             Contains("feed x69: expected one feed, found two"));
}

TEST_CASE("a static evaluator with more layers than bits") {
  const lamina::model source{net};
  lamina::static_evaluator<std::remove_const_t<decltype(net)>> e;
  e.load(source);
  e.input<"x05">()[0] = 2;
  e.input<"x69">()[0] = 3;
  e.forward<"x05", "x69">();
  CHECK(e.activation<"both">()[0] == 5);
}
