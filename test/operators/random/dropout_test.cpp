// SPDX-License-Identifier: Apache-2.0
// dropout: the shared convention for masks, masks in loops, gradients, the engine.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "executor/run_program.hpp"
#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/block_gradient_law.hpp>
#include <laws/compared_operators.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/executor/matrix_product.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/transform/append_backward.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using executed::returned_by;
using executed::values_of;
using lamina::block;
using lamina::lod_tensor;
using lamina::program;
using lamina::tensor;
using lamina::law::check_engine;
using lamina::law::engine_law_options;
using lamina::law::engine_run;
using layer::dropout_implementation;

using integer = std::int64_t;

using values = std::vector<double>;

namespace {

constexpr auto constant(block& main, integer value) {
  return layer::fill_constant<integer>(main, static_cast<double>(value));
}

// The loop runs `N` times over three elements a row, 1 and 2, ..., and keeps what dropout leaves.
template <int N, int Outer = 1>
constexpr auto dropped = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  layer::dropout(x, 0.5f);  // dropout operator 0
  auto kept = layer::create_array<decltype(x)>(main);
  auto place = constant(main, 0), o = constant(main, 0), outer_end = constant(main, Outer);
  auto outside = layer::less_than(o, outer_end);
  layer::while_loop(outside, [&](block& body) {
    auto i = constant(body, 0), end = constant(body, N);
    auto going = layer::less_than(i, end);
    layer::while_loop(going, [&](block&) {
      layer::array_write(layer::dropout(x, 0.4f), place, kept);  // dropout operator 1
      layer::increment(place);
      layer::increment(i);
      layer::less_than(i, end, going);
    });
    layer::increment(o);
    layer::less_than(o, outer_end, outside);
  });
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple{layer::array_read(kept, constant(main, I))...};
  }
  (std::make_index_sequence<N * Outer>());
});

const lod_tensor some_rows = lamina::tensor({5, 3}, std::vector<float>(15, 2));

template <class Real = double, class P>
std::vector<values> run(P, const lamina::run_options& options,
                        lamina::basic_executor<Real> executor = {}) {
  lamina::scope scope;
  std::vector<values> all;
  for (int again = 0; again < 2; ++again) {
    std::vector<values> found;
    for (const lod_tensor& t : executor.run(P::view(), scope, {{"x", some_rows}}, options)) {
      const auto a = t.cast<double>();
      found.emplace_back(a.begin(), a.end());
    }
    if (again > 0) CHECK(found == all);  // every run counts from 0
    all = found;
  }
  return all;
}

// What the operator of this number leaves in its iteration t.
values expected(std::uint64_t number, std::uint64_t t, const lamina::run_options& o,
                float probability) {
  values left;
  for (std::size_t i = 0; i < 15; ++i) {
    const std::uint64_t stream = number + (1ull << 32) + (t << 40);
    const bool kept =
        lamina::uniform_at(o.seed + o.step, stream, o.first_row * 3 + i) >= probability;
    left.push_back(kept ? 2 : 0);
  }
  return left;
}

}  // namespace

TEST_CASE("each iteration draws its mask: seed, step, operator and iteration tell which") {
  lamina::run_options options;

  options.seed = 8;

  options.step = 3;

  options.first_row = 4;

  const std::vector<values> found = run(dropped<4>, options);

  for (std::size_t t = 0; t < 4; ++t) {
    CHECK(found[t] == expected(1, t, options, 0.4f));
    for (std::size_t s = 0; s < t; ++s) CHECK(found[s] != found[t]);
  }

  CHECK(run<float>(dropped<4>, options) == found);

  // Iterations that came before do not matter.
  CHECK(run(dropped<2>, options) == std::vector<values>(found.begin(), found.begin() + 2));

  options.step = 4;

  CHECK(run(dropped<4>, options) != found);

}  // namespace

TEST_CASE("a loop in a loop goes on counting") {
  lamina::run_options options;
  options.seed = 1;
  CHECK(run(dropped<2, 3>, options) == run(dropped<6>, options));
}

