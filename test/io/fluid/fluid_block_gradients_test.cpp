// SPDX-License-Identifier: Apache-2.0
// The gradients of loops and branches in files: PaddlePaddle knows all operators and finds the
// forward operator of each, and the executor computes from the file what it does without.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>
#include <executor/shared_executor.hpp>

#include <lamina/io/fluid/fluid_block_gradients.hpp>
#include <lamina/io/fluid/to_program_message.hpp>
#include <lamina/io/loaded_program.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/transform/append_backward.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::operator_message;
using lamina::program_message;

namespace {

constexpr auto looped = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto h = layer::scale(x, 1);
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto n = layer::fill_constant<std::int64_t>(main, 3);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](block&) {
    h = layer::tanh(layer::fc<3>(h));
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  return layer::mean(layer::square(h));
});

constexpr auto branched = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto first = layer::slice<layer::along<1, 0, 1>>(x);
  return layer::mean(layer::square(layer::if_else(
      layer::greater_than(first, layer::scale(first, 0)),
      [&](auto& yes) { return layer::fc<2>(yes.input(x)); },
      [&](auto& no) { return layer::tanh(layer::fc<2>(no.input(x))); })));
});

constexpr auto recurrent = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto start = layer::tanh(layer::data<"start", float, 4>(main));
  auto out = layer::dynamic_rnn(x, [&](auto& step) {
    auto h = step.memory(start);
    auto next = layer::tanh(layer::fc<4>(std::tuple{step.input(x), h}));
    step.update(h, next);
    return next;
  });
  return layer::mean(layer::square(layer::sequence_pool(out)));
});

/// A recurrence with branches in a loop.
constexpr auto nested = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto y = x;
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto n = layer::fill_constant<std::int64_t>(main, 2);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](block&) {
    y = layer::dynamic_rnn(y, [&](auto& step) {
      auto h = step.memory(lamina::dims<3>, {.value = 0.3f});
      auto in = step.input(y);
      auto sum = layer::reduce_sum<1>(in, layer::keep_dim);
      auto chosen = layer::if_else(
          layer::greater_than(sum, layer::scale(sum, 0)),
          [&](auto& yes) { return layer::fc<3>(yes.input(in)); },
          [&](auto& no) { return layer::sin(no.input(h)); });
      auto next = layer::tanh(chosen + h) + in;
      step.update(h, next);
      return next;
    });
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  return layer::mean(layer::square(layer::sequence_pool(y)));
});

std::vector<const operator_message*> all_of(const program_message& p, const std::string& type) {
  std::vector<const operator_message*> found;
  for (const lamina::block_message& b : p.blocks)
    for (const operator_message& op : b.operators)
      if (op.type == type) found.push_back(&op);
  return found;
}

double at(const lamina::lod_tensor& t, std::size_t k) {
  return static_cast<double>(t.as<float>().flat(k));
}

/// Whether gradients computed from the written and read program are those of the recorded one.
template <class P>
void check_read(P program, const lamina::feed_map& feed, const std::vector<std::string>& names) {
  constexpr auto back = decltype(lamina::transform::append_backward_to_data(program)){};
  const lamina::loaded_program read(lamina::to_program_message(back), "again");
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(program.view(), scope, 3);
  const auto expected = executor.run(back.view(), scope, feed, names);
  const auto found = executor.run(read.view(), scope, feed, names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    INFO(names[i]);
    REQUIRE(found[i].shape() == expected[i].shape());
    double largest = 0;
    for (std::size_t k = 0; k < found[i].size(); ++k) {
      CHECK(at(found[i], k) == at(expected[i], k));
      largest = std::max(largest, std::abs(at(expected[i], k)));
    }
    CHECK(largest > 0);
  }
}

const std::vector<float> numbers{1, -2, 0.5f, -1, 2, 3, 0.25f, -0.5f, 1};

}  // namespace

