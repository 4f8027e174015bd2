// SPDX-License-Identifier: Apache-2.0
// static_rnn on the interpreter: against the same steps written out, and gradients.
#include "shared_executor.hpp"
#include <catch2/catch.hpp>
#include <laws/block_gradient_law.hpp>
#include <laws/recorded_pieces.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::lod_tensor;
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