TEST_CASE("an iteration without dropout does not count") {
  constexpr auto sometimes = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto y = x;
    auto i = constant(main, 0), end = constant(main, 3), last = constant(main, 2);
    auto going = layer::less_than(i, end);
    layer::while_loop(going, [&](block&) {
      auto now = layer::equal(i, last);
      layer::conditional_block(now, [&](block&) { y = layer::dropout(x, 0.4f); });
      layer::increment(i);
      layer::less_than(i, end, going);
    });
    return y;
  });
  lamina::run_options options;
  options.seed = 5;
  CHECK(run(sometimes, options)[0] == expected(0, 0, options, 0.4f));
}

TEST_CASE("gradient: dropout in a loop reads the mask of its own iteration") {
  constexpr auto product = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto sum = layer::scale(x, 0);
    auto i = constant(main, 0), end = constant(main, 3);
    auto going = layer::less_than(i, end);
    layer::while_loop(going, [&](block&) {
      sum = layer::dropout(layer::tanh(sum + layer::fc<3>(x)), 0.4f) + sum;
      layer::increment(i);
      layer::less_than(i, end, going);
    });
    return layer::reduce_sum(layer::square(sum));
  });
  laws::check_block_gradients(product, {}, {.rows = 4});
}

TEST_CASE("gradient: dropout in the steps of a dynamic_rnn, and of the whole recurrence") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 3>(main);
    auto hidden = layer::dynamic_rnn(x, [&](auto& step) {
      auto h = step.memory(lamina::dims<4>, {.value = 0.2f});
      auto next = layer::tanh(layer::fc<4>(std::tuple{step.input(x), layer::dropout(h, 0.3f)}));
      step.update(h, next);
      return layer::dropout(next, 0.3f,
                            {.implementation = layer::dropout_implementation::upscale_in_train});
    });
    return layer::reduce_sum(layer::square(hidden));
  });
  laws::check_block_gradients(net, {}, {.rows = 3, .lengths = {{4, 1, 2}}});
}

TEST_CASE("in a test no iteration drops anything") {
  constexpr auto tested = decltype(lamina::transform::clone_for_test(dropped<2>)){};
  lamina::run_options options;
  for (const values& v : run(tested, options))
    for (const double y : v) CHECK(y == Approx(2 * 0.6));
}

namespace {

tensor reals(const lamina::tensor_shape& shape, const std::vector<float>& values) {
  return tensor(shape, values);
}

}  // namespace

TEST_CASE("dropout keeps what the shared convention says, in whole and in parts") {
  constexpr auto p = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto first = layer::dropout(x, 0.5f);
    return std::tuple{
        first, layer::dropout(x, 0.25f,
                              {.implementation = layer::dropout_implementation::upscale_in_train})};
  });
  const lamina::feed_map ones{{"x", reals({4, 3}, std::vector<float>(12, 1))}};
  lamina::run_options options;
  options.seed = 5;
  options.step = 2;
  const auto r = returned_by(p, ones, options);
  for (std::uint64_t i = 0; i < 12; ++i) {
    CHECK(values_of(r[0])[i] ==
          (lamina::dropout_keeps(7, lamina::dropout_stream(0), i, 0.5f) ? 1 : 0));
    CHECK(values_of(r[1])[i] ==
          Approx(lamina::dropout_keeps(7, lamina::dropout_stream(1), i, 0.25f) ? 1 / 0.75 : 0));
  }
  options.first_row = 2;
  const auto half = returned_by(p, {{"x", reals({2, 3}, std::vector<float>(6, 1))}}, options);
  for (std::size_t i = 0; i < 6; ++i) CHECK(values_of(half[0])[i] == values_of(r[0])[6 + i]);
  options = {};
  options.seed = 5;
  options.step = 3;
  CHECK(values_of(returned_by(p, ones, options)[0]) != values_of(r[0]));
  constexpr auto test = decltype(lamina::transform::clone_for_test(p)){};
  const auto t = returned_by(test, ones);
  CHECK(values_of(t[0]) == std::vector<double>(12, 0.5));
  CHECK(values_of(t[1]) == std::vector<double>(12, 1));
}

