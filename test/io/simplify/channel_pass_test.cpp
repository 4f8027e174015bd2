// SPDX-License-Identifier: Apache-2.0
// A batch_norm of inference disappears in the weights before it, unless something else needs them.
#include "io/simplify/onnx_pattern.hpp"

using lamina::dtype;
using onnx_pattern::dims;
using onnx_pattern::graph;

namespace {

graph& norm(graph& g, const char* from, const char* to, std::int64_t channels) {
  g.counted("scale", {channels}, 0.3, 1).counted("shift", {channels}, 0.5);
  g.counted("mean", {channels}, 0.2).counted("variance", {channels}, 0.2, 0.7);
  return g.add("BatchNormalization", {from, "scale", "shift", "mean", "variance"}, {to});
}

}  // namespace

TEST_CASE(
    "batch_norm: into convolutions, with and without bias, in groups, of one to three sides") {
  struct shape {
    dims x, w;
    std::int64_t groups;
    bool bias;
  };
  for (const shape& s :
       {shape{{-1, 4, 5, 5}, {6, 4, 3, 3}, 1, true}, shape{{-1, 4, 5, 5}, {6, 4, 3, 3}, 1, false},
        shape{{-1, 4, 5, 5}, {6, 2, 3, 3}, 2, true}, shape{{-1, 6, 5, 5}, {6, 1, 3, 3}, 6, true},
        shape{{-1, 2, 4, 4, 4}, {6, 2, 2, 2, 2}, 1, true}, shape{{-1, 4, 9}, {6, 4, 3}, 1, true}}) {
    graph g(s.x);
    g.counted("w", s.w, 0.2).counted("b", {6});
    if (s.bias)
      g.add("Conv", {"x", "w", "b"}, {"c"}, {{"group", s.groups}});
    else
      g.add("Conv", {"x", "w"}, {"c"}, {{"group", s.groups}});
    const auto found = norm(g, "c", "y", 6).simplified();
    CHECK(found.count("batch_norm") == 0);
    CHECK(found.report.operators_after == (s.x.size() == 3 ? 3 : 1));
    CHECK(found.model.variables->find("w") == nullptr);
    CHECK(found.model.variables->names().size() == 2);
  }
}

TEST_CASE("batch_norm: into transposed convolutions, whose weights have the channels second") {
  for (const std::int64_t groups : {1, 2}) {
    graph g({-1, 4, 5, 5});
    g.counted("w", {4, 3, 3, 3}, 0.2);
    g.add("ConvTranspose", {"x", "w"}, {"c"}, {{"group", groups}});
    const auto found = norm(g, "c", "y", 3 * groups).simplified();
    CHECK(found.count("batch_norm") == 0);
    CHECK(found.report.operators_after == 1);
  }
}

TEST_CASE("batch_norm: into products with constant weights, also after a bias") {
  for (const bool bias : {false, true})
    for (const std::int64_t turned : {0, 1}) {
      graph g({-1, 4});
      g.counted("w", turned != 0 ? dims{6, 4} : dims{4, 6}, 0.2).counted("b", {6});
      if (bias)
        g.add("Gemm", {"x", "w", "b"}, {"c"}, {{"transB", turned}});
      else
        g.add("Gemm", {"x", "w"}, {"c"}, {{"transB", turned}});
      const auto found = norm(g, "c", "y", 6).simplified();
      CHECK(found.count("batch_norm") == 0);
      CHECK(found.report.operators_after == 2);
      CHECK(found.report.applied("batch_norm") == 1);
    }
}

