// SPDX-License-Identifier: Apache-2.0
// static_rnn: its steps one after the other, gradients, and recurrences on the engine.

#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include "laws/kernel_bench.hpp"
#include <catch2/catch.hpp>
#include <laws/block_gradient_law.hpp>
#include <laws/recorded_pieces.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/rank_table/cpu.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::block;
using lamina::lod_tensor;
using namespace lamina;
using pieces::cost_of;
using pieces::pooled;
using pieces::sum_of_squares;

namespace {

template <class X, class H>
constexpr auto cell(X x, H h) {
  return layer::tanh(layer::fc<2>(x, {.param = {.name = "w"}, .bias_param = {.name = "b"}}) +
                     layer::fc<2>(h, {.param = {.name = "u"}, .bias = false}));
}

constexpr auto as_rnn = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4, 3>(main);
  auto init = layer::data<"init", float, 2>(main);
  auto [hidden, twice] = layer::static_rnn(x, [&](auto& step) {
    auto h = step.memory(init);
    auto count = step.memory(lamina::dims<1>, {.value = 1});
    auto next = cell(step.input(x), h) * count;
    step.update(h, next);
    step.update(count, layer::scale(count, 0.5f));
    return std::tuple{next, layer::scale(next, 2)};
  });
  static_assert(__is_same(decltype(hidden), lamina::variable<float, lamina::batch, 4, 2>));
  return std::tuple{sum_of_squares(hidden) + sum_of_squares(twice), hidden, twice};
});

constexpr auto written_out = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4, 3>(main);
  auto h = layer::data<"init", float, 2>(main);
  auto steps = layer::split<4, 1>(x);
  const auto next = [&](auto part, float count) {
    return h = layer::scale(cell(layer::reshape<3>(part), h), count);
  };
  const decltype(h) all[] = {next(std::get<0>(steps), 1), next(std::get<1>(steps), 0.5f),
                             next(std::get<2>(steps), 0.25f), next(std::get<3>(steps), 0.125f)};
  auto hidden = layer::stack<1>(all);
  auto twice = layer::scale(hidden, 2);
  return std::tuple{sum_of_squares(hidden) + sum_of_squares(twice), hidden, twice};
});

constexpr auto reversed = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4, 3>(main);
  auto init = layer::data<"init", float, 2>(main);
  auto [hidden, state] = layer::static_rnn(x,
                                           [&](auto& step) {
                                             auto h = step.memory(init);
                                             auto next = cell(step.input(x), h);
                                             step.update(h, next);
                                             return std::tuple{next, step.last(h)};
                                           },
                                           {.reverse = true});
  static_assert(__is_same(decltype(state), lamina::variable<float, lamina::batch, 2>));
  return std::tuple{sum_of_squares(hidden) + sum_of_squares(layer::scale(state, 2)), hidden, state};
});

constexpr auto reversed_written_out = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4, 3>(main);
  auto h = layer::data<"init", float, 2>(main);
  auto steps = layer::split<4, 1>(x);
  const auto next = [&](auto part) { return h = cell(layer::reshape<3>(part), h); };
  const auto d = next(std::get<3>(steps)), c = next(std::get<2>(steps)),
             b = next(std::get<1>(steps)), a = next(std::get<0>(steps));
  const decltype(h) all[] = {a, b, c, d};
  auto hidden = layer::stack<1>(all);
  return std::tuple{sum_of_squares(hidden) + sum_of_squares(layer::scale(a, 2)), hidden, a};
});

template <class P>
std::vector<lod_tensor> run(P, std::size_t rows) {
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  executor.run_startup(P::view(), scope, 7);
  laws::gradient_options options{.rows = rows};
  lamina::feed_map feed;
  for (int i = 0; i < 2; ++i) {
    const int v = P::view().data[i];
    const std::string name = lamina::variable_name(P::view(), v);
    lamina::tensor_shape shape{rows, 2};
    if (name == "x") shape = {rows, 4, 3};
    std::vector<double> values(lamina::size_of(shape));
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = lamina::random_uniform_at(3, name.size(), k, -1, 1);
    feed[name] = lamina::tensor(shape, values);
  }
  return executor.run(P::view(), scope, feed);
}

