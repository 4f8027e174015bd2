// SPDX-License-Identifier: Apache-2.0
// The memory of a static evaluator is its own.
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/static/static_layout.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/bfloat16/bfloat16_machine.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/static_evaluator.hpp>

namespace layer = lamina::layer;

namespace {

// Widths that are no whole vectors, two layers that read one, a label that no forward pass needs.
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 7>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::fc<50>(layer::scale(x, 0.5f), {.act = lamina::activation::tanh, .name = "h"});
  auto both = layer::fc<33>(std::tuple{h, x}, {.act = lamina::activation::relu});
  auto y = layer::softmax(layer::fc<5>(both + layer::fc<33>(h)), {.name = "y"});
  return layer::mean(layer::cross_entropy(y, label));
});

using net_type = std::remove_const_t<decltype(net)>;

}  // namespace

TEST_CASE("a static evaluator is its own bytes") {
  using evaluator = lamina::static_evaluator<net_type>;
  static_assert(std::is_trivially_copyable_v<evaluator> && !std::is_polymorphic_v<evaluator>);
  static_assert(alignof(evaluator) == 64);
  const lamina::model model{net, 4};
  evaluator first;
  first.load(model);
  std::fill_n(first.input<"x">().begin(), 7, 0.25f);
  const evaluator moved = [&] {
    // Somewhere else, and the first one is gone.
    auto copy = std::make_unique<evaluator>();
    std::memcpy(static_cast<void*>(copy.get()), &first, sizeof first);
    std::memset(static_cast<void*>(&first), 0, sizeof first);
    copy->forward<"x">();
    return *copy;
  }();
  const std::vector<float> x(7, 0.25f);
  lamina::evaluator e{model};
  e.forward(lamina::feed<"x">(x));
  for (std::size_t j = 0; j < 5; ++j)
    CHECK(moved.activation<"y">()[j] == Approx(e.activation<"y">()(0, j)).margin(1e-6));
}
