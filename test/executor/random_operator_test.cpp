// SPDX-License-Identifier: Apache-2.0
// Operators of a user's own that state that they draw random numbers.
#include <utility>
#include <vector>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/numbers/random.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

namespace {

struct noise : lamina::operator_definition {
  static constexpr const char* type = "noise";
  static constexpr auto inputs = lamina::slots_x;
  static constexpr auto outputs = lamina::slots_out;
};
struct random_noise : noise {
  static constexpr const char* type = "random_noise";
  static constexpr bool random = true;
};

template <class Op>
constexpr auto drawing = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto a = layer::detail::same_shape<Op>(x, "own", "");
  auto b = layer::detail::same_shape<Op>(x, "own", "");
  return layer::concat({a, b});
});

template <class Op>
std::vector<float> drawn() {
  lamina::executor executor;
  lamina::scope scope;
  executor.add_kernel(Op::type, [](lamina::call_context<float>& ctx) {
    auto x = ctx.real("X");
    for (std::size_t i = 0; i < x.size(); ++i)
      x.flat(i) = lamina::random_uniform_at(ctx.options().seed, ctx.ordinal(), i, 0, 1);
    ctx.give("Out", std::move(x));
  });
  const lamina::feed_map feed{
      {"x", lamina::lod_tensor(lamina::tensor({1, 2}, std::vector<float>{0, 0}))}};
  const auto y = executor.run(drawing<Op>.view(), scope, feed).at(0).template as<float>();
  return {y.flat(0), y.flat(1), y.flat(2), y.flat(3)};
}
}  // namespace

TEST_CASE("operators of a user's own that draw random numbers draw each their own") {
  const std::vector<float> own = drawn<random_noise>(), one = drawn<noise>();
  CHECK(own[0] != own[2]);
  CHECK(own[1] != own[3]);
  CHECK(one[0] == one[2]);
  CHECK(one[1] == one[3]);
  CHECK(own[0] == one[0]);
}
