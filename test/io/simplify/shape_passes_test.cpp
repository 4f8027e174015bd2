// SPDX-License-Identifier: Apache-2.0
// Operators that return their operand disappear; reshapes and transposes in a row become one.
#include "io/simplify/onnx_pattern.hpp"

using onnx_pattern::dims;
using onnx_pattern::graph;

TEST_CASE("shapes: transposes in a row become one, in the right order") {
  // The order of the second is that of the result of the first (not of x).
  graph g({2, 3, 4});
  g.add("Transpose", {"x"}, {"a"}, {{"perm", dims{1, 0, 2}}})
      .add("Transpose", {"a"}, {"y"}, {{"perm", dims{0, 2, 1}}});
  const auto found = g.simplified();
  CHECK(found.count("transpose2") == 1);
  CHECK(found.results[0].shape() == lamina::tensor_shape{3, 4, 2});
  graph three({2, 3, 4});
  three.add("Transpose", {"x"}, {"a"}, {{"perm", dims{1, 2, 0}}});
  three.add("Transpose", {"a"}, {"b"}, {{"perm", dims{1, 2, 0}}});
  three.add("Transpose", {"b"}, {"c"}, {{"perm", dims{1, 2, 0}}}).add("Relu", {"c"}, {"y"});
  CHECK(three.simplified().report.operators_after == 1);
  graph back({-1, 3, 4});
  back.add("Transpose", {"x"}, {"a"}, {{"perm", dims{0, 2, 1}}});
  back.add("Transpose", {"a"}, {"b"}, {{"perm", dims{0, 2, 1}}}).add("Tanh", {"b"}, {"y"});
  CHECK(back.simplified().report.operators_after == 1);
}

TEST_CASE("shapes: an output keeps its name, also if it is equal to another value") {
  graph g({2, 3});  // x itself: the copy stays
  g.add("Transpose", {"x"}, {"a"}, {{"perm", dims{1, 0}}})
      .add("Transpose", {"a"}, {"y"}, {{"perm", dims{1, 0}}});
  const auto of_feed = g.simplified();
  CHECK(of_feed.model.program.fetch_names() == std::vector<std::string>{"y"});
  graph two({2, 3});  // both values are outputs
  two.add("Relu", {"x"}, {"z"}).add("Identity", {"z"}, {"y"}).also("z");
  const auto both = two.simplified();
  CHECK(both.model.program.fetch_names() == std::vector<std::string>{"y", "z"});
  graph one({2, 3});
  one.add("Relu", {"x"}, {"z"}).add("Identity", {"z"}, {"y"}).add("Tanh", {"z"}, {"w"}).also("w");
  const auto found = one.simplified();
  CHECK(found.model.program.fetch_names() == std::vector<std::string>{"y", "w"});
  CHECK(found.report.operators_after == 2);
}

TEST_CASE("shapes: a transpose that another operator reads stays") {
  graph g({2, 3, 4});
  g.add("Transpose", {"x"}, {"a"}, {{"perm", dims{1, 0, 2}}})
      .add("Transpose", {"a"}, {"y"}, {{"perm", dims{0, 2, 1}}});
  g.add("Tanh", {"a"}, {"more"}).also("more");
  CHECK(g.simplified().count("transpose2") == 2);
}

TEST_CASE("shapes: a transpose of dimensions of extent 1 is a reshape") {
  graph g({3, 1, 4});
  g.add("Transpose", {"x"}, {"y"}, {{"perm", dims{1, 0, 2}}});
  CHECK(g.simplified().count("reshape2") == 1);
  graph moved({3, 2, 4});
  moved.add("Transpose", {"x"}, {"y"}, {{"perm", dims{1, 0, 2}}});
  CHECK(moved.simplified().count("transpose2") == 1);
  graph unknown({-1, -1, 1});  // two dimensions that a reshape would have to infer
  unknown.add("Transpose", {"x"}, {"y"}, {{"perm", dims{2, 0, 1}}});
  CHECK(unknown.simplified().count("transpose2") == 1);
}

