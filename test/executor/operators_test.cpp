// SPDX-License-Identifier: Apache-2.0
// Operators without a gradient: metrics, comparisons, chance, print; and errors of kernels.
#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "run_program.hpp"
#include <catch2/catch.hpp>
#include <laws/compared_operators.hpp>

#include <lamina/executor/matrix_product.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/operators/operators.hpp>
#include <lamina/transform/append_backward.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using executed::values_of;
using lamina::block;
using lamina::tensor;

namespace {

tensor reals(const lamina::tensor_shape& shape, const std::vector<float>& values) {
  return tensor(shape, values);
}
tensor whole(const lamina::tensor_shape& shape, const std::vector<std::int64_t>& values) {
  return tensor(shape, values);
}

template <class P>
std::vector<lamina::lod_tensor> returned_by(P, const lamina::feed_map& feed,
                                            const lamina::run_options& options = {}) {
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(P::view(), scope, options.seed);
  return executor.run(P::view(), scope, feed, options);
}

}  // namespace

TEST_CASE("comparisons and logic give bool, exact for large integers") {
  constexpr auto p = lamina::program([](block& main) {
    auto x = layer::data<"x", std::int64_t>(main);
    auto y = layer::data<"y", std::int64_t>(main);
    auto less = layer::less_than(x, y);
    auto same = layer::equal(x, y);
    return std::tuple{less, same, layer::logical_or(less, same), layer::logical_not(less)};
  });
  const auto r = returned_by(
      p, {{"x", whole({3, 1}, {1, 16777217, 5})}, {"y", whole({3, 1}, {2, 16777216, 5})}});
  CHECK(r[0].type() == lamina::dtype::boolean);
  CHECK(values_of(r[0]) == std::vector<double>{1, 0, 0});
  CHECK(values_of(r[1]) == std::vector<double>{0, 0, 1});
  CHECK(values_of(r[2]) == std::vector<double>{1, 0, 1});
  CHECK(values_of(r[3]) == std::vector<double>{0, 1, 1});
}

TEST_CASE("top_k puts the first of equal elements first, accuracy counts") {
  constexpr auto p = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4>(main);
    auto label = layer::data<"label", std::int64_t>(main);
    auto [values, places] = layer::topk<3>(x);
    return std::tuple{values, places, layer::accuracy(x, label), layer::accuracy<2>(x, label)};
  });
  const auto r = returned_by(
      p, {{"x", reals({2, 4}, {1, 3, 3, 2, 0, -1, 4, 5})}, {"label", whole({2, 1}, {1, 2})}});
  CHECK(values_of(r[0]) == std::vector<double>{3, 3, 2, 5, 4, 0});
  CHECK(values_of(r[1]) == std::vector<double>{1, 2, 3, 3, 2, 0});
  CHECK(values_of(r[2]) == std::vector<double>{0.5});
  CHECK(values_of(r[3]) == std::vector<double>{1});
}

TEST_CASE("auc is the part of pairs in the right order and goes on over batches") {
  constexpr auto p = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2>(main);
    return std::tuple{layer::auc(x, layer::data<"label", std::int64_t>(main))};
  });
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(p.view(), scope);
  const auto area = [&](float a, float b, std::int64_t la, std::int64_t lb) {
    return values_of(
        executor
            .run(p.view(), scope,
                 {{"x", reals({2, 2}, {1 - a, a, 1 - b, b})}, {"label", whole({2, 1}, {la, lb})}})
            .at(0))[0];
  };
  CHECK(area(0.9f, 0.1f, 1, 0) == Approx(1));
  CHECK(area(0.3f, 0.6f, 1, 0) == Approx(0.75));
  CHECK(area(0.2f, 0.2f, 1, 0) == Approx(6.5 / 9));
}

