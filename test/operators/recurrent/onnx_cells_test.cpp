// SPDX-License-Identifier: Apache-2.0
// onnx_cells: LSTM, GRU and RNN of ONNX files, against their equations; a number of steps that is
// known only at run time gives the results of a known one. The results of ONNX Runtime are in
// test/interop.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "io/onnx/model_runs.hpp"
#include <catch2/catch.hpp>

using Catch::Contains;
using namespace model_runs;

namespace {

constexpr std::int64_t steps = 4, rows = 3, width = 2, hidden = 2;

tensor counted(const tensor_shape& shape, int first) {
  std::vector<float> all;
  for (std::size_t i = 0; i < lamina::size_of(shape); ++i)
    all.push_back(std::sin(static_cast<float>(first + 3 * static_cast<int>(i))));
  return tensor(shape, all);
}
lamina::onnx_value named(const char* name, std::vector<std::int64_t> dims,
                         const std::vector<const char*>& names, dtype type = dtype::float32) {
  lamina::onnx_value made = value(name, dims, type);
  for (std::size_t d = 0; d < names.size(); ++d)
    if (dims[d] < 0) made.dims[d].name = names[d];
  return made;
}

/// A node of each kind with all inputs, and its results.
struct cell {
  const char* type;
  bool knows_steps;
  std::vector<lamina::onnx_attribute> attributes{};
  std::int64_t directions = 1;
  bool batch_first = false;

  std::vector<lamina::lod_tensor> results() const {
    const std::string kind = type;
    const std::int64_t gates = kind == "LSTM" ? 4 : kind == "GRU" ? 3 : 1;
    const std::int64_t t = knows_steps ? steps : -1, n = knows_steps ? rows : -1;
    const auto of = [](std::int64_t k) { return static_cast<std::size_t>(k); };
    const std::size_t d = of(directions), h = of(hidden), g = of(gates);
    const auto dims = [&](std::int64_t a, std::int64_t b, std::int64_t c) {
      return batch_first ? std::vector{b, a, c} : std::vector{a, b, c};
    };
    std::vector<const char*> outer{"steps", "rows"}, state{"", "rows"};
    if (batch_first)
      std::reverse(outer.begin(), outer.end()), std::reverse(state.begin(), state.end());
    std::vector<lamina::onnx_value> inputs{named("x", dims(t, n, width), outer),
                                           named("l", {n}, {"rows"}, dtype::int32),
                                           named("h", dims(directions, n, hidden), state)},
        outputs{any("y"), any("last")};
    std::vector<std::string> of_node{"x", "w", "r", "b", "l", "h"}, results{"y", "last"};
    if (gates == 4) {
      inputs.push_back(named("c", dims(directions, n, hidden), state));
      outputs.push_back(any("cells"));
      of_node.insert(of_node.end(), {"c", "p"});
      results.push_back("cells");
    }
    model m(inputs, outputs);
    const tensor w = counted({d, g * h, of(width)}, 1), r = counted({d, g * h, h}, 2),
                 b = counted({d, 2 * g * h}, 3), p = counted({d, 3 * h}, 4);
    m.graph.initializers = {{"w", &w}, {"r", &r}, {"b", &b}};
    if (gates == 4) m.graph.initializers.emplace_back("p", &p);
    std::vector<lamina::onnx_attribute> all = attributes;
    all.emplace_back("hidden_size", hidden);
    m.graph.nodes.push_back(onnx_node(type, of_node, results, all));
    CHECK(m.count("while") == (knows_steps ? 0U : d));
    const auto shape = [&](std::int64_t a, std::int64_t k, std::int64_t c) {
      const auto found = dims(a, k, c);
      return tensor_shape(found.begin(), found.end());
    };
    lamina::feed_map feed{{"x", counted(shape(steps, rows, width), 5)},
                          {"l", tensor({3}, std::vector<std::int32_t>{4, 1, 3})},
                          {"h", counted(shape(directions, rows, hidden), 6)}};
    if (gates == 4) feed["c"] = counted(shape(directions, rows, hidden), 7);
    return m.run(feed);
  }
};

void check_same(cell c) {
  c.knows_steps = true;
  const auto known = c.results();
  c.knows_steps = false;
  const auto found = c.results();
  REQUIRE(known.size() == found.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    CAPTURE(c.type, i);
    REQUIRE(known[i].shape() == found[i].shape());
    const std::vector<float> a = numbers(known[i]), b = numbers(found[i]);
    for (std::size_t k = 0; k < a.size(); ++k) CHECK(b[k] == Approx(a[k]).margin(1e-6));
  }
}

}  // namespace

TEST_CASE("onnx_cells: steps that only a run knows give the results of known steps") {
  for (const char* type : {"LSTM", "GRU", "RNN"}) {
    check_same({type, false});
    check_same({type, false, {{"direction", "reverse"}}});
    check_same({type, false, {{"direction", "bidirectional"}}, 2});
    check_same({type, false, {{"layout", 1}}, 1, true});
  }
  check_same({"GRU", false, {{"linear_before_reset", 1}}});
}

