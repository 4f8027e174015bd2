// SPDX-License-Identifier: Apache-2.0
// Frozen parameters get no gradients, and those that are not frozen keep theirs.
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/program/variable_name.hpp>
#include <lamina/transform/append_backward.hpp>
#include <lamina/transform/freeze.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto h = layer::fc<4>(x, {.name = "block_1"});
  h = layer::fc<4>(h, {.name = "block_10"});
  return layer::mean(layer::fc<1>(h, {.param = {.name = "own"}, .name = "output"}));
});

/// The parameters with a gradient.
template <class P>
std::set<std::string> learnt(P program) {
  constexpr auto back = decltype(lamina::transform::append_backward(program)){};
  const lamina::program_view p = back.view();
  std::set<std::string> found;
  for (int v = 0; v < p.count.variables; ++v)
    if (p.variables[v].kind == lamina::variable_kind::gradient &&
        p.variables[p.variables[v].of].kind == lamina::variable_kind::parameter)
      found.insert(lamina::variable_name(p, p.variables[v].of));
  return found;
}

}  // namespace

TEST_CASE("frozen parameters have no gradients") {
  using lamina::transform::freeze;
  using lamina::transform::freeze_except;
  const std::set<std::string> first{"block_1.w_0", "block_1.b_0"},
      second{"block_10.w_0", "block_10.b_0"}, last{"own", "output.b_0"};
  const auto joined = [](std::set<std::string> a, const std::set<std::string>& b) {
    a.insert(b.begin(), b.end());
    return a;
  };
  CHECK(learnt(net) == joined(joined(first, second), last));
  CHECK(learnt(freeze<"block_1">(net)) == joined(second, last));
  CHECK(learnt(freeze<"block">(net)) == last);
  CHECK(learnt(freeze<"own">(net)) == joined(joined(first, second), {"output.b_0"}));
  CHECK(learnt(freeze_except<"block_10">(net)) == second);
  CHECK(learnt(freeze_except<"block_1", "own">(net)) == joined(first, {"own"}));
}
