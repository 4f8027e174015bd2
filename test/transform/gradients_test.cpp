// SPDX-License-Identifier: Apache-2.0
// Gradients as values: they are those of append_backward, on the executor and on the engine, also
// through loops and branches and inside of them, and costs may contain them.
#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>
#include <laws/engine_law.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/lamina.hpp>
#include <lamina/plan/parts_form.hpp>
#include <lamina/transform/gradients.hpp>

namespace layer = lamina::layer;
using lamina::activation;
using lamina::block;

namespace {

/// The cost of a network, with the gradients of its data, of an inner variable and of a parameter
/// as further results.
constexpr auto first = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto w = layer::create_parameter<float, 4, 5>(main, {.name = "w"});
  auto h = layer::tanh(layer::mul(x, w));
  auto cost = layer::mean(layer::square(layer::fc<3>(h)) + layer::reduce_sum(h));
  auto [dx, dh, dw] = layer::gradients(cost, x, h, w);
  return std::tuple{cost, dx, dw, layer::scale(dh, 2)};
});

/// The gradients of one variable by append_backward and by layer::gradients.
template <class P>
void check_same(P program, const lamina::feed_map& feed, const std::string& name, int output) {
  constexpr auto back = decltype(lamina::transform::append_backward_to_data(program)){};
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  executor.run_startup(back.view(), scope, 1);
  const auto values = executor.run(program.view(), scope, feed);
  const auto expected = executor.run(back.view(), scope, feed, {name + "@GRAD"}).at(0);
  const auto& found = values.at(static_cast<std::size_t>(output));
  REQUIRE(found.shape() == expected.shape());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found.template cast<double>().flat(i) == expected.template cast<double>().flat(i));
}

/// A layer with the same parameters wherever it is called.
template <int Width, class V>
constexpr auto shared_layer(V x, int number) {
  const lamina::indexed weight("critic", number, "weight"), bias("critic", number, "bias");
  return layer::fc<Width>(x, {.param = {.name = weight}, .bias_param = {.name = bias}});
}
template <class V>
constexpr auto critic(V x) {
  auto h = layer::leaky_relu(shared_layer<5>(x, 0));
  return shared_layer<1>(layer::tanh(shared_layer<5>(h, 1)), 2);
}

/// (|d critic / d x| - 1)^2 of each row.
template <class V>
constexpr auto penalty(V x) {
  auto [dx] = layer::gradients(critic(x), x);
  auto norm = layer::sqrt(layer::reduce_sum<1>(layer::square(dx)));
  return layer::square(norm - 1);
}

constexpr auto penalised = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 6>(main);
  return 10 * layer::mean(penalty(x)) + layer::mean(critic(x));
});

/// The gradient of a mean over the batch depends on the number of rows.
constexpr auto of_mean = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto [dx] = layer::gradients(layer::mean(critic(x)), x);
  return layer::mean(layer::square(dx));
});

/// The square of the gradient of parameters is no sum over rows.
constexpr auto of_parameters = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto w = layer::create_parameter<float, 6, 2>(main, {.name = "w"});
  auto [dw] = layer::gradients(layer::square(layer::tanh(layer::mul(x, w))), w);
  return layer::reduce_sum(layer::square(dw));
});

constexpr auto thrice = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto w = layer::create_parameter<float, 3, 3>(main, {.name = "w"});
  auto [d1] = layer::gradients(layer::square(layer::tanh(layer::mul(x, w))), x);
  auto [d2] = layer::gradients(layer::square(d1), x);
  auto [d3] = layer::gradients(layer::square(d2), x);
  return layer::reduce_mean(layer::square(d3));
});

constexpr auto weighted = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto v = layer::data<"v", float, 2>(main);
  auto h = layer::fc<2>(x, {.act = activation::sigmoid});
  auto [a] = layer::gradients(layer::weighted_target(h, v), x);
  auto [b] = layer::gradients(h * v, x);
  auto [zero] = layer::gradients(layer::floor(x), x);
  return std::tuple{layer::mean(layer::square(a)), a, b, zero};
});

/// A gradient through a loop, and one inside of a loop that depends on what the loop carries.
constexpr auto loops = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto w = layer::create_parameter<float, 3, 3>(main, {.name = "w"});
  const auto repeat = [&](auto body) {
    auto i = layer::fill_constant<std::int64_t>(main, 0),
         n = layer::fill_constant<std::int64_t>(main, 3);
    auto going = layer::less_than(i, n);
    layer::while_loop(going, [&](block&) {
      body();
      layer::increment(i);
      layer::less_than(i, n, going);
    });
  };
  auto h = layer::scale(x, 1);
  repeat([&] { h = layer::tanh(layer::mul(h, w)); });
  auto [dx, dw] = layer::gradients(layer::square(h), x, w);
  auto step = layer::scale(x, 1);
  repeat([&] {
    auto [grad] = layer::gradients(layer::tanh(layer::mul(step, w)), step);
    step = step - 0.5f * grad;
  });
  auto cost = layer::reduce_sum(layer::square(h)) + 0.0f * layer::mean(step);
  return std::tuple{cost, dx, dw, layer::mean(step)};
});

/// The walk of `loops` down the slope is differentiated itself.
constexpr auto unrolled = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto w = layer::create_parameter<float, 3, 3>(main, {.name = "w"});
  auto step = layer::scale(x, 1);
  auto i = layer::fill_constant<std::int64_t>(main, 0),
       n = layer::fill_constant<std::int64_t>(main, 3);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](block&) {
    auto [grad] = layer::gradients(layer::tanh(layer::mul(step, w)), step);
    step = step - 0.5f * grad;
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  return layer::mean(layer::square(step));
});