TEST_CASE("onnx_cells: an LSTM with peepholes, clip, and functions of its own") {
  // One unit: the weights of i, o, f and c, and the peepholes of i, o and f.
  const float w[] = {0.5f, -1, 2, 1}, r[] = {1, 0.5f, -0.5f, 2}, p[] = {0.25f, -0.5f, 1};
  const tensor of_x({1, 4, 1}, std::vector<float>(w, w + 4)),
      of_h({1, 4, 1}, std::vector<float>(r, r + 4)), of_c({1, 3}, std::vector<float>(p, p + 3));
  for (const bool coupled : {false, true}) {
    model m({named("x", {-1, 1, 1}, {"steps"})}, {any("y")});
    m.graph.initializers = {{"w", &of_x}, {"r", &of_h}, {"p", &of_c}};
    m.node("LSTM", {"x", "w", "r", "", "", "", "", "p"}, {"y"},
           {{"hidden_size", 1},
            {"clip", 0.75f},
            {"input_forget", coupled},
            {"activations", std::vector<std::string>{"HardSigmoid", "ScaledTanh", "affine"}}});
    const std::vector<float> x{1, -2, 0.5f};
    const auto found = numbers(m.run({{"x", floats({3, 1, 1}, x)}})[0]);
    double h = 0, c = 0;
    for (std::size_t t = 0; t < x.size(); ++t) {
      const auto sum = [&](int k) {
        return static_cast<double>(w[k]) * static_cast<double>(x[t]) +
               static_cast<double>(r[k]) * h;
      };
      const auto clipped = [](double a) { return std::clamp(a, -0.75, 0.75); };
      const auto gate = [&](int k, int peephole, double cell) {
        return 0.2 * clipped(sum(k) + static_cast<double>(p[peephole]) * cell) + 0.5;
      };
      const double i = gate(0, 0, c), f = coupled ? 1 - i : gate(2, 2, c);
      c = f * c + i * std::tanh(clipped(sum(3)));
      h = gate(1, 1, c) * c;
      CHECK(static_cast<double>(found[t]) == Approx(h).margin(1e-6));
    }
  }
}

TEST_CASE("onnx_cells: parameters belong to the functions that have them, in their order") {
  const tensor w({1, 3, 1}, std::vector<float>{0, 0, 1}), r({1, 3, 1}, std::vector<float>(3, 0));
  model m({named("x", {-1, 1, 1}, {"steps"})}, {any("y")});
  m.graph.initializers = {{"w", &w}, {"r", &r}};
  m.node("GRU", {"x", "w", "r"}, {"y"},
         {{"hidden_size", 1}, {"activations", std::vector<std::string>{"Affine", "LeakyRelu"}}});
  const auto found = numbers(m.run({{"x", floats({2, 1, 1}, {-1, -1})}})[0]);
  // The update gate is 0 * x + 0, so the state is LeakyRelu(x) with the usual slope.
  CHECK(found == std::vector<float>{-0.01f, -0.01f});
}

TEST_CASE("onnx_cells: many known steps are a loop, too") {
  const tensor w({1, 1, 1}, std::vector<float>{1}), r({1, 1, 1}, std::vector<float>{1});
  model m({value("x", {5000, 1, 1})}, {any("y"), any("last")});
  m.graph.initializers = {{"w", &w}, {"r", &r}};
  m.node("RNN", {"x", "w", "r"}, {"y", "last"},
         {{"activations", std::vector<std::string>{"Relu"}}});
  CHECK(m.count("while") == 1);
  const auto found = m.run({{"x", floats({5000, 1, 1}, std::vector<float>(5000, 1))}});
  CHECK(found[0].shape() == tensor_shape{5000, 1, 1, 1});
  CHECK(numbers(found[1]) == std::vector<float>{5000});
}

TEST_CASE("onnx_cells: nodes that do not fit are errors of the file") {
  const auto failure = [](const tensor_shape& shape, const lamina::onnx_attributes& attributes) {
    const tensor w = tensor::zeros(dtype::float32, shape),
                 r = tensor::zeros(dtype::float32, {1, 1, 1});
    model m({named("x", {-1, 1, 1}, {"steps"})}, {any("y")});
    m.graph.initializers = {{"w", &w}, {"r", &r}};
    m.node("RNN", {"x", "w", "r"}, {"y"}, attributes);
    return m.failure();
  };
  CHECK_THAT(failure({1, 2, 1}, {}), Contains("expected dimensions [1, 1, 1] of input 1, found"));
  CHECK_THAT(failure({1, 1, 1}, {{"direction", "bidirectional"}}),
             Contains("expected dimensions [2, 1, 1] of input 1"));
  CHECK_THAT(failure({1, 1, 1}, {{"direction", "up"}}), Contains("found up"));
  CHECK_THAT(failure({1, 1, 1}, {{"activations", std::vector<std::string>{"Gelu"}}}),
             Contains("for recurrent nodes, found Gelu"));
}