TEST_CASE("gradient: top_k and dropout with a fixed seed") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::fc<5>(layer::data<"x", float, 3>(main));
    auto [values, places] = layer::topk<2>(x);
    (void)places;
    return layer::mean(layer::square(values)) + layer::mean(layer::square(layer::dropout(x, 0.4f)));
  }));
}

namespace {

template <int W>
constexpr auto dropped_on_engine = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  auto a = layer::dropout(x, 0.3f);
  auto b =
      layer::dropout(x * 2.0, 0.6f, {.implementation = dropout_implementation::upscale_in_train});
  auto c = layer::dropout(x, 0.5f, {.seed = 11});
  auto d = layer::dropout(x, 0.4f, {.is_test = true});
  auto e = layer::dropout(
      x, 0.4f, {.is_test = true, .implementation = dropout_implementation::upscale_in_train});
  auto cost = layer::mean(a * a) + layer::mean(b * b * b) + layer::mean(c * c) +
              layer::mean(d * d) + layer::mean(e * e);
  return std::tuple{cost, a, b, c, d, e};
});

constexpr auto wide = program([](block& main) {
  auto x = layer::data<"x", float, 250>(main);
  auto a = layer::dropout(x, 0.3f);
  auto b = layer::dropout(x, 0.75f, {.implementation = dropout_implementation::upscale_in_train});
  return std::tuple{layer::mean(a), a, b};
});

}  // namespace

// With `rows_are_alone` the law runs single rows with their place in the whole batch: a mask must
// not depend on the shard.
TEST_CASE("dropout on the engine is that of the executor, in every shard") {
  check_engine(dropped_on_engine<1>);
  check_engine(dropped_on_engine<5>);
  check_engine(dropped_on_engine<16>);
  check_engine(dropped_on_engine<33>);
}

TEST_CASE("dropout keeps as many as it should and preserves the mean") {
  using run_type = engine_run<std::remove_const_t<decltype(wide)>>;
  engine_law_options o;
  o.low = o.high = 1;
  run_type run(o);
  const int rows = 400;
  run.draw(rows);
  run.run_engine(0, rows, 1, 0);
  const double n = 250.0 * rows;
  const std::vector<double> a = run.on_engine(run_type::desc.outputs[1]);
  const std::vector<double> b = run.on_engine(run_type::desc.outputs[2]);
  const auto check = [n](const std::vector<double>& v, double keep, double value) {
    double kept = 0, sum = 0;
    for (double x : v) {
      kept += x != 0 ? 1 : 0;
      sum += x;
      REQUIRE((x == 0 || x == Approx(value)));
    }
    // Five standard deviations of the binomial distribution.
    const double deviation = std::sqrt(keep * (1 - keep) / n);
    CHECK(std::abs(kept / n - keep) < 5 * deviation);
    CHECK(std::abs(sum / n - keep * value) < 5 * deviation * value);
  };
  check(a, 0.7, 1);
  check(b, 0.25, 4);

  // Neither columns nor rows go together.
  for (int step : {1, 250}) {
    double both = 0;
    const std::size_t pairs = a.size() - static_cast<std::size_t>(step);
    for (std::size_t i = 0; i < pairs; ++i)
      both += a[i] != 0 && a[i + static_cast<std::size_t>(step)] != 0 ? 1 : 0;
    CHECK(std::abs(both / static_cast<double>(pairs) - 0.49) < 0.01);
  }

  run.run_engine(0, rows, 1, 1);
  CHECK(run.on_engine(run_type::desc.outputs[1]) != a);
  run.run_engine(0, rows, 1, 0);
  CHECK(run.on_engine(run_type::desc.outputs[1]) == a);
}
