// SPDX-License-Identifier: Apache-2.0
// onnx_loop: Loop, Scan and If of ONNX files give what their definitions say, and wrong ones are
// errors. The results of the onnx package's models are in test/interop.
#include <cstdint>
#include <string>
#include <vector>

#include "io/onnx/model_runs.hpp"
#include <catch2/catch.hpp>

using Catch::Contains;
using namespace model_runs;

namespace {

/// sum = sum + x, and the sum of each iteration; goes on while the sum is below `limit`.
graph_of summing() {
  graph_of body({whole("i"), truth("c"), any("before")}, {any("going"), any("sum"), any("part")});
  body.node("Add", {"before", "x"}, {"sum"}).node("Identity", {"sum"}, {"part"});
  body.node("ReduceMax", {"sum"}, {"most"}, {{"keepdims", 0}});
  body.node("Less", {"most", "limit"}, {"going"});
  return body;
}
model sums() {
  model m({value("x", {2}), value("limit", {}), whole("n"), truth("c")}, {any("last"), any("all")});
  return m;
}

}  // namespace

TEST_CASE("onnx_loop: a Loop ends by its number of iterations or by its condition") {
  model m = sums();
  m.node("Loop", {"n", "c", "x"}, {"last", "all"}, {{"body", summing().graph}});
  CHECK(m.count("while") == 1);
  const auto run = [&](std::int64_t n, bool c, float limit) {
    return m.run({{"x", floats({2}, {1, 2})},
                  {"limit", floats({1}, {limit})},
                  {"n", one(n)},
                  {"c", one(c)}});
  };
  auto found = run(3, true, 100);
  CHECK(numbers(found[0]) == std::vector<float>{4, 8});
  CHECK(found[1].shape() == tensor_shape{3, 2});
  CHECK(numbers(found[1]) == std::vector<float>{2, 4, 3, 6, 4, 8});
  found = run(100, true, 5);  // 2 + 2 < 5, 2 + 2 + 2 is not
  CHECK(numbers(found[0]) == std::vector<float>{3, 6});
  CHECK(found[1].shape() == tensor_shape{2, 2});
  for (const bool c : {false, true}) {  // no iteration
    found = run(c ? 0 : 3, c, 100);
    CHECK(numbers(found[0]) == std::vector<float>{1, 2});
    CHECK(found[1].shape() == tensor_shape{0, 2});
  }
}

TEST_CASE("onnx_loop: the number of iterations and the condition may be absent") {
  model m = sums();
  m.node("Loop", {"", "", "x"}, {"last", "all"}, {{"body", summing().graph}});
  const auto found = m.run({{"x", floats({2}, {1, 2})},
                            {"limit", floats({1}, {7})},
                            {"n", one(std::int64_t{0})},
                            {"c", one(false)}});
  CHECK(numbers(found[0]) == std::vector<float>{4, 8});
}

TEST_CASE("onnx_loop: a loop that does not end is an error of the run") {
  model m({value("x", {2})}, {any("y")});
  graph_of body({whole("i"), truth("c"), any("a")}, {any("c"), any("b")});
  body.node("Add", {"a", "x"}, {"b"});
  m.node("Loop", {"", "", "x"}, {"y"}, {{"body", body.graph}});
  lamina::run_options options;
  options.iterations = 50;
  CHECK_THROWS_WITH(m.run({{"x", floats({2}, {1, 2})}}, options), Contains("after 50 iterations"));
}

TEST_CASE("onnx_loop: all carried values change at once") {
  model m({value("x", {1}), value("y", {1}), whole("n")}, {any("p"), any("q"), any("i")});
  graph_of body({whole("i"), truth("c"), any("a"), any("b"), whole("k")},
                {any("c"), any("b"), any("a"), any("i")});
  m.node("Loop", {"n", "", "x", "y", "n"}, {"p", "q", "i"}, {{"body", body.graph}});
  const auto run = [&](std::int64_t n) {
    return m.run({{"x", floats({1}, {1})}, {"y", floats({1}, {2})}, {"n", one(n)}});
  };
  auto found = run(3);
  CHECK(numbers(found[0]) == std::vector<float>{2});
  CHECK(numbers(found[1]) == std::vector<float>{1});
  CHECK(numbers(found[2]) == std::vector<float>{2});  // the number of the last iteration
  found = run(2);
  CHECK(numbers(found[0]) == std::vector<float>{1});
  CHECK(numbers(found[1]) == std::vector<float>{2});
}

TEST_CASE("onnx_loop: a carried value may grow") {
  model m({value("x", {1, 2}), whole("n")}, {any("y")});
  graph_of body({whole("i"), truth("c"), any("a")}, {any("c"), any("b")});
  body.node("Concat", {"a", "x"}, {"b"}, {{"axis", 0}});
  m.node("Loop", {"n", "", "x"}, {"y"}, {{"body", body.graph}});
  const auto found = m.run({{"x", floats({1, 2}, {1, 2})}, {"n", one(std::int64_t{3})}});
  CHECK(found[0].shape() == tensor_shape{4, 2});
}

