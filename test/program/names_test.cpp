// SPDX-License-Identifier: Apache-2.0
// Names of variables: the rules of Fluid.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/program/names.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

namespace {

std::string name_in(const lamina::program_view& p, int variable) {
  std::string text(static_cast<std::size_t>(lamina::name_length(p, variable)), ' ');
  lamina::name_writer w{text.data()};
  lamina::write_name(p, variable, w);
  return text;
}

std::vector<std::string> names(const lamina::program_view& p) {
  std::vector<std::string> all;
  for (int i = 0; i < p.count.variables; ++i) all.push_back(name_in(p, i));
  return all;
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

TEST_CASE("names of layers, of parameters and of neither, in order of creation") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto ids = layer::data<"ids", std::int64_t>(main);
    auto rows = layer::embedding<30, 24>(ids);
    auto ranked = layer::fc<2>(rows, {.param = {.name = "order"}, .name = "rank"});
    auto deep = layer::fc<2>(layer::fc<5>(rows));
    layer::print(deep);
    auto twice = layer::fc<2>(rows, {.param = {.name = "order"}, .name = "rank"});
    layer::print(rows);
    return std::tuple{ranked, twice};
  });
  CHECK(names(net.view()) ==
        std::vector<std::string>{
            "ids",        "embedding_0.w_0", "embedding_0.tmp_0", "order",
            "rank.tmp_0", "rank.b_0",        "rank.tmp_1",        "fc_0.w_0",
            "fc_0.tmp_0", "fc_0.b_0",        "fc_0.tmp_1",        "fc_1.w_0",
            "fc_1.tmp_0", "fc_1.b_0",        "fc_1.tmp_1",        "print_0.tmp_0",
            "rank.tmp_2", "rank.b_1",        "rank.tmp_3",        "print_1.tmp_0"});
  CHECK(net.parameter_count() == 30 * 24 + (24 * 2 + 2) + (24 * 5 + 5) + (5 * 2 + 2) + 2);
  CHECK(net.view().count.startup == 8);
}

TEST_CASE("layers are numbered by kind, and their outputs by layer") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 4>(main);
    auto y = layer::data<"y", float, 4>(main);
    auto label = layer::data<"label", std::int64_t>(main);
    auto both = layer::fc<3>({x, y}, {.act = lamina::activation::relu});
    auto sum = x + y * 2;
    layer::square_error_cost(sum, y);
    layer::accuracy(both, label);
    return layer::reduce_sum(layer::elementwise_mul(x, -y));
  });
  CHECK(names(net.view()) == std::vector<std::string>{"x",
                                                      "y",
                                                      "label",
                                                      "fc_0.w_0",
                                                      "fc_0.tmp_0",
                                                      "fc_0.w_1",
                                                      "fc_0.tmp_1",
                                                      "fc_0.tmp_2",
                                                      "fc_0.b_0",
                                                      "fc_0.tmp_3",
                                                      "fc_0.tmp_4",
                                                      "tmp_0",
                                                      "tmp_1",
                                                      "square_error_cost_0.tmp_0",
                                                      "square_error_cost_0.tmp_1",
                                                      "top_k_0.tmp_0",
                                                      "top_k_0.tmp_1",
                                                      "accuracy_0.tmp_0",
                                                      "accuracy_0.tmp_1",
                                                      "accuracy_0.tmp_2",
                                                      "tmp_2",
                                                      "elementwise_mul_0.tmp_0",
                                                      "reduce_sum_0.tmp_0"});
}

TEST_CASE("a parameter is shared by the name that was made for it, too") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto h = layer::fc<8>(layer::data<"a", float, 8>(main), {.name = "mine"});
    h = layer::fc<8>(h, {.param = {.name = "mine.w_0"}});
    return layer::fc<8>(h, {.param = {.name = "mine.w_0"}, .bias_param = {.name = "fc_0.b_0"}});
  });
  CHECK(net.parameter_count() == 64 + 8 + 8);
  CHECK(net.view().count.startup == 3);
}

TEST_CASE("statistics of auc are persistable and no parameters") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 2>(main);
    auto label = layer::data<"label", std::int64_t>(main);
    return layer::auc(x, label, {.num_thresholds = 99});
  });
  const auto p = net.view();
  CHECK(names(p) == std::vector<std::string>{"x", "label", "auc_0.tmp_0", "_generated_var_0",
                                             "_generated_var_1"});
  CHECK(p.count.parameters == 0);
  CHECK(p.count.startup == 2);
  for (int v : {3, 4}) {
    CHECK(p.variables[v].persistable);
    CHECK(p.variables[v].stop_gradient);
    CHECK(p.variables[v].type == lamina::dtype::int64);
    CHECK(p.variables[v].rank == 1);
    CHECK(p.dims[p.variables[v].dims] == 100);
  }
  const auto& op = p.operators[p.count.operators - 1];
  CHECK(p.arguments[op.inputs + 2] == 3);
  CHECK(p.arguments[op.outputs + 1] == 3);
  CHECK(p.arguments[op.outputs + 2] == 4);
}

namespace {

/// "block_000_w", "block_001_w", ...
constexpr int many = 300;

struct many_names {
  char of[many][12];
};

constexpr many_names names_ending(char last) {
  many_names n{};
  for (int i = 0; i < many; ++i) {
    const char text[] = {'b',
                         'l',
                         'o',
                         'c',
                         'k',
                         '_',
                         static_cast<char>('0' + i / 100),
                         static_cast<char>('0' + i / 10 % 10),
                         static_cast<char>('0' + i % 10),
                         '_',
                         last};
    for (int k = 0; k < 11; ++k) n.of[i][k] = text[k];
  }
  return n;
}

constexpr many_names weights = names_ending('w'), biases = names_ending('b');

}  // namespace

TEST_CASE("hundreds of parameters with names of their own, shared in a body that is read twice") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 2>(main);
    for (int i = 0; i < many; ++i)
      x = layer::fc<2>(x, {.param = {.name = std::string_view(weights.of[i])},
                           .bias_param = {.name = std::string_view(biases.of[i])}});
    auto i = layer::fill_constant<std::int64_t>(main, 0);
    auto n = layer::fill_constant<std::int64_t>(main, 2);
    auto going = layer::less_than(i, n);
    layer::while_loop(going, [&](lamina::block&) {
      x = layer::fc<2>(x, {.param = {.name = "of_body"}, .bias_param = {.name = "block_007_b"}});
      x = layer::fc<2>(x, {.param = {.name = "of_body"}, .bias = false});
      layer::increment(i);
      layer::less_than(i, n, going);
    });
    return layer::fc<2>(x, {.param = {.name = "of_body"}, .bias = false});
  });
  const auto p = net.view();
  CHECK(p.count.parameters == 2 * many + 1);
  CHECK(find(p, "block_299_b") >= 0);
  CHECK(parameter(p, "of_body") != nullptr);
}