template <class P, class Q>
void check_same(P rnn, Q steps) {
  for (const std::size_t rows : {3, 1, 0}) {
    const std::vector<lod_tensor> loop = run(rnn, rows), straight = run(steps, rows);
    REQUIRE(loop.size() == straight.size());
    for (std::size_t i = 0; i < loop.size(); ++i) {
      REQUIRE(loop[i].shape() == straight[i].shape());
      const auto a = loop[i].cast<double>(), b = straight[i].cast<double>();
      for (std::size_t k = 0; k < a.size(); ++k) CHECK(a.flat(k) == Approx(b.flat(k)));
    }
  }
}

}  // namespace

TEST_CASE("static_rnn is the same as its steps written one after the other") {
  check_same(as_rnn, written_out);
}

TEST_CASE("static_rnn from the last step to the first, and its final state") {
  check_same(reversed, reversed_written_out);
}

TEST_CASE("gradient: static_rnn with two memories and two outputs") {
  laws::check_block_gradients(as_rnn);
}

TEST_CASE("gradient: static_rnn backwards with its final state; the final state alone") {
  laws::check_block_gradients(reversed);
  laws::check_block_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4, 3>(main);
    return sum_of_squares(layer::static_rnn(x, [&](auto& step) {
      auto h = step.memory(lamina::dims<2>, {.value = 1});
      step.update(h, cell(step.input(x), h));
      return step.last(h);
    }));
  }));
}

TEST_CASE("gradient: static_rnn in a static_rnn") {
  laws::check_block_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3, 2, 2>(main);
    auto outer = layer::static_rnn(x, [&](auto& step) {
      auto h = step.memory(lamina::dims<2>, {.value = 0.5f});
      auto row = step.input(x);
      auto inner = layer::static_rnn(row, [&](auto& deep) {
        auto g = deep.memory(h);
        auto next = layer::tanh(layer::fc<2>(deep.input(row)) + g);
        deep.update(g, next);
        return next;
      });
      auto next = layer::reduce_sum<1>(inner) * h;
      step.update(h, next);
      return next;
    });
    return sum_of_squares(outer);
  }));
}

namespace {

// Each step sees the whole of a second sequence of its sample.
constexpr auto attention = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 4>(main);
  auto source = layer::sequence<"source", float, 4>(main);
  auto keys = layer::fc<4>(source);
  auto out = layer::dynamic_rnn(x, [&](auto& step) {
    auto in = step.input(x);
    auto h = step.memory(lamina::dims<4>);
    auto seen = step.static_input(keys);
    auto sum = layer::sequence_pool(layer::tanh(seen), {.type = lamina::pooling_type::sum});
    auto next = layer::tanh(layer::fc<4>(std::tuple{in, h}) + sum);
    step.update(h, next);
    return next;
  });
  return std::tuple{cost_of(pooled(out)), out};
});

template <bool Reverse, int Width = 5>
constexpr auto of_dimensions = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4, 3>(main);
  auto ids = layer::data<"ids", std::int64_t, 4, 2>(main);
  auto init = layer::data<"init", float, Width>(main);
  auto [out, numbers, last] = layer::static_rnn(
      x,
      [&](auto& step) {
        auto h = step.memory(init);
        auto c = step.memory(lamina::dims<Width>, {.value = 2});
        auto next = layer::tanh(layer::fc<Width>(std::tuple{step.input(x), h})) + c;
        step.update(h, next);
        step.update(c, layer::scale(c, 0.5f));
        return std::tuple{next, step.input(ids), step.last(h)};
      },
      {.reverse = Reverse});
  return std::tuple{cost_of(out) + cost_of(last), out, numbers, last};
});

}  // namespace

