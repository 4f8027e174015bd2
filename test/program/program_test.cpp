// SPDX-License-Identifier: Apache-2.0
// Functions, loops and templates record as they run.
#include <cstdint>
#include <string>

#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

namespace {

std::string name_in(const lamina::program_view& p, int variable) {
  std::string text(static_cast<std::size_t>(lamina::name_length(p, variable)), ' ');
  lamina::name_writer w{text.data()};
  lamina::write_name(p, variable, w);
  return text;
}

int find(const lamina::program_view& p, const std::string& name) {
  for (int i = 0; i < p.count.variables; ++i)
    if (name_in(p, i) == name) return i;
  return -1;
}

template <int Width, class V>
constexpr auto block_of(V x, std::string_view name) {
  return layer::fc<Width>(x, {.act = lamina::activation::tanh, .name = name});
}

constexpr auto deep(lamina::block& main) {
  auto h = layer::data<"x", float, 16>(main);
  for (int i = 0; i < 5; ++i) h = h + block_of<16>(h, i == 2 ? "middle" : "");
  return layer::fc<1>(h);
}

}  // namespace

TEST_CASE("functions, loops and templates record as they run") {
  constexpr auto net = lamina::program([](lamina::block& main) { return deep(main); });
  const auto p = net.view();
  CHECK(p.count.parameters == 12);
  CHECK(net.parameter_count() == 5 * (16 * 16 + 16) + 17);
  CHECK(find(p, "fc_4.w_0") >= 0);
  CHECK(find(p, "fc_5.w_0") < 0);
  CHECK(find(p, "middle.w_0") >= 0);
  CHECK(find(p, "tmp_4") >= 0);
  CHECK(p.cost == find(p, "fc_4.tmp_1"));
}

namespace {

constexpr auto scores_of = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 16>(main);
  return layer::fc<4>(x, {.act = lamina::activation::tanh, .name = "scores"});
});

constexpr auto trained = lamina::program([](lamina::block& main) {
  auto scores = scores_of(main);
  auto label = layer::data<"label", std::int64_t>(main);
  return layer::mean(layer::softmax_with_cross_entropy(scores, label));
});

}  // namespace

TEST_CASE("a program records its layers into another program") {
  const lamina::program_view alone = scores_of.view(), all = trained.view();
  REQUIRE(all.count.operators > alone.count.operators);
  for (int i = 0; i < alone.count.operators; ++i)
    CHECK(all.operators[i].schema == alone.operators[i].schema);
  for (int i = 0; i < alone.count.variables; ++i) {
    CAPTURE(name_in(alone, i));
    CHECK(name_in(all, i) == name_in(alone, i));
  }
  CHECK(scores_of.parameter_count() == trained.parameter_count());
  CHECK(find(all, "label") >= alone.count.variables);
}
