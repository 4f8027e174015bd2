// SPDX-License-Identifier: Apache-2.0
// The interpreter at the edges: NaN is chosen before every number, the first of equal ones has the
// gradient, sums keep their digits, whole numbers are exact.
// Source: ml-explore/mlx#4274, pytorch/pytorch#25016 (NaN), numpy/numpy#22956 (sums),
// pytorch/pytorch#190042 (the smallest number by -1).
#include <cmath>
#include <limits>

#include "run_program.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using executed::returned_by;
using executed::values_of;
using lamina::block;
using lamina::tensor;

namespace {

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

}  // namespace

TEST_CASE("the interpreter chooses NaN before every number") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4>(main);
    auto image = layer::reshape<1, 2, 2>(x);
    auto [values, indices] = layer::topk<1>(x);
    return std::tuple{layer::reduce_max<1>(x),
                      layer::reduce_min<1>(x),
                      layer::pool2d<2>(image),
                      layer::maxout<4>(layer::reshape<4, 1, 1>(x)),
                      layer::elementwise_max(x, layer::scale(x, 0.f)),
                      values,
                      layer::argmax<1>(x),
                      layer::argmin<1>(x),
                      layer::accuracy(x, layer::data<"label", std::int64_t>(main))};
  });
  for (const float rest : {-1.f, 2.f, std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> x(4, rest);
    x[2] = std::numeric_limits<float>::quiet_NaN();
    const double first = std::isnan(rest) ? 0 : 2;
    const auto out = returned_by(
        net, {{"x", tensor({1, 4}, x)}, {"label", tensor({1, 1}, std::vector<std::int64_t>{2})}});
    for (const std::size_t i : {0, 1, 2, 3, 5}) CHECK(std::isnan(values_of(out[i])[0]));
    CHECK(std::isnan(values_of(out[4])[2]));
    CHECK(values_of(out[6])[0] == first);
    CHECK(values_of(out[7])[0] == first);
    CHECK(values_of(out[8])[0] == 0);
  }
}

TEST_CASE("the interpreter's sums keep their digits") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 1>(main);
    return std::tuple{layer::reduce_mean<0>(x), layer::mean(x), layer::reduce_sum<0>(x)};
  });
  constexpr std::size_t rows = 1'000'000;
  const auto out = returned_by(net, {{"x", tensor({rows, 1}, std::vector<float>(rows, 100.1f))}});
  CHECK(values_of(out[0])[0] == static_cast<double>(100.1f));
  CHECK(values_of(out[1])[0] == static_cast<double>(100.1f));
  CHECK(values_of(out[2])[0] == Approx(static_cast<double>(100.1f) * rows).epsilon(1e-7));
}

TEST_CASE("the interpreter computes whole numbers exactly") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", std::int64_t>(main);
    auto y = layer::data<"y", std::int64_t>(main);
    return std::tuple{layer::elementwise_floordiv(x, y), layer::elementwise_mod(x, y),
                      layer::elementwise_add(x, y)};
  });
  const auto of = [&](std::int64_t x, std::int64_t y) {
    const auto out = returned_by(net, {{"x", tensor({1, 1}, std::vector<std::int64_t>{x})},
                                       {"y", tensor({1, 1}, std::vector<std::int64_t>{y})}});
    std::vector<std::int64_t> r;
    for (const auto& o : out) r.push_back(o.as<std::int64_t>().flat(0));
    return r;
  };
  constexpr std::int64_t large = (std::int64_t{1} << 60) + 1;
  CHECK(of(least, -1)[0] == least);
  CHECK(of(least + 1, -1)[1] == 0);
  CHECK(of(large, 2)[1] == 1);
  CHECK(of(large, 1)[0] == large);
  CHECK(of(large, 1)[2] == large + 1);
  CHECK_THROWS_WITH(of(1, 0), Catch::Contains("expected divisors that are not 0"));
}