TEST_CASE("shapes: reshapes in a row become one, and none if the shape is the same") {
  graph g({-1, 6});
  g.integers("a", {0, 2, 3}).integers("b", {-1, 3}).integers("c", {-1, 3, 2});
  g.add("Reshape", {"x", "a"}, {"p"}).add("Reshape", {"p", "b"}, {"q"});
  g.add("Reshape", {"q", "c"}, {"y"});
  CHECK(g.simplified().count("reshape2") == 1);
  graph back({-1, 6});
  back.integers("a", {0, 2, 3}).integers("b", {-1, 6});
  back.add("Reshape", {"x", "a"}, {"p"})
      .add("Reshape", {"p", "b"}, {"q"})
      .add("Relu", {"q"}, {"y"});
  CHECK(back.simplified().report.operators_after == 1);
  graph turned({2, 3});  // the same number of elements in another shape
  turned.integers("a", {3, 2}).add("Reshape", {"x", "a"}, {"p"}).add("Relu", {"p"}, {"y"});
  CHECK(turned.simplified().report.operators_after == 2);
  graph unknown({-1, -1});  // [a, b] may become [c, d]
  unknown.integers("a", {0, 0, 1}).integers("axis", {2}).add("Reshape", {"x", "a"}, {"p"});
  unknown.add("Squeeze", {"p", "axis"}, {"q"}).add("Relu", {"q"}, {"y"});
  CHECK(unknown.simplified().report.operators_after >= 1);
}

TEST_CASE("identities: nodes that return their operand") {
  graph g({-1, 3});
  g.number("one", 1).number("zero", 0).integers("pads", {0, 0, 0, 0}).integers("times", {1, 1});
  g.add("Cast", {"x"}, {"a"}, {{"to", std::int64_t{1}}}).add("Mul", {"a", "one"}, {"b"});
  g.add("Add", {"b", "zero"}, {"c"})
      .add("Div", {"c", "one"}, {"d"})
      .add("Sub", {"d", "zero"}, {"e"});
  g.add("Tile", {"e", "times"}, {"f"})
      .add("Pad", {"f", "pads"}, {"h"})
      .add("Dropout", {"h"}, {"i"});
  g.add("Concat", {"i"}, {"j"}, {{"axis", std::int64_t{0}}}).add("Relu", {"j"}, {"y"});
  CHECK(g.simplified().report.operators_after == 1);
}

TEST_CASE("shapes: convolutions of signals have no reshape between them") {
  graph g({-1, 2, 9});
  g.counted("w", {4, 2, 3}).counted("v", {3, 4, 2}).counted("b", {4});
  g.add("Conv", {"x", "w", "b"}, {"p"}).add("Relu", {"p"}, {"q"}).add("Conv", {"q", "v"}, {"y"});
  const auto found = g.simplified();
  CHECK(found.count("conv2d") == 2);
  CHECK(found.report.operators_after == 5);  // unsqueeze, conv, relu, conv, squeeze
  graph read = g;
  read.also("q");
  CHECK(read.simplified().report.operators_after == read.load({}).report.operators_before);
}

namespace {

/// All states of a recurrence of five steps, and the index of the last one.
struct recurrence : graph {
  recurrence() : graph({5, 1, 4}) {
    counted("w", {1, 3, 4}, 0.3).counted("r", {1, 3, 3}, 0.3).integers("last", {4});
    add("RNN", {"x", "w", "r"}, {"all"}, {{"hidden_size", std::int64_t{3}}});
  }
};

}  // namespace

TEST_CASE("shapes: one state of a recurrence needs no stack of all states") {
  for (const std::int64_t at : {0, 3, 4, -1}) {
    recurrence g;
    g.integers("at", {at}).add("Gather", {"all", "at"}, {"y"});
    CHECK(g.simplified().count("stack") == 0);
    recurrence cut;
    cut.integers("from", {at}).integers("to", {at == -1 ? 99 : at + 1}).integers("axis", {0});
    cut.add("Slice", {"all", "from", "to", "axis"}, {"y"});
    CHECK(cut.simplified().count("stack") == 0);
  }
  recurrence rows_first;  // PyTorch's batch_first: the steps are the second dimension
  rows_first.integers("from", {-1}).integers("to", {5}).integers("axis", {1});
  rows_first.integers("shape", {1, 5, 3}).add("Reshape", {"all", "shape"}, {"rows"});
  rows_first.add("Slice", {"rows", "from", "to", "axis"}, {"y"});
  CHECK(rows_first.simplified().count("stack") == 0);
  recurrence both;  // of two slices, each is a state
  both.integers("a", {1}).integers("b", {4});
  both.add("Gather", {"all", "a"}, {"p"}).add("Gather", {"all", "b"}, {"q"});
  CHECK(both.add("Sub", {"p", "q"}, {"y"}).simplified().count("stack") == 0);
}

