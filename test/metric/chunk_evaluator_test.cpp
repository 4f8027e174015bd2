// SPDX-License-Identifier: Apache-2.0
// chunk_evaluator: the counts of mini-batches give the F1 of all their sentences together.
#include <cstdint>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/metric/chunk_evaluator.hpp>
#include <lamina/model/evaluator.hpp>

namespace layer = lamina::layer;
namespace metric = lamina::metric;
using Catch::Contains;

namespace {

// Tags of two types, IOB: 0 and 1 begin and continue the first, 2 and 3 the second, 4 is outside.
constexpr auto chunks = lamina::program([](lamina::block& main) {
  auto found = layer::sequence<"found", std::int64_t>(main);
  auto label = layer::sequence<"label", std::int64_t>(found);
  return layer::chunk_eval<2>(found, label, {.name = "chunks"});
});

using sentences = std::vector<std::vector<std::int64_t>>;

}  // namespace

TEST_CASE("counts over mini-batches are those of one mini-batch of all") {
  const sentences found[] = {{{0, 1, 4, 2}, {4, 4}}, {{2, 3, 3, 0}}, {{4}, {0, 1, 0}, {2}}};
  const sentences label[] = {{{0, 1, 4, 0}, {4, 2}}, {{2, 3, 3, 0}}, {{0}, {0, 1, 0}, {4}}};
  lamina::model m{chunks};
  lamina::evaluator e{m};
  metric::chunk_evaluator counted;
  sentences all_found, all_label;
  for (int i = 0; i < 3; ++i) {
    e.forward(lamina::feed<"found">(found[i]), lamina::feed<"label">(label[i]));
    counted.update(e.activation<"chunks.tmp_3">()(0), e.activation<"chunks.tmp_4">()(0),
                   e.activation<"chunks.tmp_5">()(0));
    all_found.insert(all_found.end(), found[i].begin(), found[i].end());
    all_label.insert(all_label.end(), label[i].begin(), label[i].end());
  }
  e.forward(lamina::feed<"found">(all_found), lamina::feed<"label">(all_label));
  const auto result = counted.eval();
  CHECK(result.precision == Approx(e.activation<"chunks.tmp_0">()(0)));
  CHECK(result.recall == Approx(e.activation<"chunks.tmp_1">()(0)));
  CHECK(result.f1 == Approx(e.activation<"chunks.tmp_2">()(0)));
  // 7 found, 8 labelled, 5 both.
  CHECK(result.precision == Approx(5 / 7.));
  CHECK(result.recall == Approx(5 / 8.));
  CHECK(result.f1 == Approx(10 / 15.));
}

TEST_CASE("no chunks are no division by 0, and impossible counts are refused") {
  metric::chunk_evaluator c;
  CHECK_THROWS_WITH(c.eval(), Contains("expected an update before eval"));
  c.update(0, 3, 0);
  CHECK(c.eval().precision == 0);
  CHECK(c.eval().f1 == 0);
  CHECK_THROWS_WITH(c.update(2, 3, 3), Contains("found 3 of 2 and 3"));
  CHECK_THROWS_AS(c.update(2, -1, 0), lamina::error);
  c.update(3, 0, 0);
  CHECK(c.eval().recall == 0);
  c.reset();
  CHECK_THROWS_AS(c.eval(), lamina::error);
}
