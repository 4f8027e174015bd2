// SPDX-License-Identifier: Apache-2.0
// dynamic_rnn: values by hand, gradients, sequences alone, final states.

#include "executor/run_program.hpp"
#include <catch2/catch.hpp>
#include <laws/block_gradient_law.hpp>
#include <laws/recorded_pieces.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>

namespace layer = lamina::layer;
using executed::returned_by;
using executed::values_of;
using lamina::block;
using lamina::lod_tensor;
using pieces::sum_of_squares;

using values = std::vector<double>;

using level = lamina::lod::level;

namespace {

lod_tensor table(std::size_t columns, const std::vector<float>& of) {
  return lamina::tensor({of.size() / columns, columns}, of);
}

constexpr auto running_sum = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float>(main);
  auto first = layer::data<"first", float>(main);
  auto weight = layer::data<"weight", float>(main);
  auto [sum, weighted] = layer::dynamic_rnn(x, [&](auto& step) {
    auto now = step.input(x);
    auto before = step.memory(first);
    auto next = before + now;
    step.update(before, next);
    return std::tuple{next, now * step.static_input(weight)};
  });
  return std::tuple{sum, weighted};
});

constexpr auto cell = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto init = layer::data<"init", float, 2>(main);
  auto context = layer::data<"context", float, 3>(main);
  auto hidden = layer::dynamic_rnn(x, [&](auto& step) {
    auto in = step.input(x);
    auto h = step.memory(init);
    auto c = step.memory(lamina::dims<2>, {.value = 0.5f});
    auto gate = layer::fc<2>(std::tuple{in, step.static_input(context)});
    auto next_c = layer::tanh(gate + layer::fc<2>(h)) + layer::scale(c, 0.5f);
    auto next_h = next_c * layer::sigmoid(gate);
    step.update(h, next_h);
    step.update(c, next_c);
    return next_h;
  });
  auto last = layer::sequence_last_step(hidden, {.pad_value = 0.25f});
  return std::tuple{sum_of_squares(hidden) + sum_of_squares(last), hidden, last};
});

// A product of the input of each step becomes one product before the loop, but not where a step
// changes its input first.
template <bool Changes>
constexpr auto products_of_inputs = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 4>(main);
  auto grid = layer::data<"grid", float, 3, 8>(main);
  const auto seen = [](auto in) {
    if constexpr (Changes)
      return layer::scale(in, 1.f);
    else
      return in;
  };
  auto out = layer::dynamic_rnn(x, [&](auto& step) {
    auto in = step.input(x);
    auto h = step.memory(lamina::dims<5>);
    auto gate = layer::sigmoid(layer::fc<5>(seen(in)));
    auto next = layer::tanh(layer::fc<5>(std::tuple{seen(in), h}));
    step.update(h, gate * next);
    return gate * next + layer::fc<5>(layer::sin(in)) + layer::fc<5>(seen(in), {.bias = false});
  });
  auto last = layer::static_rnn(grid, [&](auto& step) {
    auto h = step.memory(lamina::dims<5>);
    auto next = h + layer::fc<5>(seen(step.input(grid)));
    step.update(h, layer::tanh(next));
    return step.last(h);
  });
  return std::tuple{sum_of_squares(layer::sequence_pool(out)) + sum_of_squares(last), out, last};
});

// How many products the block around all loops has.
template <class P>
int products_before(P) {
  int n = 0;
  for (int k = 0; k < P::view().count.operators; ++k)
    n += P::view().operators[k].block == 0 &&
         std::string_view(P::view().operators[k].schema->type) == "mul";
  return n;
}

}  // namespace

TEST_CASE("a running sum: memories and static inputs belong to their sequences") {
  const auto found = returned_by<double>(
      running_sum, {{"x", lamina::sequences<float>({{1, 2}, {3}, {}, {4, 5, 6}})},
                    {"first", table(1, {10, 20, 30, 40})},
                    {"weight", table(1, {1, 2, 3, -1})}});
  CHECK(values_of(found[0]) == values{11, 13, 23, 44, 49, 55});
  CHECK(values_of(found[1]) == values{1, 2, 6, -4, -5, -6});
  CHECK(found[0].recursive_sequence_lengths() == std::vector<level>{{2, 1, 0, 3}});
}

