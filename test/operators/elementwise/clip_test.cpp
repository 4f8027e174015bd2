// SPDX-License-Identifier: Apache-2.0
// clip_by_norm: edge values, and the engine against the executor.
#include <cmath>
#include <tuple>

#include "engine/edge_programs.hpp"
#include "laws/edge_law.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;
using lamina::law::engine_law_options;
using namespace test::edges;

namespace {

template <int W>
constexpr auto whole_norm = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  return std::tuple{layer::mean(x), layer::clip_by_norm(x, 0.5f), layer::clip_by_norm(x, 1e6f)};
});

}  // namespace

TEST_CASE("clip_by_norm on the engine is that of the executor") {
  engine_law_options o;
  o.rows_are_alone = false;
  check_engine(whole_norm<5>, o);
  check_engine(whole_norm<33>, o);
}

TEST_CASE("norms: clip_by_norm of zeros, large and small numbers") {
  for (const double size : {0., 1., 1e20, 1e-30, 1e38}) {
    const auto all =
        lamina::law::check_edges(clipped, {{3 * size, 0, -size, size, 2 * size, 0}}, 2);
    double squares = 0;
    for (const double v : all[0]) squares += v * v;
    CHECK(std::sqrt(squares) == Approx(size >= 1 ? 2 : size * std::sqrt(15.)));
  }
}