TEST_CASE("the gradient of a loop has the arguments of the loop, and adds up nothing itself") {
  const program_message p =
      lamina::to_program_message(decltype(lamina::transform::append_backward_to_data(looped)){});
  const auto loops = all_of(p, "while"), gradients = all_of(p, "while_grad");
  REQUIRE(loops.size() == 1);
  REQUIRE(gradients.size() == 1);
  const operator_message& g = *gradients[0];
  CHECK(g.input("X") == loops[0]->input("X"));
  CHECK(g.input("Out") == loops[0]->output("Out"));
  CHECK(g.output("X@GRAD") == std::vector<std::string>(g.input("X").size(), "@EMPTY@"));
  CHECK(g.input("Out@GRAD").empty());
  REQUIRE(g.attribute("original_output_grad") != nullptr);
  CHECK(g.attribute("original_output_grad")->texts.empty());
  REQUIRE(g.attribute("is_test") != nullptr);
  const auto& written = g.output("InPlace@GRAD");
  for (const char* name : {"fc_0.w_0@GRAD", "fc_0.b_0@GRAD", "while_0.tmp_0@GRAD"})
    CHECK(std::count(written.begin(), written.end(), name) == 1);
  check_read(looped, {{"x", lamina::tensor({3, 3}, numbers)}},
             {"x@GRAD", "fc_0.w_0@GRAD", "fc_0.b_0@GRAD"});
}

TEST_CASE("both sides of a merge are given where only one has a gradient") {
  const program_message p =
      lamina::to_program_message(decltype(lamina::transform::append_backward_to_data(branched)){});
  const auto merges = all_of(p, "merge_lod_tensor");
  REQUIRE(merges.size() == 3);
  for (const operator_message* m : merges) {
    CHECK(m->input("InTrue").size() == 1);
    CHECK(m->input("InFalse").size() == 1);
  }
  for (const operator_message* g : all_of(p, "conditional_block_grad"))
    CHECK(g->output("Input@GRAD") == std::vector<std::string>(g->input("Input").size(), "@EMPTY@"));
  check_read(branched, {{"x", lamina::tensor({3, 3}, numbers)}},
             {"x@GRAD", "fc_0.w_0@GRAD", "fc_1.w_0@GRAD"});
}

TEST_CASE("gradients of the arrays of a dynamic_rnn are reads and writes") {
  const program_message p =
      lamina::to_program_message(decltype(lamina::transform::append_backward_to_data(recurrent)){});
  CHECK(all_of(p, "read_from_array_grad").empty());
  CHECK(all_of(p, "write_to_array_grad").empty());
  check_read(recurrent,
             {{"x", lamina::sequences<std::array<float, 3>>(
                        {{{1, -1, 2}}, {}, {{0, 1, 2}, {3, 1, -1}, {1, 1, 1}}})},
              {"start", lamina::tensor(
                            {3, 4}, std::vector<float>{1, -1, 2, 0.5f, 0, 1, 1, 2, -1, -2, 0, 3})}},
             {"x@GRAD", "start@GRAD", "fc_0.w_0@GRAD", "fc_0.w_1@GRAD"});
  // No sequence has an element, so the loop runs no step.
  const program_message again = p;
  const lamina::loaded_program read(again, "again");
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(recurrent.view(), scope, 3);
  const auto empty = executor.run(read.view(), scope,
                                  {{"x", lamina::sequences<std::array<float, 3>>({{}, {}})},
                                   {"start", lamina::tensor({2, 4}, std::vector<float>(8, 1))}},
                                  {"start@GRAD"});
  for (std::size_t k = 0; k < 8; ++k) CHECK(at(empty[0], k) == 0);
}

TEST_CASE("gradients of a recurrence with branches in a loop are computed from the file") {
  const program_message p =
      lamina::to_program_message(decltype(lamina::transform::append_backward_to_data(nested)){});
  for (const operator_message* m : all_of(p, "merge_lod_tensor")) {
    CHECK(m->input("InTrue").size() == 1);
    CHECK(m->input("InFalse").size() == 1);
  }
  CHECK(all_of(p, "read_from_array_grad").empty());
  CHECK(all_of(p, "write_to_array_grad").empty());
  check_read(nested,
             {{"x", lamina::sequences<std::array<float, 3>>(
                        {{{1, -1, 2}}, {}, {{0, -1, -2}, {3, 1, -1}, {1, -1, -1}}})}},
             {"x@GRAD", "fc_0.w_0@GRAD"});
}
