// SPDX-License-Identifier: Apache-2.0
// Attention over the states of a sequence: values by hand.

#include "executor/recurrent_values.hpp"
#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/layers/simple_attention.hpp>

namespace layer = lamina::layer;
using lamina::block;

namespace {

constexpr auto attention = lamina::program([](block& main) {
  auto encoded = layer::sequence<"encoded", float, 2>(main);
  auto projected = layer::sequence<"projected", float, 1>(encoded);
  auto state = layer::data<"state", float, 1>(main);
  return layer::simple_attention(encoded, projected, state,
                                 {.weight_act = lamina::activation::identity});
});

}  // namespace

TEST_CASE("simple_attention by hand") {
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(attention.view(), scope, 1);
  scope.var("fc_0.w_0") = lamina::tensor({1, 1}, std::vector<float>{2});
  scope.var("fc_1.w_0") = lamina::tensor({1, 1}, std::vector<float>{0.5f});
  using pair = std::array<float, 2>;
  // Scores of the first sequence 0.5 * (2 * 3 + projected): log(1), log(3) above each other.
  const float distance = static_cast<float>(2 * std::log(3.0));
  const auto r =
      executor.run(attention.view(), scope,
                   {{"encoded", lamina::sequences<pair>({{{4, 8}, {0, 4}}, {}, {{5, 6}}})},
                    {"projected", lamina::sequences<float>({{1, 1 + distance}, {}, {-9}})},
                    {"state", lamina::tensor({3, 1}, std::vector<float>{3, 1, 2})}});
  recurrent::check_values(r[0].cast(lamina::dtype::float64), {1, 5, 0, 0, 5, 6});
}
