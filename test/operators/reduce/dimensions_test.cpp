// SPDX-License-Identifier: Apache-2.0
// Reductions over dimensions and rows: gradients, element types, the engine.
#include <tuple>

#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;
using lamina::law::engine_law_options;

namespace {

template <int W>
constexpr auto inner_reductions = program([](block& main) {
  auto x = layer::data<"x", float, 3, W>(main);
  auto a = layer::reduce_sum<2>(x);
  auto b = layer::reduce_mean<1>(x);
  auto c = layer::reduce_max<1, 2>(x, layer::keep_dim);
  auto d = layer::reduce_min<-1>(x, layer::keep_dim);
  auto e = layer::reduce_prod<1>(x);
  auto cost = layer::mean(a * a) + layer::mean(b * b) + layer::mean(c * c) + layer::mean(d * d) +
              layer::mean(e * e);
  return std::tuple{cost, a, b, c, d, e};
});

template <int W>
constexpr auto whole_reductions = program([](block& main) {
  auto x = layer::data<"x", float, 2, W>(main);
  auto a = layer::reduce_sum<0>(x);
  auto b = layer::reduce_mean<0, 1>(x);
  auto c = layer::reduce_max(x);
  auto d = layer::reduce_mean(x);
  auto e = layer::reduce_min<0, 2>(x, layer::keep_dim);
  auto cost = layer::mean(a * a) + layer::mean(b * b) + layer::mean(c * c) + layer::mean(d * d) +
              layer::mean(e * e);
  return std::tuple{cost, a, b, c, d, e};
});

template <int W>
constexpr auto broadcasts = program([](block& main) {
  auto x = layer::data<"x", float, 3, W>(main);
  auto row = layer::data<"row", float, W>(main);
  auto channel = layer::data<"channel", float, 3>(main);
  auto w = layer::fill_constant<float, 3>(main, 0.75);
  auto a = layer::elementwise_mul<1>(x, w);
  auto b = layer::elementwise_add<0>(x, channel);
  auto c = layer::elementwise_div<0>(x, channel * channel + 1.0);
  auto d = layer::elementwise_sub<0>(layer::reshape<W, 3>(x), row);
  auto cost = layer::mean(a * a) + layer::mean(b * b) + layer::mean(c * c) + layer::mean(d * d);
  return std::tuple{cost, a, b, c, d};
});

template <int W>
constexpr auto types = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  auto i = layer::data<"i", std::int64_t, W>(main);
  auto j = layer::data<"j", std::int64_t, W>(main);
  auto s = layer::data<"s", std::int32_t, W>(main);
  auto less = layer::less_than(i, j);
  auto same = layer::equal(i, j);
  auto either = layer::logical_or(less, layer::logical_not(same));
  auto real = layer::cast<float>(i);
  auto whole = layer::cast<std::int64_t>(x * 10.0);
  auto sum = layer::elementwise_add(i, j);
  auto product = layer::elementwise_mul(s, s);
  auto rest = layer::elementwise_mod(i, layer::fill_constant<std::int64_t, W>(main, 3));
  auto more = layer::increment(layer::assign(i), 2);
  auto above = layer::greater_equal(x, x * x);
  auto all = layer::reduce_all<1>(either);
  auto any = layer::reduce_any<1>(same);
  auto y = x * real;
  return std::tuple{layer::mean(y * y),
                    less,
                    same,
                    either,
                    real,
                    whole,
                    sum,
                    product,
                    rest,
                    more,
                    above,
                    all,
                    any};
});

constexpr auto exact = program([](block& main) {
  auto i = layer::data<"i", std::int64_t>(main);
  auto j = layer::data<"j", std::int64_t>(main);
  auto x = layer::data<"x", float>(main);
  auto sum = layer::elementwise_add(i, j);
  auto next = sum;
  layer::increment(next, 1);
  return std::tuple{layer::mean(x), sum, layer::less_than(i, j), next};
});

}  // namespace

TEST_CASE("reductions of inner dimensions on the engine are those of the executor") {
  check_engine(inner_reductions<1>);
  check_engine(inner_reductions<5>);
  check_engine(inner_reductions<33>);
}

TEST_CASE("reductions over the rows on the engine are those of the executor") {
  engine_law_options o;
  o.rows_are_alone = false;
  check_engine(whole_reductions<5>, o);
  check_engine(whole_reductions<16>, o);
  o.batches = {0};
  check_engine(whole_reductions<5>, o);
}

TEST_CASE("broadcasts along inner axes on the engine are those of the executor") {
  check_engine(broadcasts<5>);
  check_engine(broadcasts<16>);
  check_engine(broadcasts<33>);
  // Which operand is the largest is known without rows too.
  check_engine(broadcasts<5>, {.rows_are_alone = false, .batches = {0}});
}

TEST_CASE("all element types on the engine are as on the executor") {
  const engine_law_options o{.limit = 9};
  check_engine(types<1>, o);
  check_engine(types<5>, o);
  check_engine(types<33>, o);
}

TEST_CASE("whole numbers are exact beyond what a double holds") {
  using run_type = lamina::law::engine_run<std::remove_const_t<decltype(exact)>>;
  run_type run{engine_law_options{}};
  run.draw(1);
  const std::int64_t a = 9007199254740993, b = 9007199254740994;
  std::memcpy(run.feed(0).bytes.data(), &a, sizeof a);
  std::memcpy(run.feed(1).bytes.data(), &b, sizeof b);
  run.run_engine(0, 1);
  const int* outputs = run_type::desc.outputs;
  std::int64_t sum;
  std::memcpy(&sum, run.engine().address(outputs[1]), sizeof sum);
  CHECK(sum == 18014398509481987);
  std::memcpy(&sum, run.engine().address(outputs[3]), sizeof sum);
  CHECK(sum == 18014398509481988);
  CHECK(*reinterpret_cast<const bool*>(run.engine().address(outputs[2])));
}

TEST_CASE("gradient: reductions over one, several and all dimensions") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3, 4>(main);
    auto a = layer::square(layer::reduce_sum<1>(x));
    auto b = layer::square(layer::reduce_mean<-2>(x)) * layer::reduce_max<1>(x);
    auto c = layer::reduce_min<1>(x) * layer::reduce_prod<1>(x);
    return layer::mean(a + b + c) + layer::reduce_sum(layer::square(x)) +
           layer::mean(layer::reduce_mean<1, 2>(layer::square(x), layer::keep_dim));
  }));
}