TEST_CASE("no elements at all, and no sequences") {
  const auto empty = returned_by<double>(running_sum, {{"x", lamina::sequences<float>({{}, {}})},
                                                       {"first", table(1, {1, 2})},
                                                       {"weight", table(1, {1, 2})}});
  CHECK(empty[0].shape() == lamina::tensor_shape{0, 1});
  CHECK(empty[0].recursive_sequence_lengths() == std::vector<level>{{0, 0}});
  const auto none = returned_by<double>(
      running_sum,
      {{"x", lamina::sequences<float>({})}, {"first", table(1, {})}, {"weight", table(1, {})}});
  CHECK(none[0].shape() == lamina::tensor_shape{0, 1});
}

TEST_CASE("each sequence alone is what it is in the batch") {
  using row = std::array<float, 3>;
  const lod_tensor x = lamina::sequences<row>({{{1, -1, 2}},
                                               {},
                                               {{0, 1, 2}, {3, 1, -1}, {1, 1, 1}},
                                               {{-1, 0, 1}, {2, 2, 0}},
                                               {{4, 0, -2}}});
  laws::check_each_sample_alone(
      cell, {{"x", x},
             {"init", table(2, {1, 2, 3, -4, 5, 6, -7, 8, 0, 1})},
             {"context", table(3, {1, 2, 3, 4, 5, -6, 0, 0, 1, 1, -1, 1, 2, 0, 2})}});
}

TEST_CASE("products of the inputs of steps are made before the loop") {
  CHECK(products_before(products_of_inputs<false>) == 4);
  CHECK(products_before(products_of_inputs<true>) == 0);
  using row = std::array<float, 4>;
  std::vector<float> grid(4 * 24);
  for (std::size_t i = 0; i < grid.size(); ++i) grid[i] = static_cast<float>(i % 7) - 3;
  const lamina::feed_map feed{
      {"x",
       lamina::sequences<row>(
           {{{1, -1, 2, 0}}, {}, {{0, 1, 2, 1}, {3, 1, -1, 2}}, {{-1, 0, 1, 1}, {2, 2, 0, 1}}})},
      {"grid", lod_tensor(lamina::tensor({4, 3, 8}, grid))}};
  const auto before = returned_by<double>(products_of_inputs<false>, feed),
             in = returned_by<double>(products_of_inputs<true>, feed);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const values a = values_of(before[i]), b = values_of(in[i]);
    REQUIRE(a.size() == b.size());
    for (std::size_t k = 0; k < a.size(); ++k) CHECK(a[k] == Approx(b[k]).margin(1e-12));
  }
  laws::check_block_gradients(products_of_inputs<false>, {}, {.rows = 4, .lengths = {{0, 4, 0, 2}}},
                              true);
}

TEST_CASE("gradient: dynamic_rnn, unsorted lengths, empty sequences, an empty batch") {
  laws::check_block_gradients(cell, {}, {.rows = 3, .lengths = {{3, 1, 2}}}, true);
  laws::check_block_gradients(cell, {}, {.rows = 4, .lengths = {{0, 4, 0, 2}}});
  constexpr auto with_outside = lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 3>(main);
    auto init = layer::data<"init", float, 2>(main);
    auto hidden = layer::dynamic_rnn(x, [&](auto& step) {
      auto h = step.memory(init);
      auto next = layer::tanh(layer::fc<2>(step.input(x)) + h);
      step.update(h, next);
      return next;
    });
    return sum_of_squares(layer::sequence_pool(hidden) + init);
  });
  laws::check_block_gradients(with_outside, {}, {.rows = 3, .lengths = {{0, 0, 0}}});
}

TEST_CASE("gradient: a recurrence over the sentences of documents, another over their words") {
  constexpr auto net = lamina::program([](block& main) {
    auto words = layer::nested_sequence<"words", float, 2>(main);
    auto in_sentence = layer::dynamic_rnn(words, [&](auto& step) {
      auto h = step.memory(lamina::dims<2>);
      auto next = layer::tanh(layer::fc<2>(step.input(words)) + layer::fc<2>(h));
      step.update(h, next);
      return next;
    });
    auto sentences = layer::sequence_last_step(in_sentence);
    auto in_document = layer::dynamic_rnn(sentences, [&](auto& step) {
      auto h = step.memory(lamina::dims<2>, {.value = 1});
      auto next = layer::tanh(layer::fc<2>(step.input(sentences)) - h);
      step.update(h, next);
      return next;
    });
    auto documents = layer::sequence_pool(in_document, {.type = lamina::pooling_type::sum});
    return std::tuple{sum_of_squares(documents) + sum_of_squares(in_sentence), in_sentence,
                      documents};
  });
  using pair = std::array<float, 2>;
  const lod_tensor words = lamina::nested_sequences<pair>(
      {{{{1, 8}}, {}, {{3, -4}, {0, 1}}}, {}, {{{-1, 6}}}, {{}, {{-2, -3}, {0, -9}, {1, 1}}}});
  laws::check_each_sample_alone(net, {{"words", words}});
  laws::check_block_gradients(net, {}, {.rows = 3, .lengths = {{2, 0, 3}, {1, 3, 0, 2, 1}}}, true);
}

