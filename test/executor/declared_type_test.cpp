// SPDX-License-Identifier: Apache-2.0
// Variables of another type than a program computes in: metrics, casts and costs of labels in
// programs in double are floats where the program says so.
#include "run_program.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using executed::returned_by;
using executed::values_of;
using lamina::block;
using lamina::tensor;

namespace {

constexpr auto metrics = lamina::program([](block& main) {
  auto x = layer::data<"x", double, 3>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto tags = layer::sequence<"tags", std::int64_t>(main);
  auto hits = layer::accuracy(x, label, {.name = "hits"});
  auto chunks = layer::chunk_eval<2>(tags, tags);
  auto as_float = layer::cast<float>(x);
  auto again = layer::cast<double>(as_float);
  return std::tuple{hits, std::get<0>(chunks), std::get<1>(chunks), std::get<2>(chunks), as_float,
                    again};
});

}  // namespace

TEST_CASE("the interpreter returns what a program in double declares as float in float") {
  const std::vector<double> x{0.1, 0.7, 0.2, 0.5, 0.3, 0.2, 0.2, 0.1, 0.7};
  const lamina::lod three = lamina::lod::from_lengths({{2, 1, 1}});
  const lamina::feed_map feed{
      {"x", tensor({3, 3}, x)},
      {"label", tensor({3, 1}, std::vector<std::int64_t>{1, 1, 2})},
      {"tags", lamina::lod_tensor(tensor({4, 1}, std::vector<std::int64_t>{0, 1, 0, 2}), three)}};
  const auto r = returned_by<double>(metrics, feed);
  for (int i = 0; i < 5; ++i)
    CHECK(r[static_cast<std::size_t>(i)].type() == lamina::dtype::float32);
  CHECK(values_of(r[0]) == std::vector<double>{static_cast<double>(2.f / 3.f)});
  CHECK(r[5].type() == lamina::dtype::float64);
  // What went through a float has the digits of a float.
  for (std::size_t i = 0; i < x.size(); ++i)
    CHECK(values_of(r[5])[i] == static_cast<double>(static_cast<float>(x[i])));
}

TEST_CASE("the interpreter in double keeps all digits of a program in float") {
  // A program in float is the same with more digits there: that is what tests compare with.
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 1>(main);
    auto n = layer::data<"n", std::int64_t, 1>(main);
    auto wide = layer::cast<double>(n);
    return std::tuple{layer::scale(x, 1 / 3.0f), wide, layer::mean(layer::cast<float>(wide))};
  });
  const std::int64_t n = (std::int64_t{1} << 40) + 1;
  const lamina::feed_map feed{{"x", tensor({1, 1}, std::vector<float>{1})},
                              {"n", tensor({1, 1}, std::vector<std::int64_t>{n})}};
  CHECK(returned_by<double>(net, feed)[0].type() == lamina::dtype::float64);
  const auto r = returned_by<float>(net, feed);
  CHECK(r[0].type() == lamina::dtype::float32);
  // A double that a program in float declares keeps its digits, and is a float where it is read.
  CHECK(r[1].type() == lamina::dtype::float64);
  CHECK(values_of(r[1])[0] == static_cast<double>(n));
  CHECK(values_of(r[2])[0] == static_cast<double>(static_cast<float>(n)));
}