constexpr lamina::optimizer::momentum inner{.learning_rate = 0.05f, .momentum = 0.5f};

/// The training of `penalised` as a program.
constexpr auto trains_itself = lamina::program([](block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](block& loop) {
    auto [x] = layer::read_minibatch<"train", lamina::field<float, 6>>(loop, more);
    auto cost = 10 * layer::mean(penalty(x)) + layer::mean(critic(x));
    inner.minimize(cost);
    last = cost;
  });
  return last;
});

std::vector<std::tuple<std::array<float, 6>>> some_samples(std::size_t n) {
  std::vector<std::tuple<std::array<float, 6>>> samples(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < 6; ++k)
      std::get<0>(samples[i])[k] = static_cast<float>((i * 7 + k * 5) % 11) / 5 - 1;
  return samples;
}

}  // namespace

TEST_CASE("gradients as values are those of append_backward") {
  const lamina::feed_map feed{
      {"x", lamina::tensor({2, 4}, std::vector<float>{1, -2, 0.5f, 3, 0, 0.25f, -1, 2})}};
  check_same(first, feed, "x", 1);
  check_same(first, feed, "w", 2);
  const lamina::feed_map three{{"x", lamina::tensor({1, 3}, std::vector<float>{1, -2, 0.5f})}};
  check_same(loops, three, "x", 1);
  check_same(loops, three, "w", 2);
}

TEST_CASE("the engine computes gradients as values as the executor does") {
  lamina::law::check_engine(first, {.rows_are_alone = false});
  lamina::law::check_engine(weighted, {});
  lamina::law::check_engine(loops, {.rows_are_alone = false, .edges = false});
}

TEST_CASE("costs of gradients have the gradients of difference quotients") {
  laws::check_gradients(penalised);
  laws::check_gradients(of_mean);
  laws::check_gradients(of_parameters);
  laws::check_gradients(thrice);
  laws::check_gradients(unrolled);
}

TEST_CASE("the engine computes gradients of gradients as the executor does") {
  lamina::law::check_engine(penalised, {.edges = false});
  lamina::law::check_engine(of_mean, {.edges = false});
  lamina::law::check_engine(of_parameters, {.edges = false});
  lamina::law::check_engine(thrice, {.edges = false});
  lamina::law::check_engine(unrolled, {.edges = false});
}

TEST_CASE("the weights of a target are the factors of its elements") {
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(weighted.view(), scope, 1);
  const auto found = executor.run(weighted.view(), scope,
                                  {{"x", lamina::tensor({1, 3}, std::vector<float>{1, -2, 0.5f})},
                                   {"v", lamina::tensor({1, 2}, std::vector<float>{2, -3})}});
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(found[1].as<float>().flat(i) != 0);
    CHECK(found[1].as<float>().flat(i) == Approx(found[2].as<float>().flat(i)));
    CHECK(found[3].as<float>().flat(i) == 0);
  }
}

TEST_CASE("a program for tests keeps the gradients that it returns") {
  const auto test = lamina::transform::clone_for_test(first);
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(first.view(), scope, 1);
  const lamina::feed_map feed{{"x", lamina::tensor({1, 4}, std::vector<float>{1, -2, 0.5f, 3})}};
  const auto a = executor.run(first.view(), scope, feed),
             b = executor.run(test.view(), scope, feed);
  for (std::size_t i = 0; i < 4; ++i) CHECK(a[1].as<float>().flat(i) == b[1].as<float>().flat(i));
}

TEST_CASE("several threads train a cost of gradients only where its rows are alone") {
  const auto fits = [](const auto& p) {
    return static_cast<bool>(lamina::cost_form_of(p.desc, p.desc.cost));
  };
  CHECK(fits(penalised));
  CHECK(!fits(of_mean));
  CHECK(!fits(of_parameters));

  const auto samples = some_samples(7);
  std::vector<std::vector<float>> trained;
  for (const int threads : {1, 3}) {
    lamina::model m{penalised, 5};
    lamina::trainer t{m, lamina::optimizer::sgd{.learning_rate = 0.05f}, {.threads = threads}};
    for (int step = 0; step < 4; ++step) t.step(samples);
    std::vector<float>& all = trained.emplace_back();
    for (int i = 0; i < penalised.desc.count.parameters; ++i) {
      const auto value = m.get(i);
      for (std::size_t k = 0; k < value.size(); ++k) all.push_back(value.flat(k));
    }
  }
  REQUIRE(trained[0].size() == trained[1].size());
  for (std::size_t i = 0; i < trained[0].size(); ++i)
    CHECK(trained[0][i] == Approx(trained[1][i]).epsilon(1e-5).margin(1e-6));
}

TEST_CASE("a program that trains itself minimises a cost of gradients as a trainer does") {
  const std::vector<std::vector<std::tuple<std::array<float, 6>>>> batches{
      some_samples(5), some_samples(3), some_samples(7)};
  lamina::model in{trains_itself, 5};
  lamina::model out{penalised, 5};
  const auto begin = out.get(0);
  lamina::trainer t{out, inner};
  float last = 0;
  for (const auto& b : batches) last = t.step(b);
  CHECK(lamina::run(in, batches).cost == Approx(last).epsilon(1e-5));
  for (int i = 0; i < penalised.desc.count.parameters; ++i)
    for (std::size_t k = 0; k < out.get(i).size(); ++k)
      CHECK(in.get(i).flat(k) == Approx(out.get(i).flat(k)).epsilon(1e-5).margin(1e-6));
  CHECK(out.get(0).flat(0) != begin.flat(0));
}
