// SPDX-License-Identifier: Apache-2.0
// Branches on the engine: rows and whole sequences split by a mask and merged, one of two results,
// against the executor, gradients included. test/executor/if_else_test.cpp has loops with branches.
#include "laws/engine_law.hpp"
#include "laws/recorded_pieces.hpp"

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/block/layer_conditional.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/operators/control/split_merge/layer.hpp>

namespace layer = lamina::layer;
using lamina::block;
using pieces::cost_of;
using pieces::pooled;
using pieces::positive;

namespace {

constexpr auto two_nets = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto key = layer::data<"key", float>(main);
  auto id = layer::data<"id", std::int64_t>(main);
  auto h = layer::tanh(layer::fc<4>(x));
  auto [y, z, ids] = layer::if_else(
      positive(key),
      [&](auto& yes) {
        auto in = yes.input(h);
        return std::tuple{layer::fc<2>(in), in * in, yes.input(id)};
      },
      [&](auto& no) {
        auto in = no.input(h);
        auto one = no.input(id);
        return std::tuple{layer::tanh(layer::fc<2>(no.input(x))), layer::sin(in), one + one};
      });
  return std::tuple{cost_of(y) + cost_of(z * h), y, z, ids};
});

constexpr auto of_sequences = lamina::program([](block& main) {
  auto x = layer::nested_sequence<"x", float, 3>(main);
  auto key = layer::data<"key", float>(main);
  auto h = layer::fc<3>(x);
  auto y = layer::if_else(
      positive(key), [&](auto& yes) { return layer::tanh(layer::fc<5>(yes.input(h))); },
      [&](auto& no) { return layer::square(layer::fc<5>(layer::sequence_reverse(no.input(h)))); });
  return std::tuple{cost_of(pooled(y)), y};
});

// Words by a condition of their own; each branch pools and repeats what it has.
constexpr auto of_words = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto h = layer::fc<3>(x);
  auto y = layer::if_else(
      positive(layer::fc<1>(x)), [&](auto& yes) { return layer::tanh(yes.input(h)); },
      [&](auto& no) { return layer::fc<3>(no.input(h)); });
  return std::tuple{cost_of(pooled(y)), y};
});

constexpr auto one_side = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto w = layer::fc<2>(x);
  const auto mean = layer::mean(w);
  auto [y, z] = layer::cond(
      positive(mean),
      [&](block&) {
        return std::tuple{layer::tanh(w), layer::scale(w, 2.0f)};
      },
      [&](block&) {
        return std::tuple{layer::square(w), layer::fc<2>(w)};
      });
  return std::tuple{cost_of(y) + cost_of(layer::sin(z)), y, z};
});

constexpr auto recurrence_in_a_branch = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto key = layer::data<"key", float>(main);
  auto h = layer::fc<3>(x);
  auto y = layer::if_else(
      positive(key),
      [&](auto& yes) {
        auto in = yes.input(h);
        return layer::dynamic_rnn(in, [&](auto& step) {
          auto m = step.memory(lamina::dims<3>);
          auto next = layer::tanh(layer::fc<3>(m) + step.input(in));
          step.update(m, next);
          return next;
        });
      },
      [&](auto& no) { return layer::sin(no.input(h)); });
  return std::tuple{cost_of(pooled(y)), y};
});

// Documents go one way or the other, with their sentences and words.
constexpr auto of_documents = lamina::program([](block& main) {
  auto words = layer::nested_sequence<"words", float, 3>(main);
  auto key = layer::data<"key", float>(main);
  auto h = layer::fc<3>(words);
  auto y = layer::if_else(
      positive(key),
      [&](auto& yes) {
        auto in = yes.input(h);
        return layer::dynamic_rnn(in, [&](auto& step) {
          auto m = step.memory(lamina::dims<3>);
          auto next = layer::tanh(layer::fc<3>(m) + layer::fc<3>(step.input(in)));
          step.update(m, next);
          return next;
        });
      },
      [&](auto& no) { return layer::sin(layer::fc<3>(no.input(h))); });
  return std::tuple{cost_of(pooled(pooled(y))), y};
});

}  // namespace

TEST_CASE("if_else on rows") { lamina::law::check_engine(two_nets, {.limit = 9}); }
TEST_CASE("if_else on sequences") {
  lamina::law::check_engine(of_sequences);
  lamina::law::check_engine(of_words);
}
TEST_CASE("cond chooses one of two results") {
  lamina::law::check_engine(one_side, {.rows_are_alone = false});
}
TEST_CASE("dynamic_rnn in a branch") { lamina::law::check_engine(recurrence_in_a_branch); }
TEST_CASE("if_else on documents: mixed, all true, all false, none") {
  lamina::law::check_engine(of_documents);
  lamina::law::check_engine(of_documents, {.low = 0.1f});
  lamina::law::check_engine(of_documents, {.high = -0.1f});
  lamina::law::check_engine(of_documents, {.rows_are_alone = false, .batches = {0}});
}
