// SPDX-License-Identifier: Apache-2.0
// Programs of deep products on a device.
#include <vector>

#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/product_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/body/tile_product.cuh>
#include <lamina/operators/matrix/matmul/cuda.cuh>

namespace cuda = lamina::engine::cuda;
namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;

namespace {

constexpr optimizer::sgd sgd{.learning_rate = 0.1f};

/// A deep product, and then rows of a branch, for which there is scratch memory of its own.
constexpr auto branching = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 13>(main);
  auto key = layer::data<"key", float>(main);
  auto h = layer::fc<64>(x, {.act = lamina::activation::tanh});
  auto y = layer::fc<5>(h);
  auto z = layer::if_else(
      layer::greater_than(key, layer::scale(key, 0)),
      [&](auto& yes) { return layer::tanh(yes.input(y)); },
      [&](auto& no) { return layer::fc<5>(no.input(h)); });
  return layer::mean(layer::square(z));
});

}  // namespace

TEST_CASE("a program of deep products learns on a device what it does on the CPU") {
  cuda::host_backend<1> backend;
  CHECK(test::train_both(test::deep, sgd, backend, {7, 12, 7}).worst() < 2e-5);
}

TEST_CASE("scratch memory that a branch asked for grows with the mini-batch") {
  cuda::host_backend<1> backend;
  CHECK(test::train_both(branching, sgd, backend, {3, 40, 40}).worst() < 2e-5);
}

TEST_CASE("sums of many large products are added some at a time") {
  using host = cuda::host_backend<1>;
  host backend;
  // Three products of a column and a row, of which two fit into the memory for parts.
  constexpr int rows = 4096, columns = 2048, count = 3;
  std::vector<float> left(rows * count), right(columns * count);
  std::vector<float> sum(std::size_t{rows} * columns, -1.0f);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = static_cast<float>(i % 7);
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = static_cast<float>(i % 5);
  const cuda::detail::read_matrices l(left.data(), {1, rows, 0}, rows, 1, 1, false);
  const cuda::detail::read_matrices r(right.data(), {1, columns, 0}, 1, columns, columns, false);
  const cuda::detail::product_sum product(l, r, count);
  const std::ptrdiff_t floats = product.scratch<host>();
  CHECK(floats == host::product_workspace + 2 * std::ptrdiff_t{rows} * columns);
  std::vector<float> scratch(static_cast<std::size_t>(floats));
  product.run(backend, sum.data(), columns, 2, scratch.data());
  int wrong = 0;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      int expected = 0;
      for (int n = 0; n < count; ++n)
        expected += 2 * ((n * rows + i) % 7) * ((n * columns + j) % 5);
      wrong += sum[static_cast<std::size_t>(i * columns + j)] != static_cast<float>(expected);
    }
  CHECK(wrong == 0);
}