TEST_CASE("shapes: a stack that is needed stays") {
  recurrence shown;  // all states are an output
  shown.add("Gather", {"all", "last"}, {"y"}).also("all");
  CHECK(shown.simplified().count("stack") == 1);
  recurrence read;  // another operator reads all states
  read.add("Gather", {"all", "last"}, {"p"}).add("Sub", {"all", "p"}, {"y"});
  CHECK(read.simplified().count("stack") == 1);
  recurrence two;  // two slices at once
  two.integers("from", {1}).integers("to", {3}).integers("axis", {0});
  CHECK(two.add("Slice", {"all", "from", "to", "axis"}, {"y"}).simplified().count("stack") == 1);
  recurrence inner;  // a slice of each state
  inner.integers("from", {1}).integers("to", {2}).integers("axis", {3});
  CHECK(inner.add("Slice", {"all", "from", "to", "axis"}, {"y"}).simplified().count("stack") == 1);
  recurrence moved;  // a row of the reshaped stack has parts of several states
  moved.integers("shape", {3, 5}).integers("first", {0});
  moved.add("Reshape", {"all", "shape"}, {"p"}).add("Gather", {"p", "first"}, {"y"});
  CHECK(moved.simplified().count("stack") == 1);
  recurrence computed;  // the index is known in a run only
  computed.integers("axis", {0}).add("ReduceMax", {"x"}, {"most"}, {{"keepdims", std::int64_t{0}}});
  computed.add("Cast", {"most"}, {"index"}, {{"to", std::int64_t{7}}});
  CHECK(computed.add("Gather", {"all", "index"}, {"y"}).simplified().count("stack") == 1);
}

namespace {

/// A net with two branches of three channels each, which are joined and divided again.
struct shuffled : graph {
  explicit shuffled(const dims& divided = {-1, 2, 3, 4}, const dims& order = {0, 2, 1, 3})
      : graph({-1, 3, 4}) {
    integers("divided", divided).integers("whole", {-1, 6, 4});
    add("Tanh", {"x"}, {"a"}).add("Exp", {"x"}, {"b"});
    add("Concat", {"a", "b"}, {"joined"}, {{"axis", std::int64_t{1}}});
    add("Reshape", {"joined", "divided"}, {"p"}).add("Transpose", {"p"}, {"q"}, {{"perm", order}});
    add("Reshape", {"q", "whole"}, {"y"});
  }
};

}  // namespace

TEST_CASE("shapes: a shuffle of the channels of a concat is a stack") {
  const auto found = shuffled().simplified();
  CHECK(found.count("stack") == 1);
  CHECK(found.count("transpose2") + found.count("concat") == 0);
}

TEST_CASE("shapes: other transposes of a concat stay") {
  CHECK(shuffled({-1, 3, 2, 4}).simplified().count("transpose2") == 1);  // not as it was joined
  CHECK(shuffled({-1, 2, 3, 4}, {0, 1, 3, 2}).simplified().count("transpose2") == 1);
  shuffled shown;  // the joined array is an output
  CHECK(shown.also("joined").simplified().count("concat") == 1);
  shuffled read;  // another operator reads it
  CHECK(read.add("Neg", {"joined"}, {"z"}).also("z").simplified().count("concat") == 1);
  graph uneven({-1, 4, 3});  // the inputs differ
  uneven.integers("at", {1, 3}).integers("divided", {-1, 2, 2, 3});
  uneven.add("Split", {"x", "at"}, {"a", "b"}, {{"axis", std::int64_t{1}}});
  uneven.add("Concat", {"b", "a"}, {"p"}, {{"axis", std::int64_t{1}}});
  uneven.add("Reshape", {"p", "divided"}, {"q"});
  uneven.add("Transpose", {"q"}, {"y"}, {{"perm", dims{0, 2, 1, 3}}});
  CHECK(uneven.simplified().count("concat") == 1);
}
