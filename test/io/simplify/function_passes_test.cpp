// SPDX-License-Identifier: Apache-2.0
// Functions that exporters write as several nodes become one operator.
#include "io/simplify/onnx_pattern.hpp"

using lamina::dtype;
using onnx_pattern::dims;
using onnx_pattern::graph;

namespace {

graph numbers(dims x = {-1, 5}, dtype type = dtype::float32) {
  graph g(std::move(x), type);
  g.number("half", 0.5).number("one", 1).number("two", 2).number("three", 3).number("six", 6);
  g.number("zero", 0).number("root", 1.4142135623730951).number("inverse", 0.7071067811865476);
  g.number("cubic", 0.044715).number("slope", 0.7978845608028654).number("beta", 1.702);
  g.number("other", 0.6);
  return g;
}
graph erf_gelu(int form, dtype type = dtype::float32) {
  graph g = numbers({-1, 5}, type);
  if (form % 2 == 0)
    g.add("Div", {"x", "root"}, {"z"});
  else
    g.add("Mul", {"inverse", "x"}, {"z"});
  g.add("Erf", {"z"}, {"e"}).add("Add", {"e", "one"}, {"u"});
  switch (form / 2) {
    case 0:
      g.add("Mul", {"x", "u"}, {"p"}).add("Mul", {"p", "half"}, {"y"});
      break;
    case 1:
      g.add("Mul", {"x", "half"}, {"h"}).add("Mul", {"h", "u"}, {"y"});
      break;
    case 2:
      g.add("Mul", {"half", "u"}, {"p"}).add("Mul", {"p", "x"}, {"y"});
      break;
    default:
      g.add("Mul", {"x", "u"}, {"p"}).add("Div", {"p", "two"}, {"y"});
  }
  return g;
}
graph tanh_gelu(int form) {
  graph g = numbers();
  if (form == 0) g.add("Pow", {"x", "three"}, {"cube"});
  if (form == 1) g.add("Mul", {"x", "x"}, {"square"}).add("Mul", {"square", "x"}, {"cube"});
  if (form < 2) {
    g.add("Mul", {"cube", "cubic"}, {"c"}).add("Add", {"x", "c"}, {"w"});
    g.add("Mul", {"w", "slope"}, {"z"});
  } else {
    g.add("Mul", {"x", "x"}, {"square"}).add("Mul", {"square", "cubic"}, {"c"});
    g.add("Add", {"one", "c"}, {"d"}).add("Mul", {"x", "slope"}, {"s"});
    g.add("Mul", {"s", "d"}, {"z"});
  }
  g.add("Tanh", {"z"}, {"t"}).add("Add", {"one", "t"}, {"u"});
  g.add("Mul", {"x", "half"}, {"h"}).add("Mul", {"h", "u"}, {"y"});
  return g;
}

}  // namespace

TEST_CASE("gelu: the forms by erf become one operator") {
  for (int form = 0; form < 8; ++form) {
    INFO("form " << form);
    const auto found = erf_gelu(form).simplified();
    CHECK(found.count("gelu") == 1);
    CHECK(found.report.operators_after == 1);
  }
  CHECK(erf_gelu(3, dtype::float64).simplified().count("gelu") == 1);
}

TEST_CASE("gelu: the forms by tanh become one operator") {
  for (const int form : {0, 1, 2}) {
    INFO("form " << form);
    const auto found = tanh_gelu(form).simplified();
    CHECK(found.count("gelu") == 1);
    CHECK(found.report.operators_after == 1);
  }
}

