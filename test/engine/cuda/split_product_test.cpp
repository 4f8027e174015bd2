// SPDX-License-Identifier: Apache-2.0
// Products of many terms and few tiles are split, with the sums of one that is not.
#include <type_traits>
#include <vector>

#include "engine/cuda/dense_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/host_backend.hpp>
#include <lamina/engine/cuda/split_row_sum.hpp>
#include <lamina/engine/cuda/tensor_backend.hpp>

namespace cuda = lamina::engine::cuda;
namespace optimizer = lamina::optimizer;

namespace {

template <class Body>
inline constexpr bool is_split =
    std::is_same_v<typename Body::arguments, cuda::part_product_arguments>;
template <class Body>
inline constexpr bool is_row_part = false;
template <class Shape>
inline constexpr bool is_row_part<cuda::part_row_sum_body<Shape>> = true;

/// A host that counts the products that it splits, and those that it does not.
template <class Base>
struct counting_host : Base {
  int split = 0, whole = 0, row_parts = 0, totals = 0;
  template <class Body>
  void teams(const typename Body::arguments& g) {
    row_parts += is_row_part<Body> ? 1 : 0;
    (is_split<Body> ? split : whole) += 1;
    Base::template teams<Body>(g);
  }
  template <class Body>
  void lines(const typename Body::arguments& a) {
    totals += std::is_same_v<Body, cuda::team_lines<cuda::total_lines>> ? 1 : 0;
    Base::template lines<Body>(a);
  }
};
/// Few weights and biases, whose gradients are sums over many rows; the cost is a mean of as many.
constexpr auto many_rows = lamina::program([](lamina::block& main) {
  auto x = test::layer::data<"x", float, 6>(main);
  auto y = test::layer::data<"y", float, 130>(main);
  auto h = test::layer::fc<130>(x, {.act = test::activation::tanh});
  return test::layer::mean(
      test::layer::square_error_cost(test::layer::fc<130>(h, {.act = test::activation::tanh}), y));
});
/// A deep product, and then rows of a branch, for which there is scratch memory of its own.
constexpr auto branching = lamina::program([](lamina::block& main) {
  auto x = test::layer::data<"x", float, 13>(main);
  auto key = test::layer::data<"key", float>(main);
  auto h = test::layer::fc<64>(x, {.act = test::activation::tanh});
  auto y = test::layer::fc<5>(h);
  auto z = test::layer::if_else(
      test::layer::greater_than(key, test::layer::scale(key, 0)),
      [&](auto& yes) { return test::layer::tanh(yes.input(y)); },
      [&](auto& no) { return test::layer::fc<5>(no.input(h)); });
  return test::layer::mean(test::layer::square(z));
});

using host = cuda::host_backend<1>;
using tf32_host = cuda::backend_of<host, lamina::cuda::tf32_type>;

}  // namespace

TEST_CASE("a program of deep products learns at a place what it does on the CPU") {
  const optimizer::sgd sgd{.learning_rate = 0.1f};
  SECTION("float") {
    counting_host<host> backend;
    CHECK(test::train_both(test::deep, sgd, backend, {7, 12, 7}).worst() < 2e-5);
    CHECK(backend.split > 0);
    CHECK(backend.whole > 0);
  }
  SECTION("tf32") {
    // Only with 128 terms or more: two products forward, and the gradient of the input of one.
    counting_host<tf32_host> backend;
    CHECK(test::train_both(test::deep, sgd, backend, {7}).worst() < 2e-3);
    CHECK(backend.split == 3);
  }
}

TEST_CASE("sums over many rows are split") {
  counting_host<host> backend;
  const optimizer::sgd sgd{.learning_rate = 0.1f};
  SECTION("few") {
    CHECK(test::train_both(many_rows, sgd, backend, {31}).worst() < 1e-5);
    CHECK(backend.split == 0);
    CHECK(backend.row_parts == 0);
    CHECK(backend.totals == 0);
  }
  SECTION("many, and other ones in turn") {
    CHECK(test::train_both(many_rows, sgd, backend, {100, 61, 100, 7}).worst() < 1e-5);
    // The gradient of the first weights by 100 rows, twice, and by 61; 130 terms of 7 rows, forward
    // and back.
    CHECK(backend.split == 3 + 2);
    CHECK(backend.row_parts == 2 * 2);
    CHECK(backend.totals == 3);
  }
}

TEST_CASE("scratch memory that a branch asked for grows with the mini-batch") {
  cuda::host_backend<1> backend;
  const optimizer::sgd sgd{.learning_rate = 0.1f};
  CHECK(test::train_both(branching, sgd, backend, {3, 40, 40}).worst() < 2e-5);
}

TEST_CASE("parts of products fit into the memory of as many rows, or of more") {
  using shape = cuda::tile_shape<64, 64, 16, 4>;
  using split = cuda::product_split<shape>;
  CHECK(split::parts(16, 128, 127) == 1);
  CHECK(split::parts(16, 128, 128) == 2);
  CHECK(split::parts(16, 128, 784) == 13);
  CHECK(split::part_terms(784, 13) == 64);
  CHECK(split::parts(64, 4096, 4096) == 4);
  CHECK(split::parts(4096, 4096, 4096) == 1);
  CHECK(split::scratch(4096, 4096, 127) == 0);
  for (const int width : {16, 64, 80, 1024, 4096})
    for (const int depth : {128, 784, 4096, 10000})
      for (int rows = 1; rows < 600; ++rows) {
        const auto needed = [&](int r) {
          const int parts = split::parts(r, width, depth);
          return parts > 1 ? std::ptrdiff_t{parts} * r * width : 0;
        };
        const std::ptrdiff_t room = split::scratch(rows, width, depth);
        if (needed(rows) > room || split::scratch(rows - 1, width, depth) > room)
          FAIL_CHECK(rows << " rows of " << width << " over " << depth);
      }
}
