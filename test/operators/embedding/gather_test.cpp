// SPDX-License-Identifier: Apache-2.0
// gather: the engine against the executor.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;

namespace {

/// A cost whose gradient differs from element to element, and the value itself.
template <class V>
constexpr auto squared(V y) {
  return std::tuple{layer::mean(y * y), y};
}

template <int W>
constexpr auto gathered = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  auto i = layer::data<"i", std::int64_t>(main);
  auto y = layer::gather(x, i);
  return squared(y * x);
});

}  // namespace

TEST_CASE("gather on the engine is that of the executor") {
  lamina::law::engine_law_options o{.limit = 1, .rows_are_alone = false};
  check_engine(gathered<5>, o);
  o.limit = 3;
  o.batches = {3, 17};
  check_engine(gathered<1>, o);
  check_engine(gathered<16>, o);
  check_engine(gathered<33>, o);
}
