// SPDX-License-Identifier: Apache-2.0
// Products of every layout by the backend of the host, and programs of products at it.
#include <vector>

#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/product_check.hpp"
#include <catch2/catch.hpp>

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

TEST_CASE("products of every layout agree with plain loops") {
  cuda::host_backend<1> backend;
  CHECK(test::product_faults(backend) == "");
}

TEST_CASE("a product without terms is 0, or its bias") {
  cuda::host_backend<1> backend;
  for (const test::product_case& c : test::empty_products())
    CHECK(test::product_fault(backend, c) == "");
}

TEST_CASE("a program of deep products learns on a device what it does on the CPU") {
  cuda::host_backend<1> backend;
  CHECK(test::train_both(test::deep, sgd, backend, {7, 12, 7}).worst() < 2e-5);
}

TEST_CASE("batches of matrices learn on a device what they do on the CPU") {
  cuda::host_backend<1> backend;
  CHECK(test::train_both(batches, sgd, backend, {4, 7, 1}).worst() < 1e-4);
  CHECK(test::train_both(one_for_all<3, 5>, sgd, backend, {4, 7, 1}).worst() < 1e-4);
  CHECK(test::train_both(one_for_all<4, 8>, sgd, backend, {4, 7, 1}).worst() < 1e-4);
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