TEST_CASE("onnx_loop: a dimension that a loop changes has no symbol from before the loop") {
  model m({value("x", {-1}), whole("n")}, {any("zeros"), any("y")});
  graph_of body({whole("i"), truth("c"), any("a")}, {any("c"), any("b")});
  body.node("Concat", {"a", "x"}, {"b"}, {{"axis", 0}});
  m.node("Loop", {"n", "", "x"}, {"y"}, {{"body", body.graph}}).node("Shape", {"y"}, {"shape"});
  m.node("ConstantOfShape", {"shape"}, {"zeros"});
  const auto found = m.run({{"x", floats({1}, {5})}, {"n", one(std::int64_t{3})}});
  CHECK(found[0].shape() == tensor_shape{4});
  CHECK(found[1].shape() == tensor_shape{4});
}

TEST_CASE("onnx_loop: a dimension of the body is not computed outside of it") {
  model m({value("x", {-1}), whole("n")}, {any("zeros")});
  graph_of body({whole("i"), truth("c")}, {any("c"), any("part")});
  body.node("Concat", {"x", "x"}, {"part"}, {{"axis", 0}});
  m.node("Loop", {"n", ""}, {"all"}, {{"body", body.graph}}).node("Shape", {"all"}, {"shape"});
  m.node("ConstantOfShape", {"shape"}, {"zeros"});
  const auto found = m.run({{"x", floats({1}, {5})}, {"n", one(std::int64_t{3})}});
  CHECK(found[0].shape() == tensor_shape{3, 2});
}

TEST_CASE("onnx_loop: loops in loops, and values of all graphs around them") {
  model m({value("x", {2}), whole("n"), whole("k")}, {any("y"), any("all")});
  graph_of inner({whole("j"), truth("d"), any("s")}, {any("d"), any("t"), any("part")});
  inner.node("Add", {"s", "scaled"}, {"t"}).node("ReduceSum", {"t"}, {"part"}, {{"keepdims", 0}});
  graph_of body({whole("i"), truth("c"), any("a")}, {any("c"), any("b"), any("parts")});
  body.node("Cast", {"i"}, {"f"}, {{"to", 1}}).node("Mul", {"x", "f"}, {"scaled"});
  body.node("Loop", {"k", "", "a"}, {"b", "parts"}, {{"body", inner.graph}});
  m.node("Loop", {"n", "", "x"}, {"y", "all"}, {{"body", body.graph}});
  const auto found = m.run(
      {{"x", floats({2}, {1, 10})}, {"n", one(std::int64_t{3})}, {"k", one(std::int64_t{2})}});
  CHECK(numbers(found[0]) == std::vector<float>{7, 70});  // x + 2 (0 + 1 + 2) x
  CHECK(found[1].shape() == tensor_shape{3, 2});
  CHECK(numbers(found[1]) == std::vector<float>{11, 11, 22, 33, 55, 77});
}

TEST_CASE("onnx_loop: a short loop of known length leaves no while") {
  const tensor four = one(std::int64_t{4}), many = one(std::int64_t{5000});
  model m({value("x", {2})}, {any("y"), any("all")});
  m.graph.initializers = {{"four", &four}, {"many", &many}};
  graph_of body({whole("i"), truth("c"), any("a")}, {any("c"), any("b"), any("part")});
  body.node("Add", {"a", "x"}, {"b"}).node("Identity", {"b"}, {"part"});
  m.node("Loop", {"four", "", "x"}, {"y", "all"}, {{"body", body.graph}});
  CHECK(m.count("while") == 0);
  auto found = m.run({{"x", floats({2}, {1, 2})}});
  CHECK(numbers(found[0]) == std::vector<float>{5, 10});
  CHECK(numbers(found[1]) == std::vector<float>{2, 4, 3, 6, 4, 8, 5, 10});
  m.graph.nodes.clear();
  m.node("Loop", {"many", "", "x"}, {"y", "all"}, {{"body", body.graph}});
  CHECK(m.count("while") == 1);
  found = m.run({{"x", floats({2}, {1, 2})}});
  CHECK(numbers(found[0]) == std::vector<float>{5001, 10002});
  CHECK(found[1].shape() == tensor_shape{5000, 2});
}

