// SPDX-License-Identifier: Apache-2.0
// Factors and transposes of matrix products become attributes of matmul.
#include "io/simplify/onnx_pattern.hpp"

using lamina::dtype;
using onnx_pattern::dims;
using onnx_pattern::graph;

namespace {

// softmax(x k^T * scale + mask) v, with x [batch, 2, 3, 4]
graph attention(int form, dtype type = dtype::float32) {
  graph g({-1, 2, 3, 4}, type);
  g.number("scale", 0.5).number("two", 2).number("root", 0.70710678118).counted("mask", {3, 3});
  g.counted("w", {4, 4}, 0.2).counted("u", {4, 4}, 0.3);
  g.add("MatMul", {"x", "w"}, {"k"}).add("MatMul", {"x", "u"}, {"v"});
  g.add("Transpose", {"k"}, {"t"}, {{"perm", dims{0, 1, 3, 2}}});
  switch (form) {
    case 0:  // after the product, as Mul or as Div
      g.add("MatMul", {"x", "t"}, {"p"}).add("Mul", {"p", "scale"}, {"s"});
      break;
    case 1:
      g.add("MatMul", {"x", "t"}, {"p"}).add("Div", {"p", "two"}, {"s"});
      break;
    case 2:  // before it, on one side or on both
      g.add("Mul", {"x", "scale"}, {"q"}).add("MatMul", {"q", "t"}, {"s"});
      break;
    default:
      g.add("Mul", {"x", "root"}, {"q"}).add("Mul", {"t", "root"}, {"r"});
      g.add("MatMul", {"q", "r"}, {"s"});
  }
  g.add("Add", {"s", "mask"}, {"masked"});
  g.add("Softmax", {"masked"}, {"weights"}, {{"axis", std::int64_t{-1}}});
  g.add("MatMul", {"weights", "v"}, {"y"});
  return g;
}

}  // namespace

TEST_CASE("products: attention has its scores in one operator") {
  for (const int form : {0, 1, 2, 3}) {
    INFO("form " << form);
    const auto found = attention(form).simplified();
    CHECK(found.report.operators_after == 6);  // k, v, scores, mask, softmax, average
    CHECK(found.count("transpose2") == 0);
    CHECK(found.count("scale") == 0);
  }
  CHECK(attention(0, dtype::float64).simplified().report.operators_after == 6);
  // In double, 0.7071... has no float.
  CHECK(attention(3, dtype::float64).simplified().report.operators_after == 9);
}

TEST_CASE("products: what another operator reads, sums and other orders stay") {
  graph read = attention(0);
  read.also("p");
  CHECK(read.simplified().count("scale") == 1);
  graph turned = attention(0);
  turned.also("t");
  CHECK(turned.simplified().count("transpose2") == 1);
  graph sum({-1, 4});
  sum.counted("w", {4, 4}).number("two", 2).add("Add", {"x", "two"}, {"a"});
  sum.add("MatMul", {"a", "w"}, {"p"}).add("Add", {"p", "two"}, {"y"});
  CHECK(sum.simplified().report.operators_after == 3);
  graph heads({2, 3, 3, 3});  // not the last two dimensions
  heads.add("Transpose", {"x"}, {"t"}, {{"perm", dims{0, 2, 1, 3}}})
      .add("MatMul", {"x", "t"}, {"y"});
  CHECK(heads.simplified().count("transpose2") == 1);
}

TEST_CASE("products: transposes of both operands, twice, and of matrices of two dimensions") {
  graph g({3, 4});
  g.add("Transpose", {"x"}, {"t"}).add("MatMul", {"t", "x"}, {"y"});
  CHECK(g.simplified().report.operators_after == 1);
  graph both({3, 3});
  both.add("Transpose", {"x"}, {"t"}).add("Tanh", {"x"}, {"h"}).add("Transpose", {"h"}, {"u"});
  both.add("MatMul", {"t", "u"}, {"y"});
  CHECK(both.simplified().count("transpose2") == 0);
  graph gemm({3, 4});
  gemm.counted("w", {5, 4}).counted("b", {5});
  gemm.add("Gemm", {"x", "w", "b"}, {"y"},
           {{"transB", std::int64_t{1}}, {"alpha", 0.5F}, {"beta", 2.0F}});
  CHECK(gemm.simplified().report.operators_after == 2);
}