TEST_CASE("gradient: a static input of sequences; a step with a branch; a rnn in a loop") {
  constexpr auto attention = lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 2>(main);
    auto source = layer::sequence<"source", float, 2>(main);
    auto y = layer::dynamic_rnn(x, [&](auto& step) {
      auto h = step.memory(lamina::dims<2>, {.value = 0.3f});
      auto seen = layer::sequence_pool(layer::fc<2>(step.static_input(source)));
      auto next = layer::tanh(step.input(x) + seen * h);
      step.update(h, next);
      return next;
    });
    return std::tuple{sum_of_squares(y), y};
  });
  using pair = std::array<float, 2>;
  const lod_tensor x = lamina::sequences<pair>({{{1, -1}}, {{2, 1}, {0, 1}, {1, 1}}, {}});
  const lod_tensor source = lamina::sequences<pair>({{{1, 2}, {3, 1}}, {{1, 0}}, {{2, 2}, {0, 1}}});
  laws::check_each_sample_alone(attention, {{"x", x}, {"source", source}});
  laws::check_block_gradients(attention, {{"x", x}, {"source", source}}, {.rows = 3});

  laws::check_block_gradients(lamina::program([](block& main) {
                                auto x = layer::sequence<"x", float, 2>(main);
                                auto y = x;
                                auto i = layer::fill_constant<std::int64_t>(main, 0),
                                     n = layer::fill_constant<std::int64_t>(main, 2);
                                auto going = layer::less_than(i, n);
                                layer::while_loop(going, [&](block&) {
                                  y = layer::dynamic_rnn(y, [&](auto& step) {
                                    auto h = step.memory(lamina::dims<2>, {.value = 0.3f});
                                    auto in = step.input(y);
                                    auto sum = layer::reduce_sum<1>(in, layer::keep_dim);
                                    auto chosen = layer::if_else(
                                        layer::greater_than(sum, layer::scale(sum, 0)),
                                        [&](auto& yes) { return layer::fc<2>(yes.input(in)); },
                                        [&](auto& no) { return layer::sin(no.input(h)); });
                                    auto next = layer::tanh(chosen + h) + in;
                                    step.update(h, next);
                                    return next;
                                  });
                                  layer::increment(i);
                                  layer::less_than(i, n, going);
                                });
                                return std::tuple{sum_of_squares(y), y};
                              }),
                              {}, {.rows = 4, .lengths = {{2, 3, 0, 1}}}, true);
}

namespace {

// What each sequence adds up to, how long it is, and the running sums.
constexpr auto totals = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto first = layer::data<"first", float, 2>(main);
  auto [sums, total, length, again] = layer::dynamic_rnn(x, [&](auto& step) {
    auto sum = step.memory(first);
    auto count = step.template memory<std::int64_t>(lamina::dims<1>, {.value = 7});
    auto next = sum + step.input(x);
    step.update(sum, next);
    auto more = count;
    step.update(count, layer::increment(more));
    return std::tuple{next, step.last(sum), step.last(count), step.last(sum)};
  });
  static_assert(__is_same(decltype(total), lamina::variable<float, lamina::batch, 2>));
  return std::tuple{sums, total, length, again};
});

constexpr auto encoder = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto init = layer::data<"init", float, 2>(main);
  auto [hidden, state, other] = layer::dynamic_rnn(x, [&](auto& step) {
    auto h = step.memory(init);
    auto c = step.memory(lamina::dims<2>, {.value = 0.5f});
    auto next_c = layer::tanh(layer::fc<2>(std::tuple{step.input(x), h})) + c;
    auto next_h = layer::sin(next_c) + layer::scale(h, 0.5f);
    step.update(h, next_h);
    step.update(c, next_c);
    return std::tuple{next_h, step.last(h), step.last(c)};
  });
  return std::tuple{sum_of_squares(hidden) + sum_of_squares(layer::scale(state, 3)) +
                        sum_of_squares(other * init),
                    hidden, state, other};
});

}  // namespace