TEST_CASE("onnx_loop: a Scan walks and stacks along any dimension, in both directions") {
  graph_of body({any("s"), any("a"), any("b")}, {any("t"), any("part"), any("turned")});
  body.node("Add", {"a", "b"}, {"part"}).node("Identity", {"part"}, {"turned"});
  body.node("Add", {"s", "part"}, {"t"});
  const auto scanning = [&](std::int64_t extent) {
    model m({value("s", {2}), value("a", {2, extent}), value("b", {extent, 2})},
            {any("sum"), any("all"), any("turned")});
    m.node("Scan", {"s", "a", "b"}, {"sum", "all", "turned"},
           {{"body", body.graph},
            {"num_scan_inputs", 2},
            {"scan_input_axes", std::vector<std::int64_t>{1, 0}},
            {"scan_input_directions", std::vector<std::int64_t>{0, 1}},
            {"scan_output_axes", std::vector<std::int64_t>{-1, 0}},
            {"scan_output_directions", std::vector<std::int64_t>{0, 1}}});
    return m;
  };
  CHECK(scanning(-1).count("while") == 1);
  CHECK(scanning(3).count("while") == 0);
  for (const std::int64_t extent : {-1, 3}) {
    const auto found = scanning(extent).run({{"s", floats({2}, {0, 0})},
                                             {"a", floats({2, 3}, {1, 2, 3, 10, 20, 30})},
                                             {"b", floats({3, 2}, {1, 2, 3, 4, 5, 6})}});
    CHECK(numbers(found[0]) == std::vector<float>{15, 72});
    CHECK(found[1].shape() == tensor_shape{2, 3});
    CHECK(numbers(found[1]) == std::vector<float>{6, 5, 4, 16, 24, 32});
    CHECK(numbers(found[2]) == std::vector<float>{4, 32, 5, 24, 6, 16});
  }
}

TEST_CASE("onnx_loop: an If whose condition is computed runs one branch") {
  model m({value("x", {-1}), truth("c")}, {any("y"), any("z")});
  graph_of then({}, {any("a"), any("b")}), other({}, {any("a"), any("b")});
  then.node("Neg", {"x"}, {"a"}).node("Constant", {}, {"b"}, {{"value_float", 7.0}});
  other.node("Concat", {"x", "x"}, {"a"}, {{"axis", 0}});
  other.node("Constant", {}, {"b"}, {{"value_float", 8.0}});
  m.node("If", {"c"}, {"y", "z"}, {{"then_branch", then.graph}, {"else_branch", other.graph}});
  for (const bool c : {false, true}) {
    const auto found = m.run({{"x", floats({2}, {1, 2})}, {"c", one(c)}});
    CHECK(numbers(found[0]) == (c ? std::vector<float>{-1, -2} : std::vector<float>{1, 2, 1, 2}));
    CHECK(numbers(found[1]) == std::vector<float>{c ? 7.0F : 8.0F});
  }
}

TEST_CASE("onnx_loop: an If in a Loop chooses in each iteration") {
  model m({value("x", {1}), whole("n")}, {any("y")});
  graph_of then({}, {any("r")}), other({}, {any("s")});
  then.node("Add", {"a", "x"}, {"r"});
  other.node("Mul", {"a", "x"}, {"s"});
  graph_of body({whole("i"), truth("c"), any("a")}, {any("c"), any("b")});
  body.node("Cast", {"i"}, {"odd"}, {{"to", 9}});
  body.node("If", {"odd"}, {"b"}, {{"then_branch", then.graph}, {"else_branch", other.graph}});
  m.node("Loop", {"n", "", "x"}, {"y"}, {{"body", body.graph}});
  const auto found = m.run({{"x", floats({1}, {3})}, {"n", one(std::int64_t{3})}});
  CHECK(numbers(found[0]) == std::vector<float>{15});  // 3 * 3 + 3 + 3
}