TEST_CASE("one_hot and embedding reject numbers outside of their range") {
  constexpr auto p = lamina::program([](block& main) {
    auto id = layer::data<"id", std::int64_t>(main);
    return std::tuple{layer::one_hot<3>(id)};
  });
  CHECK(values_of(returned_by(p, {{"id", whole({2, 1}, {2, 0})}})[0]) ==
        std::vector<double>{0, 0, 1, 1, 0, 0});
  CHECK_THROWS_WITH(returned_by(p, {{"id", whole({1, 1}, {3})}}),
                    Contains("'one_hot'") && Contains("from 0 to 2") && Contains("'id', found 3"));
  constexpr auto table = lamina::program([](block& main) {
    return std::tuple{layer::embedding<4, 2>(layer::data<"id", std::int64_t>(main))};
  });
  CHECK_THROWS_WITH(returned_by(table, {{"id", whole({1, 1}, {-1})}}),
                    Contains("'lookup_table'") && Contains("from 0 to 3") && Contains("found -1"));
}

TEST_CASE("dropout keeps what the shared convention says, in whole and in parts") {
  constexpr auto p = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto first = layer::dropout(x, 0.5f);
    return std::tuple{
        first, layer::dropout(x, 0.25f,
                              {.implementation = layer::dropout_implementation::upscale_in_train})};
  });
  const lamina::feed_map ones{{"x", reals({4, 3}, std::vector<float>(12, 1))}};
  lamina::run_options options;
  options.seed = 5;
  options.step = 2;
  const auto r = returned_by(p, ones, options);
  for (std::uint64_t i = 0; i < 12; ++i) {
    CHECK(values_of(r[0])[i] ==
          (lamina::dropout_keeps(7, lamina::dropout_stream(0), i, 0.5f) ? 1 : 0));
    CHECK(values_of(r[1])[i] ==
          Approx(lamina::dropout_keeps(7, lamina::dropout_stream(1), i, 0.25f) ? 1 / 0.75 : 0));
  }
  options.first_row = 2;
  const auto half = returned_by(p, {{"x", reals({2, 3}, std::vector<float>(6, 1))}}, options);
  for (std::size_t i = 0; i < 6; ++i) CHECK(values_of(half[0])[i] == values_of(r[0])[6 + i]);
  options = {};
  options.seed = 5;
  options.step = 3;
  CHECK(values_of(returned_by(p, ones, options)[0]) != values_of(r[0]));
  constexpr auto test = decltype(lamina::transform::clone_for_test(p)){};
  const auto t = returned_by(test, ones);
  CHECK(values_of(t[0]) == std::vector<double>(12, 0.5));
  CHECK(values_of(t[1]) == std::vector<double>(12, 1));
}

TEST_CASE("normal numbers have their mean and deviation; truncated ones stay inside") {
  constexpr auto p = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 50>(main);
    auto a = layer::fc<40>(x, {.param = {.name = "a", .initializer = lamina::init::normal(1, 2)}});
    auto b = layer::fc<40>(
        x, {.param = {.name = "b", .initializer = lamina::init::truncated_normal(0, 0.5f)}});
    return layer::mean(a + b);
  });
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(p.view(), scope, 3);
  double sum = 0, square = 0;
  for (const float v : scope.get("a").as<float>()) sum += v, square += v * v;
  CHECK(sum / 2000 == Approx(1).margin(0.15));
  CHECK(square / 2000 - sum * sum / 4e6 == Approx(4).margin(0.4));
  for (const float v : scope.get("b").as<float>()) CHECK(std::abs(v) <= 1);
}

