// SPDX-License-Identifier: Apache-2.0
// layer_norm and rms_norm of exporters become one operator, and what only looks like them does not.
#include "io/simplify/onnx_pattern.hpp"

using lamina::dtype;
using onnx_pattern::dims;
using onnx_pattern::graph;

namespace {

struct form {
  dims x{2, 3, 8};
  std::vector<std::int64_t> axes{-1}, second_axes{-1};
  bool keep = true, own_difference = false, multiplied_square = false, by_reciprocal = false;
  bool scaled = true, biased = true;
  double epsilon = 0.01;
  dims scale{8};
  bool scale_first = false;
  dtype type = dtype::float32;
};

// (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * scale + bias
graph norm(const form& f) {
  graph g(f.x, f.type);
  const std::int64_t keep = f.keep ? 1 : 0;
  g.number("two", 2).number("epsilon", f.epsilon);
  g.add("ReduceMean", {"x"}, {"mean"}, {{"axes", f.axes}, {"keepdims", keep}});
  g.add("Sub", {"x", "mean"}, {"off"});
  if (f.own_difference) g.add("Sub", {"x", "mean"}, {"off_2"});
  const std::string off = f.own_difference ? "off_2" : "off";
  if (f.multiplied_square)
    g.add("Mul", {off, off}, {"square"});
  else
    g.add("Pow", {off, "two"}, {"square"});
  g.add("ReduceMean", {"square"}, {"variance"}, {{"axes", f.second_axes}, {"keepdims", keep}});
  g.add("Add", {"variance", "epsilon"}, {"sum"}).add("Sqrt", {"sum"}, {"root"});
  std::string y = !f.scaled && !f.biased ? "y" : "normal";
  if (f.by_reciprocal)
    g.add("Reciprocal", {"root"}, {"inverse"}).add("Mul", {"off", "inverse"}, {y});
  else
    g.add("Div", {"off", "root"}, {y});
  if (f.scaled) {
    g.counted("scale", f.scale, 0.5, 1.25);
    const std::string to = f.biased ? "scaled" : "y";
    if (f.scale_first)
      g.add("Mul", {"scale", y}, {to});
    else
      g.add("Mul", {y, "scale"}, {to});
    y = to;
  }
  if (f.biased) g.counted("bias", f.scale, 0.3).add("Add", {y, "bias"}, {"y"});
  return g;
}

graph rms(int variant, dims scale = {8}) {
  graph g({2, 3, 8});
  g.number("two", 2).number("epsilon", 0.01).number("one", 1).counted("scale", std::move(scale));
  g.add("Pow", {"x", "two"}, {"square"});
  g.add("ReduceMean", {"square"}, {"mean"}, {{"axes", dims{-1}}, {"keepdims", std::int64_t{1}}});
  g.add("Add", {"mean", "epsilon"}, {"sum"}).add("Sqrt", {"sum"}, {"root"});
  if (variant == 0) g.add("Reciprocal", {"root"}, {"inverse"});
  if (variant == 1) g.add("Div", {"one", "root"}, {"inverse"});
  if (variant == 2)
    g.add("Div", {"x", "root"}, {"normal"});
  else
    g.add("Mul", {"x", "inverse"}, {"normal"});
  g.add("Mul", {"normal", "scale"}, {"y"});
  return g;
}

}  // namespace

TEST_CASE("layer_norm: the forms of exporters become one operator") {
  std::vector<form> forms(11);
  forms[1].own_difference = true;
  forms[2].multiplied_square = true;
  forms[3].by_reciprocal = true;
  forms[4].scaled = false;
  forms[5].biased = false;
  forms[6].scaled = forms[6].biased = false;
  forms[7].x = {-1, 3, 8};
  forms[8].axes = forms[8].second_axes = {1, 2};
  forms[8].scale = {3, 8};
  forms[9].scale_first = true;
  forms[10].x = {-1, -1, 8};
  for (std::size_t i = 0; i < forms.size(); ++i) {
    INFO("form " << i);
    // Two unknown dimensions cannot be fed with two rows each, so x has two in both.
    const auto found = norm(forms[i]).simplified();
    CHECK(found.count("layer_norm") == 1);
    CHECK(found.report.applied("layer_norm") == 1);
    CHECK(found.report.operators_after == 1);
  }
}

TEST_CASE("layer_norm: in double, if a float holds epsilon") {
  form f;
  f.type = dtype::float64;
  f.epsilon = 0.0078125;
  CHECK(norm(f).simplified().count("layer_norm") == 1);
  f.epsilon = 0.01;
  CHECK(norm(f).simplified().count("layer_norm") == 0);
}

TEST_CASE("layer_norm: a scale that is no list of the normalised elements is a product after it") {
  for (const dims& scale : {dims{3, 1}, dims{3, 8}, dims{1}, dims{2, 3, 8}}) {
    form f;
    f.scale = scale;
    const auto found = norm(f).simplified();
    CHECK(found.count("layer_norm") == 1);
    CHECK(found.report.operators_after >= 2);
  }
  form wide;  // the product has more elements than x
  wide.x = {2, 3, 1};
  wide.scale = {2};
  CHECK(norm(wide).simplified().report.operators_after > 1);
  form listed;  // a list with further dimensions of extent 1
  listed.scale = {1, 1, 8};
  CHECK(norm(listed).simplified().report.operators_after == 1);
}

TEST_CASE("layer_norm: what only looks like one is left alone") {
  std::vector<form> forms(7);
  forms[0].second_axes = {1};                  // means along another dimension
  forms[1].axes = forms[1].second_axes = {1};  // not the last dimensions
  forms[2].axes = {-1};
  forms[2].second_axes = {1, 2};
  forms[3].x = {8, 8, 8};  // without kept dimensions, means align with other elements
  forms[3].keep = false;
  forms[4].epsilon = 0;  // equal elements are 0 / 0
  forms[5].epsilon = -1e-3;
  forms[6].x = {8};  // all dimensions are normalised: there are no rows
  for (std::size_t i = 0; i < forms.size(); ++i) {
    INFO("form " << i);
    CHECK(norm(forms[i]).simplified().count("layer_norm") == 0);
  }
}

TEST_CASE("layer_norm: a value that another operator reads or the graph returns is kept") {
  for (const char* read : {"off", "variance", "root", "mean"}) {
    INFO(read);
    graph g = norm({});
    g.add("Tanh", {read}, {"more"}).also("more");
    CHECK(g.simplified().count("layer_norm") == 0);
    graph returned = norm({});
    returned.also(read);
    CHECK(returned.simplified().count("layer_norm") == 0);
  }
  // The product with the scale stays if the value before it is read, too.
  graph g = norm({});
  g.also("normal");
  const auto found = g.simplified();
  CHECK(found.count("layer_norm") == 1);
  CHECK(found.count("elementwise_mul") == 1);
}

TEST_CASE("rms_norm: its forms become the operators that layer::rms_norm records") {
  for (const int variant : {0, 1, 2}) {
    const auto found = rms(variant).simplified();
    CHECK(found.count("elementwise_div") == 1);
    CHECK(found.count("sqrt") == 1);
    CHECK(found.count("reciprocal") == 0);
    CHECK(found.count("square") == 1);
    CHECK(found.count("scale") == 1);
    CHECK(found.report.applied("rms_norm") == (variant == 2 ? 0 : 1));
  }
  CHECK(rms(0, {3, 1}).simplified().report.applied("rms_norm") == 1);
  graph read = rms(0);
  read.add("Tanh", {"inverse"}, {"more"}).also("more");
  CHECK(read.simplified().report.applied("rms_norm") == 0);
}
