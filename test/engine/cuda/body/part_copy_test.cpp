// SPDX-License-Identifier: Apache-2.0
// Data movement, reductions, normalised rows and products of batches on a device compute what the
// CPU's engine does.
#include <tuple>
#include <type_traits>
#include <vector>

#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/shape_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/model/device/device_machine.hpp>
#include <lamina/model/evaluator.hpp>

namespace cuda = lamina::engine::cuda;
namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;

TEST_CASE("programs that move data on a device learn what they do on the CPU") {
  const std::vector<int> sizes = {5, 3, 5};
  cuda::host_backend<1> one;
  const optimizer::sgd sgd{.learning_rate = 0.1f};
  SECTION("attention") { CHECK(test::train_both(test::attention, sgd, one, sizes).worst() < 1e-5); }
  SECTION("heads") { CHECK(test::train_both(test::heads, sgd, one, sizes).worst() < 1e-5); }
  SECTION("shapes") { CHECK(test::train_both(test::shapes, sgd, one, sizes).worst() < 1e-5); }
  SECTION("reductions") {
    CHECK(test::train_both(test::reductions, sgd, one, sizes).worst() < 1e-5);
  }
  SECTION("lookups") { CHECK(test::train_both(test::lookups, sgd, one, {5, 6, 5}).worst() < 1e-5); }
}

namespace {

/// Extremes over all rows, of columns and of everything.
constexpr auto extremes = lamina::program([](lamina::block& main) {
  const auto x = layer::data<"x", float, 3>(main);
  return std::tuple{
      layer::reduce_max<0>(x, {.name = "highest"}), layer::reduce_min<0>(x, {.name = "lowest"}),
      layer::reduce_max(x, {.name = "top"}), layer::reduce_min(x, {.name = "bottom"})};
});

}  // namespace

TEST_CASE("extremes of no elements on a device are 0") {
  using P = std::remove_const_t<decltype(extremes)>;
  const lamina::model model{extremes};
  lamina::evaluator<P, lamina::device_machine<P, cuda::host_backend<1>>> e(model, lamina::place{});
  const auto check = [&](const std::vector<float>& x, const std::vector<float>& highest,
                         const std::vector<float>& lowest, float top, float bottom) {
    e.forward(lamina::feed<"x">(x));
    for (int j = 0; j < 3; ++j) {
      CHECK(e.activation<"highest">()(j) == highest[static_cast<std::size_t>(j)]);
      CHECK(e.activation<"lowest">()(j) == lowest[static_cast<std::size_t>(j)]);
    }
    CHECK(e.activation<"top">()(0) == top);
    CHECK(e.activation<"bottom">()(0) == bottom);
  };
  check({-1, 2, 5, -3, 4, 6}, {-1, 4, 6}, {-3, 2, 5}, 6, -3);
  check({}, {0, 0, 0}, {0, 0, 0}, 0, 0);
}
