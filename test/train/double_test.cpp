// SPDX-License-Identifier: Apache-2.0
// Programs in double: training by every kind of update, on threads, with norms limited, from and to
// files; all in double, and to the digits of double.
#include <filesystem>

#include "io/temporary_folder.hpp"
#include "train/optimizer_step.hpp"

#include <lamina/io/model_files.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/evaluation/loops_on_threads.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/train/run.hpp>

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;

namespace {

template <class Real>
constexpr auto net_in = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", Real, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::fc<17>(x, {.act = lamina::activation::tanh});
  auto logits = layer::fc<3>(hidden, {.name = "output"});
  auto accuracy = layer::accuracy(layer::softmax(logits), label, {.name = "accuracy"});
  layer::cast<double>(accuracy, {.name = "in_double"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});
constexpr auto& net = net_in<double>;
constexpr auto& float_net = net_in<float>;
using net_type = std::remove_cvref_t<decltype(net)>;

static_assert(std::is_same_v<lamina::model<net_type>::real, double>);

// A training loop that is a program, whose learning rate and norms change from step to step.
constexpr optimizer::momentum falling{
    .learning_rate =
        lamina::schedule::exponential_decay{
            .learning_rate = 0.2f, .decay_steps = 2, .decay_rate = 0.7f},
    .momentum = 0.9f,
    .clip = lamina::clip_by_global_norm(0.3f)};
template <class X, class Y>
constexpr auto cost_of(X x, Y label) {
  auto hidden = layer::fc<17>(x, {.act = lamina::activation::tanh});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<3>(hidden), label));
}
constexpr auto inside = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<double>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [x, label] =
        layer::read_minibatch<"train", lamina::field<double, 6>, lamina::field<std::int64_t>>(loop,
                                                                                              more);
    auto cost = cost_of(x, label);
    falling.minimize(cost);
    last = cost;
  });
  return last;
});
constexpr auto outside = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", double, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  return cost_of(x, label);
});

}  // namespace

TEST_CASE("steps in double are an optimizer's equation", "[threads]") {
  test::check_steps(net, optimizer::sgd{.learning_rate = 0.3f});
  test::check_steps(net, optimizer::momentum{.learning_rate = 0.05f, .use_nesterov = true});
  test::check_steps(net, optimizer::adam{.learning_rate = 0.01f});
  test::check_steps(net, optimizer::rmsprop{.learning_rate = 0.002f, .epsilon = 1e-3f});
  test::check_steps(net, optimizer::lars_momentum{.learning_rate = 1.f, .lars_coeff = 0.02f});
  test::check_steps(net, optimizer::lamb{.learning_rate = 0.02f});
}

TEST_CASE("training in double learns", "[threads]") {
  test::check_training(net, optimizer::adam{.learning_rate = 0.01f}, 0.5);
}

TEST_CASE("gradients in double are difference quotients") {
  lamina::model m{net, 5};
  const auto batch = test::samples(9);
  lamina::gradient_machine g{m};
  const double cost = g.backward(batch);
  CHECK(cost > 0.1);
  lamina::array<double> weight = m.parameter<"fc_0.w_0">();
  const lamina::array<double> gradient = g.gradient<"fc_0.w_0">();
  const double step = 1e-5;
  for (std::size_t k = 0; k < weight.size(); k += 7) {
    const double at = weight.data()[k];
    double costs[2];
    for (int side = 0; side < 2; ++side) {
      weight.data()[k] = at + (side == 0 ? -step : step);
      m.set_parameter<"fc_0.w_0">(weight);
      costs[side] = g.backward(batch);
    }
    weight.data()[k] = at;
    CHECK(gradient.data()[k] ==
          Approx((costs[1] - costs[0]) / (2 * step)).epsilon(1e-8).margin(1e-9));
  }
}

TEST_CASE("two threads in double compute what one does", "[threads]") {
  lamina::model one{net, 3}, two{net, 3};
  const auto batches = test::samples(40) | test::reader::batch(11);
  optimizer::adam{.learning_rate = 0.01f}.train(one, batches, {.passes = 3});
  optimizer::adam{.learning_rate = 0.01f}.train(two, batches, {.passes = 3, .threads = 2});
  CHECK(test::distance(one, two) < 1e-12);
  CHECK(test::distance(one, two) >= 0);
}

TEST_CASE("norms of gradients are limited in double", "[threads]") {
  lamina::model clipped{net, 3}, free{net, 3};
  const auto batches = test::samples(16) | test::reader::batch(16);
  const optimizer::sgd limited{.learning_rate = 0.5f, .clip = lamina::clip_by_global_norm(0.01f)};
  limited.train(clipped, batches, {.passes = 1});
  optimizer::sgd{.learning_rate = 0.5f}.train(free, batches, {.passes = 1});
  const lamina::model<net_type> before{net, 3};
  double squares = 0;
  for (int i = 0; i < clipped.parameter_arrays(); ++i) {
    const auto x = clipped.get(i), y = before.get(i);
    for (std::size_t k = 0; k < x.size(); ++k)
      squares += (x.data()[k] - y.data()[k]) * (x.data()[k] - y.data()[k]);
  }
  // The limit is a float.
  CHECK(std::sqrt(squares) == Approx(0.5 * static_cast<double>(0.01f)).epsilon(1e-6));
  CHECK(test::distance(free, before) > test::distance(clipped, before));
}

