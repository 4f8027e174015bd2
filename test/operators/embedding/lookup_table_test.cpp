// SPDX-License-Identifier: Apache-2.0
// Rows of a table by number: gradients, ids out of range, the engine.
#include <tuple>

#include "executor/run_program.hpp"
#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/compared_operators.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/executor/matrix_product.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/transform/append_backward.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using executed::returned_by;
using executed::values_of;
using lamina::block;
using lamina::program;
using lamina::tensor;
using lamina::law::check_engine;

namespace {

// Sparse: the gradient of "table" is selected rows, twice, that of "other" in one of two places.
template <int W, bool Sparse>
constexpr auto embedded = program([](block& main) {
  auto i = layer::data<"i", std::int64_t>(main);
  auto many = layer::data<"many", std::int64_t, 4, 1>(main);
  auto a = layer::embedding<7, W>(i, {.param = {.name = "table"}, .is_sparse = Sparse});
  auto b = layer::embedding<7, W>(
      many, {.param = {.name = "table"}, .padding_idx = 2, .is_sparse = Sparse});
  auto c = layer::embedding<7, W>(i, {.param = {.name = "other"}, .padding_idx = -1});
  auto d = layer::embedding<7, W>(i, {.param = {.name = "other"}, .is_sparse = Sparse});
  return std::tuple{
      layer::mean(a * a) + layer::mean(b * b * b) + layer::mean(c * a) + layer::mean(d * d), a, b,
      c};
});

}  // namespace

TEST_CASE("embedding on the engine is that of the executor") {
  for (int limit : {1, 7}) {
    const lamina::law::engine_law_options o{.limit = limit};
    check_engine(embedded<1, false>, o);
    check_engine(embedded<33, false>, o);
    check_engine(embedded<5, true>, o);
    check_engine(embedded<33, true>, o);
  }
}

TEST_CASE("gradient: embedding and gather add up rows that are used twice") {
  laws::check_gradients(lamina::program([](block& main) {
                          auto id = layer::data<"id", std::int64_t>(main);
                          auto e = layer::embedding<5, 3>(id, {.padding_idx = 2});
                          auto x = layer::data<"x", float, 3>(main);
                          return layer::mean(layer::square(layer::gather(x, id)) * e + e);
                        }),
                        {{"id", tensor({3, 1}, std::vector<std::int64_t>{1, 2, 1})}});
  // Selected rows: of two lookups together, and of one beside a whole gradient.
  laws::check_gradients(lamina::program([](block& main) {
                          auto id = layer::data<"id", std::int64_t>(main);
                          auto look_up = [&](std::string_view name, bool sparse) {
                            return layer::embedding<5, 3>(
                                id, {.param = {.name = name}, .is_sparse = sparse});
                          };
                          auto a = look_up("a", true) + layer::square(look_up("a", true));
                          auto b = look_up("b", true) * look_up("b", false);
                          return layer::mean(a * b + a);
                        }),
                        {{"id", tensor({3, 1}, std::vector<std::int64_t>{1, 2, 1})}});
}

namespace {

tensor whole(const lamina::tensor_shape& shape, const std::vector<std::int64_t>& values) {
  return tensor(shape, values);
}

}  // namespace

TEST_CASE("one_hot and embedding reject numbers outside of their range") {
  constexpr auto p = lamina::program([](block& main) {
    auto id = layer::data<"id", std::int64_t>(main);
    return std::tuple{layer::one_hot<3>(id)};
  });
  CHECK(values_of(returned_by(p, {{"id", whole({2, 1}, {2, 0})}})[0]) ==
        std::vector<double>{0, 0, 1, 1, 0, 0});
  CHECK_THROWS_WITH(returned_by(p, {{"id", whole({1, 1}, {3})}}), Contains("layer one_hot_0") &&
                                                                      Contains("from 0 to 2") &&
                                                                      Contains("'id', found 3"));
  constexpr auto table = lamina::program([](block& main) {
    return std::tuple{layer::embedding<4, 2>(layer::data<"id", std::int64_t>(main))};
  });
  CHECK_THROWS_WITH(
      returned_by(table, {{"id", whole({1, 1}, {-1})}}),
      Contains("layer embedding_0") && Contains("from 0 to 3") && Contains("found -1"));
}
