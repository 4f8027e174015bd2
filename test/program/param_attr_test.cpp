// SPDX-License-Identifier: Apache-2.0
// Parameters by name: attributes, and layers that share one.
#include <string>

#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/program/param_attr.hpp>
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

const lamina::parameter_desc* parameter(const lamina::program_view& p, const std::string& name) {
  const int v = find(p, name);
  return v < 0 || p.variables[v].index < 0 ? nullptr : &p.parameters[p.variables[v].index];
}

}  // namespace

TEST_CASE("a ParamAttr is recorded whole") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 4>(main);
    return layer::fc<2>(x, {.param = {.name = "w",
                                      .initializer = lamina::init::normal(0.5f, 2, 7),
                                      .learning_rate = 0.5f,
                                      .regularizer = lamina::l2_decay(0.25f),
                                      .trainable = false,
                                      .gradient_clip = lamina::clip_by_value(-1, 3)},
                            .bias_param = {.initializer = lamina::init::constant(4)}});
  });
  const auto p = net.view();
  const auto* w = parameter(p, "w");
  REQUIRE(w != nullptr);
  CHECK(w->learning_rate == 0.5f);
  CHECK(w->regularizer == lamina::regularizer_kind::l2);
  CHECK(w->regularizer_coefficient == 0.25f);
  CHECK(w->clip == lamina::clip_kind::value);
  CHECK(w->clip_low == -1);
  CHECK(w->clip_high == 3);
  CHECK_FALSE(w->trainable);
  CHECK(p.variables[w->variable].stop_gradient);
  CHECK(p.variables[w->variable].persistable);
  const auto* bias = parameter(p, "fc_0.b_0");
  REQUIRE(bias != nullptr);
  CHECK(bias->trainable);
  CHECK(bias->learning_rate == 1);
  REQUIRE(p.count.startup == 2);
  CHECK(std::string(p.startup[0].schema->type) == "gaussian_random");
  const auto* a = p.attributes + p.startup[0].attributes;
  CHECK(p.integers[a[0].offset] == 4);
  CHECK(p.integers[a[0].offset + 1] == 2);
  CHECK(a[1].number == 5);
  CHECK(a[2].number == 0.5);
  CHECK(a[3].number == 2);
  CHECK(a[4].number == 7);
  CHECK(std::string(p.startup[1].schema->type) == "fill_constant");
  CHECK(p.attributes[p.startup[1].attributes + 2].number == 4);
}

TEST_CASE("layers that name one parameter share it and initialise it once") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto a = layer::data<"a", float, 8>(main);
    auto b = layer::data<"b", float, 8>(main);
    const layer::fc_attr shared{.param = {.name = "projection"}, .bias = false};
    return layer::cos_sim(layer::fc<4>(a, shared), layer::fc<4>(b, shared));
  });
  const auto p = net.view();
  CHECK(p.count.parameters == 1);
  CHECK(p.count.startup == 1);
  CHECK(net.parameter_count() == 32);
  int uses = 0;
  for (int i = 0; i < p.count.operators; ++i)
    if (std::string(p.operators[i].schema->type) == "mul" &&
        p.arguments[p.operators[i].inputs + 1] == p.parameters[0].variable)
      ++uses;
  CHECK(uses == 2);
}
