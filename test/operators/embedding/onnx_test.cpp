// SPDX-License-Identifier: Apache-2.0
// Nodes of ONNX files that choose, replace and move rows, with indices that only a run knows.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "io/onnx/model_runs.hpp"
#include <catch2/catch.hpp>

using Catch::Contains;
using namespace model_runs;

TEST_CASE("scatter of extremes: each element and all its updates, NaN before numbers") {
  for (const bool largest : {true, false}) {
    model m({value("x", {-1, 2}), value("at", {-1, 1}, dtype::int64), value("u", {-1, 2})},
            {any("y")});
    m.graph.inputs[1].dims[0].name = m.graph.inputs[2].dims[0].name = "updates";
    m.node("ScatterND", {"x", "at", "u"}, {"y"}, {{"reduction", largest ? "max" : "min"}});
    const auto found =
        numbers(m.run({{"x", floats({3, 2}, {1, 2, 3, 4, 5, 6})},
                       {"at", tensor({4, 1}, std::vector<std::int64_t>{2, 0, 2, -1})},
                       {"u", floats({4, 2}, {9, 5, 0, 3, 7, 8, 4, 1})}})[0]);
    CHECK(found ==
          (largest ? std::vector<float>{1, 3, 3, 4, 9, 8} : std::vector<float>{0, 2, 3, 4, 4, 1}));
  }
  model m({value("x", {2}), value("u", {3})}, {any("y")});
  const tensor at({3}, std::vector<std::int64_t>{1, 1, 1});
  m.graph.initializers = {{"at", &at}};
  m.node("ScatterElements", {"x", "at", "u"}, {"y"}, {{"reduction", "max"}});
  const auto found =
      numbers(m.run({{"x", floats({2}, {1, 2})}, {"u", floats({3}, {4, std::nanf(""), 3})}})[0]);
  CHECK(found[0] == 1);
  CHECK(std::isnan(found[1]));
}

TEST_CASE("Compress by a condition of the run") {
  model m({value("x", {-1, 2}), value("c", {-1}, dtype::boolean)}, {any("y"), any("all")});
  m.graph.inputs[1].dims[0].name = "truths";
  m.node("Compress", {"x", "c"}, {"y"}, {{"axis", 0}}).node("Compress", {"x", "c"}, {"all"});
  const auto found =
      m.run({{"x", floats({3, 2}, {1, 2, 3, 4, 5, 6})}, {"c", tensor::filled<bool>({2}, true)}});
  CHECK(found[0].shape() == tensor_shape{2, 2});
  CHECK(numbers(found[1]) == std::vector<float>{1, 2});
}

TEST_CASE("ReverseSequence of rows whose number and length only a run knows") {
  for (const bool rows_first : {false, true}) {
    model m({value("x", {-1, -1, 1}), value("n", {-1}, dtype::int64)}, {any("y")});
    m.graph.inputs[0].dims[rows_first ? 1 : 0].name = "steps";
    m.node("ReverseSequence", {"x", "n"}, {"y"},
           {{"batch_axis", rows_first ? 0 : 1}, {"time_axis", rows_first ? 1 : 0}});
    const tensor lengths({2}, std::vector<std::int64_t>{3, 2});
    const auto x = rows_first ? floats({2, 3, 1}, {1, 2, 3, 10, 20, 30})
                              : floats({3, 2, 1}, {1, 10, 2, 20, 3, 30});
    const auto found = numbers(m.run({{"x", x}, {"n", lengths}})[0]);
    CHECK(found == (rows_first ? std::vector<float>{3, 2, 1, 20, 10, 30}
                               : std::vector<float>{3, 20, 2, 10, 1, 30}));
  }
  model m({value("x", {2, 2}), value("n", {2}, dtype::int64)}, {any("y")});
  m.node("ReverseSequence", {"x", "n"}, {"y"}, {{"batch_axis", 1}, {"time_axis", 1}});
  CHECK_THAT(m.failure(), Contains("found 1 and 1"));
}
