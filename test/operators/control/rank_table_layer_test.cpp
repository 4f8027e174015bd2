// SPDX-License-Identifier: Apache-2.0
// Loops that walk over sequences by rank tables and arrays themselves: they compute what a
// dynamic_rnn does, and have its gradients.
#include <array>
#include <tuple>
#include <vector>

#include "executor/run_program.hpp"
#include <catch2/catch.hpp>
#include <laws/block_gradient_law.hpp>
#include <laws/recorded_pieces.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/rank_table/layer.hpp>

namespace layer = lamina::layer;
using executed::returned_by;
using executed::values_of;
using lamina::block;
using pieces::sum_of_squares;

using values = std::vector<double>;
using integer = std::int64_t;
using level = lamina::lod::level;

namespace {

template <class V>
constexpr auto shared_fc(V x, std::string_view weight) {
  return layer::fc<3>(x, {.param = {.name = weight}, .bias = false});
}

/// h[t + 1] = tanh(x[t] W + h[t] U), from h[0], one value per sequence.
constexpr auto walked = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto first = layer::data<"first", float, 3>(main);
  auto table = layer::lod_rank_table(x);
  auto steps = layer::max_sequence_len(table);
  auto xs = layer::lod_tensor_to_array(x, table);
  auto i = layer::fill_constant<integer>(main, 0);
  auto hs = layer::array_write(layer::reorder_lod_tensor_by_rank(first, table), i);
  auto out = layer::create_array<lamina::variable<float, decltype(table)::step, 3>>(main);
  auto going = layer::less_than(i, steps);
  layer::while_loop(going, [&](block&) {
    auto before = layer::shrink_memory(layer::array_read(hs, i), i, table);
    auto next = layer::tanh(shared_fc(layer::array_read(xs, i), "w") + shared_fc(before, "u"));
    layer::array_write(next, i, out);
    layer::increment(i);
    layer::array_write(next, i, hs);
    layer::less_than(i, steps, going);
  });
  auto h = layer::array_to_lod_tensor(out, table);
  return std::tuple{sum_of_squares(h), h};
});

constexpr auto recurrent = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto first = layer::data<"first", float, 3>(main);
  auto h = layer::dynamic_rnn(x, [&](auto& step) {
    auto in = step.input(x);
    auto before = step.memory(first);
    auto next = layer::tanh(shared_fc(in, "w") + shared_fc(before, "u"));
    step.update(before, next);
    return next;
  });
  return std::tuple{sum_of_squares(h), h};
});

/// Each step alone: out[t] = tanh(x[t] W).
constexpr auto pointwise = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto table = layer::lod_rank_table(x);
  auto steps = layer::max_sequence_len(table);
  auto xs = layer::lod_tensor_to_array(x, table);
  auto out = layer::create_array<lamina::variable<float, decltype(table)::step, 3>>(main);
  auto i = layer::fill_constant<integer>(main, 0);
  auto going = layer::less_than(i, steps);
  layer::while_loop(going, [&](block&) {
    layer::array_write(layer::tanh(shared_fc(layer::array_read(xs, i), "w")), i, out);
    layer::increment(i);
    layer::less_than(i, steps, going);
  });
  auto h = layer::array_to_lod_tensor(out, table);
  return std::tuple{sum_of_squares(h), h};
});

/// The sentences of documents one after the other, with a context of words per document.
constexpr auto nested = lamina::program([](block& main) {
  auto words = layer::nested_sequence<"words", float, 2>(main);
  auto context = layer::sequence<"context", float, 2>(main);
  auto table = layer::lod_rank_table<0>(words);
  auto steps = layer::max_sequence_len(table);
  auto sentences = layer::lod_tensor_to_array(words, table);
  auto ordered = layer::reorder_lod_tensor_by_rank(context, table);
  auto out = layer::create_array<lamina::variable<float, decltype(table)::step, 2>>(main);
  auto i = layer::fill_constant<integer>(main, 0);
  auto going = layer::less_than(i, steps);
  layer::while_loop(going, [&](block&) {
    auto seen = layer::sequence_pool(layer::shrink_memory(ordered, i, table));
    auto sentence = layer::sequence_pool(layer::tanh(layer::array_read(sentences, i)));
    layer::array_write(layer::tanh(sentence * seen), i, out);
    layer::increment(i);
    layer::less_than(i, steps, going);
  });
  auto h = layer::array_to_lod_tensor(out, table);
  static_assert(__is_same(decltype(h)::rows_type, decltype(words)::rows_type::parent));
  return std::tuple{sum_of_squares(h), h};
});

}  // namespace

TEST_CASE("a loop over arrays of steps computes what a dynamic_rnn does") {
  using pair = std::array<float, 2>;
  const lamina::feed_map feed{
      {"x", lamina::sequences<pair>(
                {{{1, -1}}, {}, {{0, 1}, {3, 1}, {1, 1}}, {{-1, 0}, {2, 2}}, {{4, 0}}})},
      {"first",
       lamina::tensor({5, 3}, std::vector<float>{1, 2, 3, -4, 5, 6, -7, 8, 0, 1, 0, 2, 3, 1, 1})}};
  const auto a = returned_by<double>(walked, feed), b = returned_by<double>(recurrent, feed);
  CHECK(values_of(a[1]) == values_of(b[1]));
  CHECK(a[1].recursive_sequence_lengths() == std::vector<level>{{1, 0, 3, 2, 1}});
  laws::check_each_sample_alone(walked, feed);
}

TEST_CASE("gradient: loops that write h[t] = step(x[t]) over sequences") {
  laws::check_block_gradients(walked, {}, {.rows = 3, .lengths = {{3, 1, 2}}}, true);
  laws::check_block_gradients(walked, {}, {.rows = 4, .lengths = {{0, 4, 0, 2}}});
  laws::check_block_gradients(pointwise, {}, {.rows = 4, .lengths = {{0, 4, 0, 2}}}, true);
  using pair = std::array<float, 2>;
  laws::check_block_gradients(
      nested, {{"context", lamina::sequences<pair>({{{1, 2}, {0, 1}}, {}, {{3, -1}}})}},
      {.rows = 3, .lengths = {{2, 0, 3}, {1, 3, 0, 2, 1}}}, true);
}

TEST_CASE("gradient: a table in the body of a loop") {
  constexpr auto twice = lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 3>(main);
    auto y = x;
    auto k = layer::fill_constant<integer>(main, 0), n = layer::fill_constant<integer>(main, 2);
    auto more = layer::less_than(k, n);
    layer::while_loop(more, [&](block& body) {
      auto table = layer::lod_rank_table(y);
      auto steps = layer::max_sequence_len(table);
      auto xs = layer::lod_tensor_to_array(y, table);
      auto out = layer::create_array<lamina::variable<float, decltype(table)::step, 3>>(body);
      auto i = layer::fill_constant<integer>(body, 0);
      auto going = layer::less_than(i, steps);
      layer::while_loop(going, [&](block&) {
        layer::array_write(layer::tanh(shared_fc(layer::array_read(xs, i), "w")), i, out);
        layer::increment(i);
        layer::less_than(i, steps, going);
      });
      y = layer::array_to_lod_tensor(out, table);
      layer::increment(k);
      layer::less_than(k, n, more);
    });
    return std::tuple{sum_of_squares(y), y};
  });
  laws::check_block_gradients(twice, {}, {.rows = 4, .lengths = {{2, 3, 0, 1}}}, true);
}
