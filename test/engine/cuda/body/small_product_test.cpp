// SPDX-License-Identifier: Apache-2.0
// Batches of matrices on a device.

#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/product_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/body/small_product.cuh>
#include <lamina/operators/matrix/matmul/cuda.cuh>

namespace cuda = lamina::engine::cuda;
namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;

namespace {

constexpr optimizer::sgd sgd{.learning_rate = 0.1f};

inline constexpr layer::matmul_form left_turned{.transpose_x = true};

inline constexpr layer::matmul_form right_turned{.transpose_y = true};

inline constexpr layer::matmul_form both_turned{.transpose_x = true, .transpose_y = true};

/// Two matrices of 3 by 5 in each row, so that rows end with padding and matrices are at no equal
/// distances.
constexpr auto batches = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 30>(main);
  auto u = layer::reshape<2, 3, 5>(layer::fc<30>(x));
  auto v = layer::reshape<2, 3, 5>(layer::fc<30>(x));
  auto grams = layer::matmul<right_turned>(u, v, {.alpha = 0.5f});
  auto others = layer::matmul<left_turned>(u, v);
  auto back = layer::matmul<both_turned>(v, grams);
  auto forth = layer::matmul(grams, u);
  return layer::mean(layer::square(others)) + layer::mean(layer::square(back)) +
         layer::mean(layer::square(forth));
});

/// A matrix serves those of all rows: on the right, on the left, turned and not.
template <int Height, int Width>
constexpr auto one_for_all = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 9>(main);
  auto h = layer::reshape<Height, Width>(layer::fc<Height * Width>(x));
  // Sums over the rows of the mini-batch.
  const auto of_all = [&](auto v, auto w) { return layer::matmul<left_turned>(v, w); };
  auto four = layer::fc<4>(x);
  auto high = layer::fc<Height>(x);
  auto wide = layer::fc<Width>(x);
  auto right = layer::matmul(h, of_all(wide, four));
  auto right_of_turned = layer::matmul<right_turned>(h, of_all(four, wide));
  auto left = layer::matmul(of_all(four, high), h);
  auto left_of_turned = layer::matmul<right_turned>(of_all(four, wide), h);
  auto both = layer::matmul<both_turned>(of_all(wide, four), h);
  auto turned = layer::matmul<left_turned>(h, of_all(high, four));
  return layer::mean(layer::square(right)) + layer::mean(layer::square(right_of_turned)) +
         layer::mean(layer::square(left)) + layer::mean(layer::square(left_of_turned)) +
         layer::mean(layer::square(turned)) + layer::mean(layer::square(both));
});

}  // namespace

TEST_CASE("batches of matrices learn on a device what they do on the CPU") {
  cuda::host_backend<1> backend;
  CHECK(test::train_both(batches, sgd, backend, {4, 7, 1}).worst() < 1e-4);
  CHECK(test::train_both(one_for_all<3, 5>, sgd, backend, {4, 7, 1}).worst() < 1e-4);
  CHECK(test::train_both(one_for_all<4, 8>, sgd, backend, {4, 7, 1}).worst() < 1e-4);
}