TEST_CASE("onnx_loop: wrong loops and branches are errors that name the node") {
  const auto loop = [](const onnx_graph& body, const char* n = "n", const char* c = "") {
    model m({value("x", {2}), value("limit", {}), whole("n"), truth("c")}, {any("last")});
    m.node("Loop", {n, c, "x"}, {"last"}, {{"body", body}});
    return m.failure();
  };
  const onnx_graph good = summing().graph;
  CHECK(loop(good) == "loaded");
  CHECK_THAT(loop(good, "x"), Contains("node 'last' of operator Loop: expected a number of "
                                       "iterations as one int64, found float32 [2]"));
  CHECK_THAT(loop(good, "n", "x"), Contains("expected a condition as one bool"));
  onnx_graph bad = good;
  bad.inputs.pop_back();
  CHECK_THAT(loop(bad), Contains("expected a graph with 3 inputs, found 2"));
  bad = good;
  bad.outputs.resize(1);
  CHECK_THAT(loop(bad), Contains("carried values as outputs, found 1"));
  bad = good;
  bad.inputs[2].name = "i";
  CHECK_THAT(loop(bad), Contains("inputs with different names of a graph, found 'i'"));
  bad = good;
  bad.outputs[0] = any("absent");
  CHECK_THAT(loop(bad), Contains("expected a value 'absent'"));
  bad = good;
  bad.outputs[0] = any("sum");  // is not a condition
  CHECK_THAT(loop(bad), Contains("expected a condition as one bool, found float32 [2]"));
  bad = good;
  bad.outputs[1] = any("most");  // has no dimensions, the carried value has one
  graph_of other({whole("i"), truth("c"), any("a")}, {any("c"), any("b")});
  CHECK_THAT(loop(other.node("Cast", {"a"}, {"b"}, {{"to", 7}}).graph),
             Contains("keeps its type and its number of dimensions"));
  graph_of wider({whole("i"), truth("c"), any("a")}, {any("c"), any("b")});
  wider.node("Constant", {}, {"axes"}, {{"value_ints", std::vector<std::int64_t>{0}}});
  CHECK_THAT(loop(wider.node("Unsqueeze", {"a", "axes"}, {"b"}).graph),
             Contains("keeps its type and its number of dimensions"));
  graph_of unknown({whole("i"), truth("c"), any("a")}, {any("c"), any("b")});
  CHECK_THAT(loop(unknown.node("Nothing", {"a"}, {"b"}).graph),
             Contains("found Nothing (domain ai.onnx, 1 node: 'b')"));

  model m({value("x", {2})}, {any("y")});
  m.node("Loop", {"", "", "x"}, {"y"});
  CHECK_THAT(m.failure(), Contains("expected a graph in attribute 'body', found none"));

  const auto scan = [](std::int64_t count, const std::vector<std::int64_t>& axes) {
    model made({value("x", {2}), value("a", {3, 4})}, {any("y")});
    graph_of body({any("s"), any("e")}, {any("s"), any("e")});
    made.node("Scan", {"x", "a"}, {"", "y"},
              {{"body", body.graph}, {"num_scan_inputs", count}, {"scan_input_axes", axes}});
    return made.failure();
  };
  CHECK(scan(1, {0}) == "loaded");
  CHECK_THAT(scan(0, {0}), Contains("expected num_scan_inputs from 1 to 2, found 0"));
  CHECK_THAT(scan(3, {0}), Contains("expected num_scan_inputs from 1 to 2, found 3"));
  CHECK_THAT(scan(1, {0, 1}), Contains("expected 1 integers in attribute 'scan_input_axes'"));
  CHECK_THAT(scan(1, {2}), Contains("expected an axis from -2 to 1, found 2"));
  CHECK_THAT(scan(2, {0, 0}), Contains("expected scanned values with 2 elements, found 3"));

  const auto branches = [](const graph_of& then, const graph_of& other, const char* c = "c") {
    model made({value("x", {2}), truth("c")}, {any("y")});
    made.node("If", {c}, {"y"}, {{"then_branch", then.graph}, {"else_branch", other.graph}});
    return made.failure();
  };
  graph_of same({}, {any("a")}), shorter({}, {any("b")}), none({}, {});
  same.node("Neg", {"x"}, {"a"});
  shorter.node("Unsqueeze", {"x", "axes"}, {"b"});
  shorter.node("Constant", {}, {"axes"}, {{"value_ints", std::vector<std::int64_t>{0}}});
  CHECK(branches(same, same) == "loaded");
  CHECK_THAT(branches(same, shorter), Contains("branches whose output 0 has one type"));
  CHECK_THAT(branches(same, none), Contains("expected 1 outputs of its branch, found 0"));
  CHECK_THAT(branches(same, same, "x"), Contains("condition of one element"));
}

TEST_CASE("onnx_loop: iterations whose values do not fit together are errors of the run") {
  model m({value("x", {1}), whole("n")}, {any("y"), any("all")});
  graph_of body({whole("i"), truth("c"), any("a")}, {any("c"), any("b"), any("part")});
  body.node("Concat", {"a", "x"}, {"b"}, {{"axis", 0}}).node("Identity", {"b"}, {"part"});
  m.node("Loop", {"n", "", "x"}, {"y", "all"}, {{"body", body.graph}});
  CHECK_THROWS_WITH(m.run({{"x", floats({1}, {1})}, {"n", one(std::int64_t{3})}}),
                    Contains("elements in array"));
}

TEST_CASE("onnx_loop: many loops inside of each other are an error") {
  onnx_graph inner = graph_of({whole("i"), truth("c"), any("a")}, {any("c"), any("a")}).graph;
  for (int depth = 0; depth < 40; ++depth) {
    graph_of outer({whole("i"), truth("c"), any("a")}, {any("c"), any("b")});
    outer.node("Loop", {"n", "", "a"}, {"b"}, {{"body", inner}});
    inner = outer.graph;
  }
  model m({value("x", {2}), whole("n")}, {any("y")});
  m.node("Loop", {"n", "", "x"}, {"y"}, {{"body", inner}});
  CHECK(m.failure() != "loaded");
}
