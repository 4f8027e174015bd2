// SPDX-License-Identifier: Apache-2.0
// What the gradient of a gradient operator is written with: operators whose variables have the
// shape of their operand and names of their own.
#include <string>
#include <vector>

#include "layers/spell.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/transform/append_backward.hpp>
#include <lamina/transform/gradient_writer.hpp>
#include <lamina/transform/gradients.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto h = layer::fc<3>(x);
  auto [grad] = layer::gradients(layer::tanh(h), h);
  return layer::mean(grad);
});

/// The lines that begin with `type` and end with the gradients of a trainer, "@GRAD" or "@OF@N".
std::vector<std::string> lines_of(const std::vector<std::string>& all, const std::string& type) {
  std::vector<std::string> found;
  for (const std::string& line : all)
    if (line.rfind(type + ":", 0) == 0) found.push_back(line);
  return found;
}

}  // namespace

TEST_CASE("the gradient of tanh_grad is written as products") {
  const auto lines = spell(lamina::transform::append_backward(net).view());
  // grad = d (1 - v^2), so the gradient of v is -2 v d g.
  const auto products = lines_of(lines, "elementwise_mul");
  REQUIRE(products.size() == 2);
  CHECK(products[0].find("elementwise_mul: X=tanh_0.tmp_0@GRAD_0 Y=fc_0.tmp_1@GRAD_0@GRAD -> "
                         "Out=tanh_0.tmp_0@GRAD_0@GRAD@OF@") == 0);
  CHECK(products[1].find("elementwise_mul: X=tanh_0.tmp_0 Y=tanh_0.tmp_0@GRAD_0@GRAD@OF@") == 0);
  for (const std::string& line : products) CHECK(line.find("[-1,3]") != line.npos);
  const auto scales = lines_of(lines, "scale");
  REQUIRE(!scales.empty());
  CHECK(scales.back().find("Out=tanh_0.tmp_0@GRAD[-1,3] scale=-2") != std::string::npos);
}