TEST_CASE("gelu: other constants, a second reader and another factor are no gelu") {
  graph g = numbers();
  g.add("Mul", {"x", "other"}, {"z"}).add("Erf", {"z"}, {"e"}).add("Add", {"e", "one"}, {"u"});
  g.add("Mul", {"x", "u"}, {"p"}).add("Mul", {"p", "half"}, {"y"});
  CHECK(g.simplified().count("gelu") == 0);
  graph two = numbers();
  two.add("Div", {"x", "root"}, {"z"}).add("Erf", {"z"}, {"e"}).add("Add", {"e", "two"}, {"u"});
  two.add("Mul", {"x", "u"}, {"p"}).add("Mul", {"p", "half"}, {"y"});
  CHECK(two.simplified().count("gelu") == 0);
  for (const char* read : {"e", "u", "z", "p"}) {
    graph again = erf_gelu(0);
    again.add("Sigmoid", {read}, {"more"}).also("more");
    CHECK(again.simplified().count("gelu") == 0);
  }
  graph whole = numbers();  // without the factor 1 / 2
  whole.add("Div", {"x", "root"}, {"z"}).add("Erf", {"z"}, {"e"}).add("Add", {"e", "one"}, {"u"});
  whole.add("Mul", {"x", "u"}, {"y"});
  CHECK(whole.simplified().count("gelu") == 0);
  graph mixed = numbers();  // the product with another value than that of erf
  mixed.add("Tanh", {"x"}, {"v"}).add("Div", {"x", "root"}, {"z"}).add("Erf", {"z"}, {"e"});
  mixed.add("Add", {"e", "one"}, {"u"}).add("Mul", {"v", "u"}, {"p"});
  mixed.add("Mul", {"p", "half"}, {"y"});
  CHECK(mixed.simplified().count("gelu") == 0);
}

TEST_CASE("swish and hard_swish: products of x and a gate of x") {
  graph silu = numbers();
  silu.add("Sigmoid", {"x"}, {"s"}).add("Mul", {"x", "s"}, {"y"});
  CHECK(silu.simplified().count("swish") == 1);
  graph swapped = numbers();
  swapped.add("Mul", {"x", "beta"}, {"b"}).add("Sigmoid", {"b"}, {"s"});
  swapped.add("Mul", {"s", "x"}, {"y"});
  const auto quick = swapped.simplified();
  CHECK(quick.count("swish") == 1);
  CHECK(quick.report.operators_after == 1);

  graph node = numbers();
  node.add("HardSwish", {"x"}, {"y"});
  CHECK(node.simplified().count("hard_swish") == 1);
  graph gate = numbers();
  gate.add("HardSigmoid", {"x"}, {"s"}, {{"alpha", 1.0F / 6}, {"beta", 0.5F}});
  gate.add("Mul", {"x", "s"}, {"y"});
  CHECK(gate.simplified().count("hard_swish") == 1);
  for (const bool last : {false, true}) {
    graph clip = numbers();
    clip.add("Add", {"x", "three"}, {"a"}).add("Clip", {"a", "zero", "six"}, {"c"});
    if (last)
      clip.add("Mul", {"x", "c"}, {"p"}).add("Div", {"p", "six"}, {"y"});
    else
      clip.add("Div", {"c", "six"}, {"s"}).add("Mul", {"s", "x"}, {"y"});
    const auto found = clip.simplified();
    CHECK(found.count("hard_swish") == 1);
    CHECK(found.report.operators_after == 1);
  }
}

TEST_CASE("swish: another value or a second reader of the gate keeps the operators") {
  graph other = numbers();
  other.add("Tanh", {"x"}, {"t"}).add("Sigmoid", {"x"}, {"s"}).add("Mul", {"t", "s"}, {"y"});
  CHECK(other.simplified().count("swish") == 0);
  graph read = numbers();
  read.add("Sigmoid", {"x"}, {"s"}).add("Mul", {"x", "s"}, {"y"}).also("s");
  CHECK(read.simplified().count("swish") == 0);
  graph wide({3, 1});  // the gate is repeated
  wide.counted("more", {3, 4}).add("Add", {"x", "more"}, {"w"}).add("Sigmoid", {"x"}, {"s"});
  wide.add("Mul", {"w", "s"}, {"y"});
  CHECK(wide.simplified().count("swish") == 0);
  graph shifted = numbers();
  shifted.add("Add", {"x", "one"}, {"b"})
      .add("Sigmoid", {"b"}, {"s"})
      .add("Mul", {"x", "s"}, {"y"});
  CHECK(shifted.simplified().count("swish") == 0);
}