TEST_CASE("batch_norm: products and sums per channel, as other exporters write it") {
  graph g({-1, 4, 5, 5});
  g.counted("w", {6, 4, 3, 3}, 0.2).counted("s", {1, 6, 1, 1}).counted("t", {6, 1, 1});
  g.add("Conv", {"x", "w"}, {"c"}).add("Mul", {"c", "s"}, {"d"}).add("Add", {"d", "t"}, {"y"});
  CHECK(g.simplified().report.operators_after == 1);
  graph wide({-1, 4, 5, 5});  // per pixel
  wide.counted("w", {6, 4, 3, 3}, 0.2).counted("t", {3, 3});
  wide.add("Conv", {"x", "w"}, {"c"}).add("Add", {"c", "t"}, {"y"});
  CHECK(wide.simplified().report.operators_after == 2);
  graph column({-1, 4, 3, 3});  // as many pixels as channels, along the last dimension
  column.counted("w", {3, 4, 1, 1}, 0.2).counted("t", {3});
  column.add("Conv", {"x", "w"}, {"c"}).add("Mul", {"c", "t"}, {"y"});
  CHECK(column.simplified().report.operators_after == 2);
}

TEST_CASE("batch_norm: shared weights, a second reader and statistics of the batch keep it") {
  graph shared({-1, 4, 5, 5});
  shared.counted("w", {4, 4, 1, 1}, 0.2)
      .add("Conv", {"x", "w"}, {"c"})
      .add("Conv", {"c", "w"}, {"d"});
  CHECK(norm(shared, "d", "y", 4).simplified().count("batch_norm") == 1);
  graph read({-1, 4, 5, 5});
  read.counted("w", {6, 4, 3, 3}, 0.2).add("Conv", {"x", "w"}, {"c"}).also("c");
  CHECK(norm(read, "c", "y", 6).simplified().count("batch_norm") == 1);
  graph training({-1, 4, 5, 5});
  training.counted("w", {6, 4, 3, 3}, 0.2).add("Conv", {"x", "w"}, {"c"});
  training.counted("scale", {6})
      .counted("shift", {6})
      .counted("mean", {6})
      .counted("variance", {6});
  training.add("BatchNormalization", {"c", "scale", "shift", "mean", "variance"},
               {"y", "new_mean", "new_variance"}, {{"training_mode", std::int64_t{1}}});
  const auto found = training.simplified();
  CHECK(found.report.applied("batch_norm") == 0);
  CHECK(found.count("reduce_mean") == 2);
  graph first({-1, 4, 5, 5});  // before the convolution
  norm(first, "x", "n", 4).counted("w", {6, 4, 3, 3}, 0.2).add("Conv", {"n", "w"}, {"y"});
  CHECK(first.simplified().count("batch_norm") == 1);
  graph rows({-1, 4, 6});  // the channels are not the columns of the product
  rows.counted("w", {6, 4}, 0.2).add("MatMul", {"x", "w"}, {"c"});
  CHECK(norm(rows, "c", "y", 4).simplified().count("batch_norm") == 1);
}

TEST_CASE("batch_norm: numbers that are not finite keep it") {
  graph g({-1, 4, 5, 5});
  g.counted("w", {2, 4, 3, 3}, 0.2).of("scale", {2}, {1, 1}).of("shift", {2}, {0, 0});
  g.of("mean", {2}, {0, 0}).of("variance", {2}, {-1e-5, 1}).add("Conv", {"x", "w"}, {"c"});
  g.add("BatchNormalization", {"c", "scale", "shift", "mean", "variance"}, {"y"});
  CHECK(g.simplified().count("batch_norm") == 1);
}

TEST_CASE("batch_norm: in double, and two nets with norms of equal shapes keep theirs apart") {
  graph g({-1, 4, 5, 5}, dtype::float64);
  g.counted("w", {6, 4, 3, 3}, 0.2).add("Conv", {"x", "w"}, {"c"});
  CHECK(norm(g, "c", "y", 6).simplified().count("batch_norm") == 0);
  graph two({-1, 4, 5, 5});
  two.counted("w", {6, 4, 1, 1}, 0.2)
      .counted("v", {6, 4, 1, 1}, 0.3)
      .add("Conv", {"x", "w"}, {"c"});
  two.add("Conv", {"x", "v"}, {"d"}).counted("mean_2", {6}, -0.4);
  norm(two, "c", "n", 6);
  two.add("BatchNormalization", {"d", "scale", "shift", "mean_2", "variance"}, {"m"});
  two.add("Mul", {"n", "m"}, {"y"});
  CHECK(two.simplified().report.operators_after == 3);
}
