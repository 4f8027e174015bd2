// SPDX-License-Identifier: Apache-2.0
// The parameters that a call of minimize updates are named in the text by a prefix, by layers, or
// by their names.
#include <string>

#include <catch2/catch.hpp>
#include <codegen/same_program.hpp>

#include <lamina/codegen/native_source.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/optimizer/sgd.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

template <class... Choice>
constexpr void add_net(lamina::block& main, Choice... choice) {
  auto x = layer::data<"x", float, 3>(main);
  auto a = layer::fc<2>(x, {.name = "g_1"});
  auto b = layer::fc<2>(a, {.name = "g_10"});
  auto c = layer::fc<2>(b, {.name = "other"});
  auto unreached = layer::fc<2>(c, {.name = "unreached"});
  (void)unreached;
  auto cost = layer::mean(c);
  lamina::optimizer::sgd{}.minimize(cost, choice...);
  layer::scale(cost, 1, {.name = "result"});
}
constexpr auto all = lamina::program([](lamina::block& main) {
  add_net(main);
  return layer::fill_constant<float>(main, 1);
});
constexpr auto by_prefix = lamina::program([](lamina::block& main) {
  add_net(main, lamina::prefix<"g_">);
  return layer::fill_constant<float>(main, 1);
});
constexpr auto by_layers = lamina::program([](lamina::block& main) {
  add_net(main, lamina::only<"g_1", "other">);
  return layer::fill_constant<float>(main, 1);
});
constexpr auto by_name = lamina::program([](lamina::block& main) {
  add_net(main, lamina::only<"g_1.w_0">);
  return layer::fill_constant<float>(main, 1);
});

template <class P>
std::string text_of(P) {
  return lamina::native_source(lamina::loaded_program(same_program::as_saved(P::view())));
}

}  // namespace

TEST_CASE("native choice: the shortest names that choose the parameters") {
  CHECK_THAT(text_of(all), Contains("{.learning_rate = 0.01f}.minimize(mean_0);"));
  CHECK_THAT(text_of(by_prefix), Contains(".minimize(mean_0, lamina::prefix<\"g_\">);"));
  CHECK_THAT(text_of(by_layers), Contains(".minimize(mean_0, lamina::only<\"g_1\", \"other\">);"));
  CHECK_THAT(text_of(by_name), Contains(".minimize(mean_0, lamina::only<\"g_1.w_0\">);"));
}
