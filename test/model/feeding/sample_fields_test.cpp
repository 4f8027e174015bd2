// SPDX-License-Identifier: Apache-2.0
// The fields of a sample: aggregates, tuples, bases and constructors.

#include "model/classifier.hpp"
#include "model/samples.hpp"

#include <lamina/model/evaluator.hpp>
#include <lamina/model/feeding/sample_fields.hpp>
#include <lamina/reader/reader.hpp>

using classifier::net;

namespace {

struct numbered {};

struct derived_sample : numbered {
  std::array<float, 6> x;
  std::int64_t label;
};

struct constructed_sample {
  explicit constructed_sample(const test::sample& s) : x(s.x), label(s.label) {}
  std::array<float, 6> x;
  std::int64_t label;
};

template <class S>
std::vector<S> samples_as(const std::vector<test::sample>& from) {
  std::vector<S> all;
  for (const test::sample& s : from)
    if constexpr (std::is_aggregate_v<S>)
      all.push_back({{}, s.x, s.label});
    else
      all.push_back(S(s));
  return all;
}

}  // namespace

TEST_CASE("samples with a base or a constructor are taken apart too") {
  lamina::model m{net, 3};
  lamina::evaluator e{m};
  const auto samples = test::samples(5);
  const double cost = e.test(samples | lamina::reader::batch(5)).cost;
  CHECK(e.test(samples_as<derived_sample>(samples) | lamina::reader::batch(5)).cost == cost);
  CHECK(e.test(samples_as<constructed_sample>(samples) | lamina::reader::batch(5)).cost == cost);
}

TEST_CASE("samples may be aggregates or tuples, their fields arrays, vectors or numbers") {
  lamina::model m{net, 3};
  lamina::evaluator e{m};
  const auto samples = test::samples(10);
  std::vector<std::tuple<std::vector<double>, int>> tuples;
  for (const auto& s : samples)
    tuples.emplace_back(std::vector<double>(s.x.begin(), s.x.end()), static_cast<int>(s.label));
  struct plain {
    float x[6];
    std::int64_t label;
  };
  std::vector<plain> arrays(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::copy(samples[i].x.begin(), samples[i].x.end(), arrays[i].x);
    arrays[i].label = samples[i].label;
  }
  const double cost = e.test(samples | lamina::reader::batch(4)).cost;
  CHECK(cost == e.test(tuples | lamina::reader::batch(4)).cost);
  CHECK(cost == e.test(arrays | lamina::reader::batch(4)).cost);
  CHECK_THROWS_WITH(e.test(std::vector<std::vector<test::sample>>{}),
                    Catch::Contains("found none"));
  CHECK_THROWS_WITH(e.check_nan(), Catch::Contains("#include <lamina/model/check_nan.hpp>"));
}

namespace {

struct ten {
  int a = 1;
  std::array<float, 2> b{};
  std::vector<int> c{}, d{};
  int e = 5, f = 6, g = 7, h = 8, i = 9, j = 10;
};
struct seven {
  int a, b, c, d, e, f, g;
};

}  // namespace

TEST_CASE("structs are taken apart up to ten fields") {
  using lamina::detail::fields_of;
  STATIC_REQUIRE(fields_of<10, ten>() == 10);
  STATIC_REQUIRE(fields_of<9, ten>() == 10);
  STATIC_REQUIRE(fields_of<5, seven>() == 7);
  STATIC_REQUIRE(fields_of<7, seven>() == 7);
  STATIC_REQUIRE(fields_of<8, seven>() == 7);
  CHECK(lamina::detail::with_fields<10>(ten{}, [](int a, const auto&... others) {
          return a * 100 + static_cast<int>(sizeof...(others));
        }) == 109);
  CHECK(lamina::detail::with_fields<7>(
            seven{1, 2, 3, 4, 5, 6, 7}, [](int a, int b, int c, int d, int e, int f, int g) {
              return a * 64 + b * 32 + c * 16 + d * 8 + e * 4 + f * 2 + g;
            }) == 64 + 64 + 48 + 32 + 20 + 12 + 7);
}
