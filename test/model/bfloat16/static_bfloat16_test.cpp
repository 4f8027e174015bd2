// SPDX-License-Identifier: Apache-2.0
// Static evaluators whose weights are stored as bfloat16.
#include <cstring>
#include <random>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/model/bfloat16/bfloat16_machine.hpp>
#include <lamina/model/bfloat16/static_bfloat16.hpp>
#include <lamina/model/evaluator.hpp>

namespace layer = lamina::layer;

namespace {

std::vector<float> numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> all(count);
  for (float& x : all) x = normal(random);
  return all;
}

// Products with whole panels, narrow ones and both, an odd depth, a depth of one, one weight in
// two.
constexpr auto wide_net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 33>(main);
  auto s = layer::data<"s", float, 1>(main);
  auto h = layer::fc<160>(std::tuple{x, s}, {.act = lamina::activation::relu, .name = "h"});
  auto shared = layer::fc<40>(s, {.param = {.name = "shared"}});
  auto scaled = layer::fc<40>(layer::scale(s, 0.3f), {.param = {.name = "shared"}});
  auto both = layer::fc<40>(h) + shared + scaled;
  return layer::fc<5>(layer::fc<300>(both, {.act = lamina::activation::tanh}), {.name = "y"});
});

template <int Rows>
void compare_bfloat16() {
  INFO(Rows << " rows");
  using program = std::remove_const_t<decltype(wide_net)>;
  const lamina::model model{wide_net, 3};
  const auto x = numbers(Rows * 33, Rows), s = numbers(Rows, 2);
  lamina::evaluator narrow{model, lamina::storage::bfloat16};
  narrow.forward(lamina::feed<"x">(x), lamina::feed<"s">(s));
  lamina::evaluator wide{model};
  wide.forward(lamina::feed<"x">(x), lamina::feed<"s">(s));

  using evaluator = lamina::static_evaluator<program, Rows, lamina::storage::bfloat16>;
  static_assert(std::is_trivially_copyable_v<evaluator>);
  // Half of the weights is gone: 33 x 160, 160 x 40, 40 x 300 and less.
  static_assert(sizeof(evaluator) + 2 * 24000 < sizeof(lamina::static_evaluator<program, Rows>));
  evaluator of_model, of_array;
  of_model.load(model);
  std::vector<float> all;
  for (int i = 0; i < decltype(model)::parameter_arrays(); ++i) {
    const auto value = model.get(i);
    all.insert(all.end(), value.begin(), value.end());
  }
  of_array.load(std::span<const float, evaluator::parameter_elements>(all));
  CHECK(std::memcmp(&of_model, &of_array, sizeof of_model) == 0);

  std::copy(x.begin(), x.end(), of_model.template input<"x">().begin());
  std::copy(s.begin(), s.end(), of_model.template input<"s">().begin());
  of_model.forward();
  bool rounded = false;
  for (int r = 0; r < Rows; ++r) {
    const auto row = static_cast<std::size_t>(r);
    const auto equal = [&](const auto& found, const auto& expected) {
      return std::memcmp(found.data(), &expected(row, 0), found.size_bytes()) == 0;
    };
    const auto h = of_model.template activation<"h">(r);
    const auto y = of_model.template activation<"y">(r);
    CHECK(equal(h, narrow.activation<"h">()));
    CHECK(equal(y, narrow.activation<"y">()));
    rounded = rounded || !equal(y, wide.activation<"y">());
    for (std::size_t j = 0; j < 5; ++j)
      CHECK(y[j] == Approx(wide.activation<"y">()(row, j)).epsilon(0).margin(0.05));
  }
  CHECK(rounded);
}

}  // namespace

TEST_CASE("a static evaluator with bfloat16 weights has the bits of an evaluator with such") {
  compare_bfloat16<1>();
  compare_bfloat16<2>();
  compare_bfloat16<3>();
  compare_bfloat16<17>();
}