TEST_CASE("print writes Fluid's lines, values and gradients, as often as asked") {
  constexpr auto p = lamina::transform::append_backward(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2>(main);
    auto h = layer::fc<2>(x, {.param = {.initializer = lamina::init::constant(1)}, .bias = false});
    return layer::mean(layer::print(h, {.message = "here", .first_n = 1, .summarize = 3}));
  }));
  std::ostringstream text;
  lamina::run_options options;
  options.print_to = &text;
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(p.view(), scope);
  const lamina::feed_map feed{{"x", reals({2, 2}, {1, 2, 3, 4})}};
  executor.run(p.view(), scope, feed, options);
  const std::string once = text.str();
  CHECK_THAT(once,
             Contains("\there\tTensor[fc_0.tmp_0]\n\tshape: [2,2,]\n\tdtype: f\n\tdata: 3,3,7,\n"));
  CHECK_THAT(once, Contains("@GRAD]\n\tshape: [2,2,]\n\tdtype: f\n\tdata: 0.25,0.25,0.25,\n"));
  executor.run(p.view(), scope, feed, options);
  CHECK(text.str() == once);
}

TEST_CASE("random numbers have the mean, the deviation and the bounds of their distributions") {
  constexpr auto p = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4000>(main);
    return std::tuple{layer::uniform_random<40, 100>(main, {.min = -2, .max = 3}),
                      layer::uniform_random_batch_size_like<4000>(x, {.min = -2, .max = 3}),
                      layer::gaussian_random<40, 100>(main, {.mean = 1, .std = 0.5f}),
                      layer::gaussian_random_batch_size_like<4000>(x, {.mean = 1, .std = 0.5f}),
                      layer::detail::random_numbers<lamina::truncated_gaussian_random,
                                                    lamina::variable<float, lamina::once, 4000>>(
                          *main.builder, "noise", {}, -1, 1, 0.5, 17)};
  });
  // Mean, deviation, smallest and largest; a normal one cut at two deviations has 0.8796 of its
  // own.
  const double inf = std::numeric_limits<double>::infinity(), flat = 5 / std::sqrt(12.0);
  const double expected[5][4] = {{0.5, flat, -2, 3},
                                 {0.5, flat, -2, 3},
                                 {1, 0.5, -inf, inf},
                                 {1, 0.5, -inf, inf},
                                 {1, 0.5 * 0.8796, 0, 2}};
  lamina::executor executor;
  lamina::scope scope;
  lamina::run_options options;
  options.seed = 11;
  const auto found = executor.run(
      p.view(), scope, {{"x", tensor::zeros(lamina::dtype::float32, {1, 4000})}}, options);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<double> all = values_of(found[i]);
    REQUIRE(all.size() == 4000);
    double mean = 0, square = 0;
    for (const double v : all) mean += v / 4000;
    for (const double v : all) square += (v - mean) * (v - mean) / 4000;
    const auto& [m, deviation, low, high] = expected[i];
    INFO("result " << i);
    CHECK(mean == Approx(m).margin(4 * deviation / std::sqrt(4000.0)));
    CHECK(std::sqrt(square) == Approx(deviation).epsilon(0.05));
    CHECK(*std::min_element(all.begin(), all.end()) >= low);
    CHECK(*std::max_element(all.begin(), all.end()) <= high);
  }
  laws::note_compared("executor", p.view(), true);
}

TEST_CASE("products: every size of a tile, several depths, transposed operands") {
  for (const std::size_t m : {1, 2, 3, 5, 6, 13})
    for (const std::size_t k : {1, 3, 4, 7, 300})
      for (const std::size_t n : {1, 5, 16, 37})
        for (const bool turn_a : {false, true})
          for (const bool turn_b : {false, true}) {
            std::vector<double> a(m * k), b(k * n), c(m * n, 1), expected(m * n, 1);
            for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i * 7 % 11) - 5;
            for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(i * 5 % 13) - 6;
            for (std::size_t i = 0; i < m; ++i)
              for (std::size_t l = 0; l < k; ++l)
                for (std::size_t j = 0; j < n; ++j)
                  expected[i * n + j] +=
                      a[turn_a ? l * m + i : i * k + l] * b[turn_b ? j * k + l : l * n + j];
            lamina::kernel::add_product(a.data(), turn_a, b.data(), turn_b, c.data(), m, k, n);
            CAPTURE(m, k, n, turn_a, turn_b);
            CHECK(c == expected);  // whole numbers: every order of summation gives the same
          }
}