TEST_CASE("a trained model in double is that in float, but for roundings") {
  lamina::model in_double{net, 3};
  lamina::model in_float{float_net, 3};
  const auto batches = test::samples(24) | test::reader::batch(8);
  const double a =
      optimizer::sgd{.learning_rate = 0.3f}.train(in_double, batches, {.passes = 3}).cost;
  const double b =
      optimizer::sgd{.learning_rate = 0.3f}.train(in_float, batches, {.passes = 3}).cost;
  CHECK(a == Approx(b).epsilon(1e-4));
  CHECK(a != b);
  // A metric in double of a program in float.
  const lamina::test_result r = lamina::evaluator{in_float}.test(batches);
  CHECK(r.metric("in_double") == Approx(r.metric("accuracy")));
}

TEST_CASE("an evaluator in double", "[threads]") {
  lamina::model m{net, 3};
  lamina::evaluator e{m};
  const auto batches = test::samples(24) | test::reader::batch(7);
  const lamina::test_result r = e.test(batches);
  CHECK(r.cost == Approx(std::log(3.0)).margin(0.5));
  CHECK(r.metric("accuracy") > 0);
  CHECK(r.metric("in_double") == Approx(r.metric("accuracy")));
  lamina::array<double> x({2, 6});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = 0.1 * static_cast<double>(i);
  e.forward(lamina::feed<"x">(x));
  const auto out = e.activation<"output">();
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(out(0, 0))>, double>);
  // By hand.
  const lamina::array<double> w = m.parameter<"fc_0.w_0">(), v = m.parameter<"output.w_0">();
  for (std::size_t r2 = 0; r2 < 2; ++r2)
    for (std::size_t k = 0; k < 3; ++k) {
      double sum = 0;
      for (std::size_t h = 0; h < 17; ++h) {
        double inner = 0;
        for (std::size_t j = 0; j < 6; ++j) inner += x(r2, j) * w(j, h);
        sum += std::tanh(inner) * v(h, k);
      }
      CHECK(out(r2, k) == Approx(sum).epsilon(1e-13).margin(1e-14));
    }
}

TEST_CASE("loops on threads in double have the bits of one thread", "[threads]") {
  // Wide enough to be cut, by rows and, the sums of its gradients, by elements.
  static constexpr auto wide = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", double, 120>(main);
    auto hidden = layer::fc<200>(x, {.act = lamina::activation::tanh});
    return std::tuple{layer::mean(hidden * hidden), hidden};
  });
  lamina::model m{wide, 3};
  lamina::evaluator one{m}, two{m};
  lamina::worker_pool pool(2);
  const lamina::loops_on_threads loops(two, pool);
  lamina::array<double> x({301, 120});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = std::sin(0.37 * static_cast<double>(i));
  one.forward(lamina::feed<"x">(x));
  two.forward(lamina::feed<"x">(x));
  CHECK(one.cost() == two.cost());
  const auto a = one.activation<"fc_0">(), b = two.activation<"fc_0">();
  bool same = true;
  for (std::size_t r = 0; r < 301; ++r)
    for (std::size_t j = 0; j < 200; ++j) same = same && a(r, j) == b(r, j);
  CHECK(same);
}

TEST_CASE("a training loop in double that is a program") {
  lamina::model in{inside, 3};
  lamina::model out{outside, 3};
  const auto batches = test::samples(40) | test::reader::batch(9);
  const lamina::run_summary found = lamina::run(in, batches);
  falling.train(out, batches, {.passes = 1});
  REQUIRE(in.parameter_arrays() == out.parameter_arrays());
  for (int i = 0; i < in.parameter_arrays(); ++i) {
    const auto a = in.get(i), b = out.get(i);
    for (std::size_t k = 0; k < a.size(); ++k)
      // Learning rates and scales of gradients are floats, here and there.
      CHECK(a.data()[k] == Approx(b.data()[k]).epsilon(1e-7).margin(1e-8));
  }
  CHECK(found.cost > 0);
}

TEST_CASE("files of a model in double") {
  const temporary_folder folder;
  lamina::model m{net, 3}, read{net, 4};
  const std::string path = (std::filesystem::path(folder.path()) / "model").string();
  m.save(path);
  read.load(path);
  CHECK(test::distance(m, read) == 0);
  // A model in float takes none of it.
  lamina::model other{float_net, 4};
  CHECK_THROWS_WITH(other.load(path), Catch::Contains("expected float32 [6, 17], found float64"));
  lamina::save_persistables(folder.path(), m);
  lamina::model again{net, 5};
  lamina::load_persistables(folder.path(), again);
  CHECK(test::distance(m, again) == 0);
}

TEST_CASE("a checkpoint in double goes on to the same bits") {
  const temporary_folder folder;
  const auto batches = test::samples(24) | test::reader::batch(8);
  const optimizer::adam adam{.learning_rate = 0.01f};
  lamina::model whole{net, 3}, half{net, 3}, rest{net, 9};
  adam.train(whole, batches, {.passes = 4});
  adam.train(half, batches,
             {.passes = 2, .checkpoint = {.directory = folder.path(), .resume = true}});
  adam.train(rest, batches,
             {.passes = 4, .checkpoint = {.directory = folder.path(), .resume = true}});
  CHECK(test::distance(whole, rest) == 0);
}