TEST_CASE("hard_sigmoid, softplus, logsigmoid, softsign, relu and clip") {
  graph hard = numbers();
  hard.add("Add", {"x", "three"}, {"a"}).add("Clip", {"a", "zero", "six"}, {"c"});
  hard.add("Div", {"c", "six"}, {"y"});
  CHECK(hard.simplified().count("hard_sigmoid") == 1);
  graph wrong = numbers();  // the largest value is not 1
  wrong.add("Add", {"x", "three"}, {"a"}).add("Clip", {"a", "zero", "six"}, {"c"});
  wrong.add("Div", {"c", "three"}, {"y"});
  CHECK(wrong.simplified().count("hard_sigmoid") == 0);
  graph plus = numbers();
  plus.add("Exp", {"x"}, {"e"}).add("Add", {"one", "e"}, {"s"}).add("Log", {"s"}, {"y"});
  CHECK(plus.simplified().count("softplus") == 1);
  graph more = numbers();
  more.add("Exp", {"x"}, {"e"}).add("Add", {"two", "e"}, {"s"}).add("Log", {"s"}, {"y"});
  CHECK(more.simplified().count("softplus") == 0);
  graph log = numbers();
  log.add("Sigmoid", {"x"}, {"s"}).add("Log", {"s"}, {"y"});
  CHECK(log.simplified().count("logsigmoid") == 1);
  graph sign = numbers();
  sign.add("Abs", {"x"}, {"a"}).add("Add", {"a", "one"}, {"s"}).add("Div", {"x", "s"}, {"y"});
  CHECK(sign.simplified().count("softsign") == 1);
  graph relu = numbers();
  relu.add("Max", {"x", "zero"}, {"y"});
  CHECK(relu.simplified().count("relu") == 1);
  for (const bool min_first : {false, true}) {
    graph clip = numbers();
    if (min_first)
      clip.add("Min", {"x", "one"}, {"a"}).add("Max", {"a", "half"}, {"y"});
    else
      clip.add("Max", {"x", "half"}, {"a"}).add("Min", {"a", "one"}, {"y"});
    CHECK(clip.simplified().count("clip") == 1);
    graph empty = numbers();  // the lower bound is above the upper one
    if (min_first)
      empty.add("Min", {"x", "half"}, {"a"}).add("Max", {"a", "one"}, {"y"});
    else
      empty.add("Max", {"x", "one"}, {"a"}).add("Min", {"a", "half"}, {"y"});
    CHECK(empty.simplified().count("clip") == 0);
  }
}

TEST_CASE(
    "arithmetic: numbers become attributes, if they have one element and a float holds them") {
  graph g = numbers();
  g.add("Mul", {"x", "two"}, {"a"})
      .add("Div", {"a", "six"}, {"b"})
      .add("Add", {"b", "three"}, {"c"});
  g.add("Sub", {"one", "c"}, {"y"});
  const auto found = g.simplified();
  CHECK(found.report.operators_after <= 2);
  CHECK(found.model.variables->names().empty());
  graph precise = numbers({-1, 5}, dtype::float64);
  precise.add("Mul", {"x", "other"}, {"y"});
  CHECK(precise.simplified().count("elementwise_mul") == 1);
  graph exact = numbers({-1, 5}, dtype::float64);
  exact.add("Mul", {"x", "half"}, {"a"}).add("Add", {"a", "three"}, {"y"});
  CHECK(exact.simplified().count("scale") == 1);
  // A parameter is trained and loaded by its name.
  graph trained({-1, 5});
  trained.of("gain", {1}, {2}).add("Mul", {"x", "gain"}, {"y"});
  const auto kept = trained.simplified();
  CHECK(kept.count("elementwise_mul") == 1);
  CHECK(kept.model.variables->names() == std::vector<std::string>{"gain"});
  graph list({-1, 5});
  list.of("list", {5}, {2, 2, 2, 2, 2}).add("Mul", {"x", "list"}, {"y"});
  CHECK(list.simplified().count("elementwise_mul") == 1);
  graph grows({3, 1});  // the number has more dimensions than x
  grows.of("number", {1, 1, 1}, {2}).add("Mul", {"x", "number"}, {"y"});
  CHECK(grows.simplified().results[0].shape() == lamina::tensor_shape{1, 3, 1});
  graph centred = numbers();  // (x - 6) / 6 loses no digits
  centred.add("Sub", {"x", "six"}, {"a"}).add("Div", {"a", "six"}, {"y"});
  CHECK(centred.simplified().count("scale") == 2);
}
