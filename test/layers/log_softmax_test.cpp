// SPDX-License-Identifier: Apache-2.0
// logsumexp and log_softmax: values by hand, infinite and huge elements, the engine.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/layers/log_softmax.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;

namespace {

constexpr auto logs = program([](block& main) {
  auto x = layer::data<"x", float, 3, 4>(main);
  auto last = layer::log_softmax(x, {.name = "last"});
  auto middle = layer::log_softmax<1>(x, {.name = "middle"});
  auto sum = layer::logsumexp<1>(x, {.name = "sum"});
  auto kept = layer::logsumexp(x, layer::keep_dim, {.name = "kept"});
  auto one = layer::logsumexp(layer::reshape<12>(x), {.name = "one"});
  static_assert(layer::whole_shape<decltype(sum)> == layer::extents{2, {-1, 4}});
  static_assert(layer::whole_shape<decltype(kept)> == layer::extents{3, {-1, 3, 1}});
  static_assert(layer::whole_shape<decltype(one)> == layer::extents{2, {-1, 1}});
  return std::tuple{layer::mean(last * last) + layer::mean(middle * middle) + layer::mean(sum) +
                        layer::mean(kept) + layer::mean(one),
                    last,
                    middle,
                    sum,
                    kept,
                    one};
});

}  // namespace

TEST_CASE("log_softmax: the engine") { lamina::law::check_engine(logs); }

TEST_CASE("log_softmax: values by hand, huge and infinite elements") {
  const lamina::model m{logs};
  lamina::evaluator e{m};
  constexpr float far = std::numeric_limits<float>::infinity();
  const std::vector<float> x{1, 2, 3, 4, 1000, -1000, 999, 0, -far, -far, 2, -far};
  e.forward(lamina::feed<"x">(x));
  const auto last = e.activation<"last">();
  const auto middle = e.activation<"middle">();
  const auto sum = e.activation<"sum">();
  const auto kept = e.activation<"kept">();
  const auto lse = [&](std::size_t first, std::size_t count, std::size_t stride) {
    double most = -HUGE_VAL, total = 0;
    for (std::size_t i = 0; i < count; ++i)
      most = std::max(most, static_cast<double>(x[first + i * stride]));
    for (std::size_t i = 0; i < count; ++i) total += std::exp(x[first + i * stride] - most);
    return most + std::log(total);
  };
  const auto same = [](float found, double expected) {
    return std::isinf(expected) ? static_cast<double>(found) == expected
                                : std::abs(found - expected) <= 1e-6 * (1 + std::abs(expected));
  };
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      CAPTURE(i, j);
      CHECK(same(kept(0, i, 0), lse(4 * i, 4, 1)));
      CHECK(same(sum(0, j), lse(j, 3, 4)));
      CHECK(same(last(0, i, j), x[4 * i + j] - lse(4 * i, 4, 1)));
      CHECK(same(middle(0, i, j), x[4 * i + j] - lse(j, 3, 4)));
    }
  // All elements minus infinity: so is the sum.
  e.forward(lamina::feed<"x">(std::vector<float>(12, -far)));
  CHECK(e.activation<"kept">()(0, 0, 0) == -far);
}
