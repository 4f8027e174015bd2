// SPDX-License-Identifier: Apache-2.0
// The operator at which rows of a mini-batch meet, so that parts of it compute something else.
#include <string_view>

#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/plan/rows_met.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

namespace {

/// The type of the operator at which rows meet before the mean of `of(x)`, or "none".
template <class Of>
constexpr std::string_view met_in(Of) {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 4>(main);
    return layer::mean(Of{}(x));
  });
  constexpr const lamina::program_desc& p = decltype(net)::desc;
  constexpr int met = lamina::detail::rows_met_at(p, p.cost);
  return met < 0 ? "none" : p.operators[met].schema->type;
}

}  // namespace

TEST_CASE("operators of one row, and those that look at all rows") {
  CHECK(met_in([](auto x) { return layer::relu(x); }) == "none");
  CHECK(met_in([](auto x) { return layer::softmax(x); }) == "none");
  CHECK(met_in([](auto x) { return layer::cumsum<1>(x); }) == "none");
  CHECK(met_in([](auto x) { return layer::cumsum<0>(x); }) == "cumsum");
  CHECK(met_in([](auto x) { return x - layer::reduce_mean<0>(x); }) == "elementwise_sub");
  CHECK(met_in([](auto x) { return layer::relu(layer::cumsum<0>(x)) * 2.f; }) == "cumsum");
}