TEST_CASE("dynamic_rnn whose steps see whole sequences") { lamina::law::check_engine(attention); }

TEST_CASE("static_rnn forwards and backwards") {
  lamina::law::check_engine(of_dimensions<false>, {.limit = 9});
  // Gradients of weights of more rows than one product of several steps takes.
  lamina::law::check_engine(of_dimensions<false>, {.limit = 9, .batches = {100, 300}});
  // Two panels, the second a narrow one; the products of a row alone are added in another order.
  lamina::law::check_engine(of_dimensions<false, 40>,
                            {.limit = 9, .rows_are_alone = false, .batches = {100, 300}});
  lamina::law::check_engine(of_dimensions<true>, {.limit = 9});
}

using floats = std::vector<float>;

namespace {

/// Sequences of lengths 2, 0, 3, 2, and a memory of two columns whose slots are numbered.
struct memory : law::kernel_bench {
  int words = add_domain(domain_kind::sequence, batch::domain);
  int ranked = add_domain(domain_kind::step, batch::domain);
  int x, table, i, states, value;

  memory() {
    feed_rows(batch::domain, 4);
    feed_lengths(words, {2, 0, 3, 2});
    x = add<float>(words, {2});
    table = add<std::int64_t>(batch::domain, {2});
    i = add<std::int64_t>(0, {1});
    states = add_array<float>(ranked, {2});
    value = add<float>(ranked, {2});
    call<operators::lod_rank_table>({x}, {table});
    write(0, {0, 0.5f, 1, 1.5f, 2, 2.5f, 3, 3.5f});
    write(1, {10, 10.5f, 11, 11.5f, 12, 12.5f});
    write(2, {20, 20.5f, 21, 21.5f, 22, 22.5f});
  }
  void write(int at, const floats& values) {
    set<std::int64_t>(i, {at});
    feed_rows(ranked, static_cast<int>(values.size()) / 2);
    set(value, values);
    call<operators::write_to_array>({value, i}, {states});
  }
};

}  // namespace

TEST_CASE("A final state is the row of the last step; that before the first one where none is") {
  memory b;
  const int last = b.add<float>(batch::domain, {2});
  CHECK_THROWS_WITH((b.call<operators::last_rnn_memory>({b.states, b.table}, {last})),
                    Contains("last_rnn_memory: expected a row for sequence 2 at index 3 of the "
                             "array, found none"));
  b.write(3, {30, 30.5f});
  b.call<operators::last_rnn_memory>({b.states, b.table}, {last});
  // By rank: sequences 2, 0, 3, 1.
  CHECK(b.get<float>(last) == floats{21, 21.5f, 3, 3.5f, 30, 30.5f, 22, 22.5f});
}

TEST_CASE("Gradients of final states add to those slots") {
  memory b;
  const int d = b.add<float>(batch::domain, {2}), to = b.add_array<float>(b.ranked, {2});
  b.set<float>(d, {1, 2, 3, 4, 5, 6, 7, 8});
  b.call<operators::last_rnn_memory_gradient>({b.table, d}, {to});
  CHECK(b.get<float>(to, 0) == floats{0, 0, 0, 0, 0, 0, 3, 4});
  CHECK_FALSE(b.array(to).holds(1));
  CHECK(b.get<float>(to, 2) == floats{0, 0, 1, 2, 7, 8});
  CHECK(b.get<float>(to, 3) == floats{5, 6});
  b.call<operators::last_rnn_memory_gradient>({b.table, d}, {to});
  CHECK(b.get<float>(to, 2) == floats{0, 0, 2, 4, 14, 16});
}