TEST_CASE(
    "final states: one row a sequence, in the order of the batch, the first one where empty") {
  using row = std::array<float, 2>;
  const auto found = returned_by<double>(
      totals, {{"x", lamina::sequences<row>(
                         {{{1, 10}}, {}, {{2, 20}, {3, 30}, {4, 40}}, {}, {{5, 50}, {6, 60}}})},
               {"first", table(2, {100, 0, 200, 0, 300, 0, 400, 0, 500, 0})}});
  CHECK(values_of(found[1]) == values{101, 10, 200, 0, 309, 90, 400, 0, 511, 110});
  CHECK(found[1].recursive_sequence_lengths().empty());
  CHECK(values_of(found[2]) == values{8, 7, 10, 7, 9});
  CHECK(values_of(found[3]) == values_of(found[1]));
  CHECK(values_of(found[0]) == values{101, 10, 302, 20, 305, 50, 309, 90, 505, 50, 511, 110});

  const auto empty = returned_by<double>(
      totals, {{"x", lamina::sequences<row>({{}, {}})}, {"first", table(2, {1, 2, 3, 4})}});
  CHECK(values_of(empty[1]) == values{1, 2, 3, 4});
  const auto none =
      returned_by<double>(totals, {{"x", lamina::sequences<row>({})}, {"first", table(2, {})}});
  CHECK(none[1].shape() == lamina::tensor_shape{0, 2});
}

TEST_CASE("final states are those of each sequence alone") {
  using row = std::array<float, 3>;
  const lod_tensor x =
      lamina::sequences<row>({{{1, -1, 2}, {0, 1, 2}}, {}, {{3, 1, -1}}, {{1, 1, 1}}});
  laws::check_each_sample_alone(encoder,
                                {{"x", x}, {"init", table(2, {1, 2, 3, -4, 5, 6, -7, 8})}});
}

TEST_CASE("gradient: final states, beside the steps and alone, with empty sequences") {
  laws::check_block_gradients(encoder, {}, {.rows = 3, .lengths = {{3, 1, 2}}}, true);
  laws::check_block_gradients(encoder, {}, {.rows = 5, .lengths = {{0, 4, 0, 2, 4}}});
  laws::check_block_gradients(encoder, {}, {.rows = 2, .lengths = {{0, 0}}});
  constexpr auto alone = lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 3>(main);
    auto init = layer::data<"init", float, 2>(main);
    auto state = layer::dynamic_rnn(x, [&](auto& step) {
      auto h = step.memory(init);
      step.update(h, layer::tanh(layer::fc<2>(step.input(x)) - h));
      return step.last(h);
    });
    return sum_of_squares(state);
  });
  laws::check_block_gradients(alone, {}, {.rows = 4, .lengths = {{2, 0, 3, 1}}});
}

TEST_CASE("gradient: final states of the sentences of documents") {
  constexpr auto net = lamina::program([](block& main) {
    auto words = layer::nested_sequence<"words", float, 2>(main);
    auto sentences = layer::dynamic_rnn(words, [&](auto& step) {
      auto h = step.memory(lamina::dims<2>, {.value = 0.3f});
      step.update(h, layer::tanh(layer::fc<2>(step.input(words)) + layer::fc<2>(h)));
      return step.last(h);
    });
    static_assert(
        __is_same(decltype(sentences),
                  lamina::variable<float, layer::parent_rows<decltype(words)::rows_type>, 2>));
    auto documents = layer::dynamic_rnn(sentences, [&](auto& step) {
      auto h = step.memory(lamina::dims<2>, {.value = 1});
      step.update(h, layer::tanh(layer::fc<2>(step.input(sentences)) - h));
      return step.last(h);
    });
    return std::tuple{sum_of_squares(documents) + sum_of_squares(sentences), sentences, documents};
  });
  using pair = std::array<float, 2>;
  const lod_tensor words = lamina::nested_sequences<pair>(
      {{{{1, 8}}, {}, {{3, -4}, {0, 1}}}, {}, {{{-1, 6}}}, {{}, {{-2, -3}, {0, -9}, {1, 1}}}});
  laws::check_each_sample_alone(net, {{"words", words}});
  laws::check_block_gradients(net, {}, {.rows = 3, .lengths = {{2, 0, 3}, {1, 3, 0, 2, 1}}});
}
