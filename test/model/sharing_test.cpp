// SPDX-License-Identifier: Apache-2.0
// Parameters shared inside a program and across models.
#include <optional>
#include <type_traits>

#include "model/samples.hpp"

#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto two_towers = lamina::program([](lamina::block& main) {
  auto a = layer::data<"a", float, 6>(main);
  auto b = layer::data<"b", float, 6>(main);
  auto left = layer::fc<4>(a, {.param = {.name = "projection"}, .bias = false});
  auto right = layer::fc<4>(b, {.param = {.name = "projection"}, .bias = false});
  return layer::mean(layer::square_error_cost(left, right));
});
constexpr auto one_tower = lamina::program([](lamina::block& main) {
  auto a = layer::data<"text", float, 6>(main);
  return layer::fc<4>(
      a, {.param = {.name = "projection"}, .bias_param = {.name = "own_bias"}, .name = "meaning"});
});

struct pair {
  std::array<float, 6> a, b;
};
std::vector<pair> pairs(int count) {
  std::vector<pair> made;
  const auto x = test::samples(2 * count);
  for (int i = 0; i < count; ++i)
    made.push_back(
        {x[static_cast<std::size_t>(2 * i)].x, x[static_cast<std::size_t>(2 * i + 1)].x});
  return made;
}

}  // namespace

TEST_CASE("layers that name the same parameter share it, and its gradient is the sum of theirs") {
  lamina::model m{two_towers, 3};
  REQUIRE(m.parameter_arrays() == 1);
  lamina::gradient_machine g{m};
  const auto samples = pairs(9);
  g.backward(samples);
  const lamina::array<float> gradient = g.gradient<"projection">();
  const lamina::array<float> w = m.parameter<"projection">();
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      lamina::array<float> moved = w;
      moved(i, j) += 0.05f;
      m.set_parameter<"projection">(moved);
      const float above = g.backward(samples);
      moved(i, j) -= 0.1f;
      m.set_parameter<"projection">(moved);
      // The cost is a parabola in each weight, so the central difference is exact but for rounding.
      CHECK(gradient(i, j) == Approx((above - g.backward(samples)) / 0.1f).margin(2e-5));
    }
  m.set_parameter<"projection">(w);
}

TEST_CASE("swapped towers give the same cost") {
  lamina::model m{two_towers, 3};
  lamina::gradient_machine g{m};
  auto samples = pairs(5);
  const float cost = g.backward(samples);
  for (pair& p : samples) std::swap(p.a, p.b);
  CHECK(g.backward(samples) == Approx(cost));
}

TEST_CASE("a model made with share_parameters_of has the very parameters of the other") {
  std::optional<lamina::model<std::remove_const_t<decltype(two_towers)>>> ranker;
  ranker.emplace(two_towers, 3);
  lamina::model server{one_tower, lamina::share_parameters_of(*ranker), 4};
  CHECK((server.parameter<"projection">() == ranker->parameter<"projection">()));
  CHECK(server.memory()[0] == ranker->memory()[0]);

  lamina::evaluator e{server};
  const std::vector<float> x{1, 0, 0, 0, 0, 0};
  e.forward(lamina::feed<"text">(x));
  const float before = e.activation<"meaning">()(0, 0);
  CHECK(before == Approx(ranker->parameter<"projection">()(0, 0)));

  // A change on one side is seen on the other, by evaluators that exist already too.
  lamina::array<float> w = ranker->parameter<"projection">();
  w(0, 0) += 1;
  ranker->set_parameter<"projection">(w);
  e.forward(lamina::feed<"text">(x));
  CHECK(e.activation<"meaning">()(0, 0) == Approx(before + 1));

  // What only one has is its own; shared memory lives as long as its last user.
  lamina::model other{one_tower, lamina::share_parameters_of(server)};
  server.set_parameter<"own_bias">({1.f, 2.f, 3.f, 4.f});
  CHECK((other.parameter<"own_bias">() == server.parameter<"own_bias">()));
  ranker.reset();
  CHECK((server.parameter<"projection">() == w));
}

TEST_CASE("a model is moved, not copied, and its evaluators stay valid") {
  using model = lamina::model<std::remove_const_t<decltype(one_tower)>>;
  static_assert(!std::is_copy_constructible_v<model> && !std::is_copy_assignable_v<model>);
  model first{one_tower, 3};
  lamina::evaluator e{first};
  const auto before = test::bytes_of(first);
  const model second = std::move(first);
  CHECK(test::bytes_of(second) == before);
  const std::vector<float> x{0, 1, 0, 0, 0, 0};
  e.forward(lamina::feed<"text">(x));
  CHECK(e.activation<"meaning">()(0, 0) == Approx(second.parameter<"projection">()(1, 0)));
}