namespace {

// A decoder of a translation: each step weighs the source.
constexpr auto decoder = lamina::program([](block& main) {
  auto target = layer::sequence<"target", float, 4>(main);
  auto source = layer::sequence<"source", float, 4>(main);
  auto encoded = layer::tanh(layer::fc<6>(source));
  auto start = layer::sequence_last_step(encoded);
  auto out = layer::dynamic_rnn(target, [&](auto& step) {
    auto in = step.input(target);
    auto h = step.memory(start);
    auto seen = step.static_input(encoded);
    auto asked = layer::sequence_expand(layer::fc<6>(h), seen);
    auto weight = layer::sequence_softmax(layer::fc<1>(layer::tanh(asked + seen)));
    auto context = pooled(layer::elementwise_mul<0>(seen, weight));
    auto next = layer::tanh(layer::fc<6>(std::tuple{in, context, h}));
    step.update(h, next);
    return next;
  });
  return std::tuple{cost_of(pooled(out)), out};
});

// A recurrence over the whole source in each step.
constexpr auto rnn_in_a_step = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto source = layer::sequence<"source", float, 3>(main);
  auto out = layer::dynamic_rnn(x, [&](auto& step) {
    auto in = step.input(x);
    auto seen = step.static_input(source);
    auto inner = layer::dynamic_rnn(seen, [&](auto& inside) {
      auto m = inside.memory(in);
      auto next = layer::tanh(layer::fc<3>(m) + inside.input(seen));
      inside.update(m, next);
      return next;
    });
    return in + pooled(inner);
  });
  return std::tuple{cost_of(pooled(out)), out};
});

// Sequences of new lengths in each step.
constexpr auto made_in_a_step = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4, 2>(main);
  auto source = layer::sequence<"source", float, 2>(main);
  auto h = layer::fc<2>(source);
  auto out = layer::static_rnn(x, [&](auto& step) {
    auto m = step.memory(lamina::dims<2>);
    auto seen = layer::sequence_concat<"seen">(
        std::tuple{h, layer::elementwise_mul<0>(h, layer::sequence_expand(step.input(x), h))});
    auto next = layer::tanh(pooled(seen) + layer::fc<2>(m));
    step.update(m, next);
    return next;
  });
  return std::tuple{cost_of(out), out};
});

// Arrays of sequences that are fed, where no operator makes rows: what is read has sequences that
// are known already.
constexpr auto array_of_fed = lamina::program([](block& main) {
  auto x = layer::nested_sequence<"x", float, 2>(main);
  auto h = layer::fc<2>(x, {.act = lamina::activation::tanh});
  auto i = layer::fill_constant<std::int64_t>(main, 0),
       n = layer::fill_constant<std::int64_t>(main, 3);
  auto all = layer::array_write(h, i);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](block&) {
    auto next = layer::tanh(layer::fc<2>(layer::array_read(all, i)));
    layer::increment(i);
    layer::array_write(next, i, all);
    layer::less_than(i, n, going);
  });
  auto last = layer::array_read(all, i);
  return std::tuple{cost_of(pooled(pooled(last))), last};
});

constexpr auto steps_of_elements = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3, 2>(main);
  auto out = layer::static_rnn(x, [&](auto& step) {
    auto m = step.memory(lamina::dims<2>);
    auto next = layer::sequence_reverse(layer::tanh(layer::fc<2>(std::tuple{step.input(x), m})));
    step.update(m, next);
    return next;
  });
  return std::tuple{cost_of(pooled(layer::reshape<6>(out))), out};
});

}  // namespace

TEST_CASE("Attention in a step") { lamina::law::check_engine(decoder); }

TEST_CASE("A recurrence in a step") { lamina::law::check_engine(rnn_in_a_step); }

TEST_CASE("Arrays of fed sequences") {
  lamina::law::check_engine(array_of_fed, {.batches = {1, 17, 40}});
}

TEST_CASE("Steps of the elements of fed sequences") {
  lamina::law::check_engine(steps_of_elements, {.batches = {1, 17, 40}});
}

TEST_CASE("Made sequences in a step") { lamina::law::check_engine(made_in_a_step); }
