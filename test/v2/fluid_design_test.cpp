// SPDX-License-Identifier: Apache-2.0
// The programs of "Design Doc: PaddlePaddle Fluid": a model and a loop, and the process itself.
#include <array>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/v2.hpp>

namespace paddle = lamina::v2;
namespace layer = paddle::layer;
namespace layers = lamina::layer;
using paddle::data_type::dense_vector;

namespace {

struct sample {
  std::array<float, 4> image;
  std::array<float, 3> label;
};

/// The next of 1000 mini-batches: the label is which of the first three numbers is the largest.
std::vector<sample> read_minibatch(std::uint64_t number) {
  lamina::reader::random random(1, 0, number);
  std::vector<sample> m(8);
  for (sample& s : m) {
    for (float& x : s.image) x = random.uniform();
    std::size_t largest = 0;
    for (std::size_t k = 1; k < 3; ++k)
      if (s.image[k] > s.image[largest]) largest = k;
    s.label[largest] = 1;
  }
  return m;
}
std::vector<std::vector<sample>> thousand_minibatches() {
  std::vector<std::vector<sample>> all;
  for (std::uint64_t i = 0; i < 1000; ++i) all.push_back(read_minibatch(i));
  return all;
}

// == design: Deep Learning Programming Paradigms, a model
// x = layer.data("image")
// l = layer.data("label")
// f = layer.fc(x, W)
// s = layer.softmax(f)
// c = layer.mse(l, s)
constexpr auto c = lamina::program([](lamina::block& main) {
  auto x = layer::data<"image", dense_vector<4>>(main);
  auto l = layer::data<"label", dense_vector<3>>(main);
  auto f = layer::fc<3>(x, {.param = {.name = "W"}});
  auto s = layer::softmax(f);
  return layer::mse(l, s);
});
// ==

// == design: Deep Learning Programming Paradigms, no model
// W = tensor(...)
//
// for i in xrange(1000): # train for 1000 iterations
//     m = read_minibatch()
//     x = m["image"]
//     l = m["label"]
//     f = layer.fc(x, W)
//     s = layer.softmax(f)
//     c = layer.mse(l, s)
//     backward()
constexpr auto process = lamina::program([](lamina::block& main) {
  auto W = layers::create_parameter<float, 4, 3>(main, {.name = "W"});
  auto b = layers::create_parameter<float, 3>(
      main, {.name = "b", .initializer = lamina::init::constant(0)});

  auto more = layers::fill_constant<bool>(main, true);
  auto last = layers::fill_constant<float>(main, 0);
  layers::while_loop(more, [&](lamina::block& loop) {  // as long as there are mini-batches
    auto [x, l] =
        layers::read_minibatch<"m", lamina::field<float, 4>, lamina::field<float, 3>>(loop, more);
    auto f = layers::elementwise_add(layers::matmul(x, W), b);
    auto s = layers::softmax(f);
    auto c = layer::mse(l, s);
    lamina::optimizer::sgd{.learning_rate = 0.5f}.minimize(c);  // backward()
    last = c;
  });
  return last;
});
// ==

/// What both recurrences compute in a step: the next state of a word and of the state before.
constexpr auto the_step = [](auto x, auto before) {
  constexpr auto start = lamina::init::constant(0.125f);
  auto from_word = layers::fc<2>(x, {.param = {.name = "W", .initializer = start}, .bias = false});
  auto from_state =
      layers::fc<2>(before, {.param = {.name = "U", .initializer = start}, .bias = false});
  return layers::tanh(from_word + from_state);
};
/// The cost of the last state, for both: its first number is to be the target.
constexpr auto cost_of_state = [](auto state, auto target) {
  return layers::mean(layers::square_error_cost(
      layers::fc<1>(state, {.param = {.name = "out", .initializer = lamina::init::constant(1)}}),
      target));
};

// == design: Describe Arbitrary Models for the Future, a recurrence
// for i in xrange(1000):
//     m = read_minibatch()
//     x = m["sentence"]
//     for t in xrange x.len():
//         h[t] = the_step(x[t])
constexpr auto recurrence = lamina::program([](lamina::block& main) {
  auto more = layers::fill_constant<bool>(main, true);
  auto last = layers::fill_constant<float>(main, 0);
  layers::while_loop(more, [&](lamina::block& loop) {
    auto m = layers::read_minibatch<"m", lamina::sequence_field<"sentence", float, 2>,
                                    lamina::field<float>>(loop, more);
    auto x = std::get<0>(m);  // m["sentence"]
    auto target = std::get<1>(m);
    auto [h, state] = layers::dynamic_rnn(x, [&](auto& t) {  // for t in xrange x.len()
      auto before = t.memory(lamina::dims<2>);
      auto now = the_step(t.input(x), before);
      t.update(before, now);
      return std::tuple{now, t.last(before)};  // h[t], and h of the last word
    });
    auto cost = cost_of_state(state, target);
    lamina::optimizer::sgd{.learning_rate = 0.1f}.minimize(cost);
    last = cost;
  });
  return last;
});
// ==

constexpr int length = 5;

// == design: Describe Arbitrary Models for the Future, loops of the program
// train_loop = layers.While(cond)
// with train_loop.block():
//   m = read_minibatch()
//   x = m["sentence"]
//   rnn = layers.While(...)
//   with rnn.block():
//     h[t] = the_step(input[t])
constexpr auto loops = lamina::program([](lamina::block& main) {
  auto cond = layers::fill_constant<bool>(main, true);
  auto last = layers::fill_constant<float>(main, 0);
  layers::while_loop(cond, [&](lamina::block& train_loop) {
    auto m = layers::read_minibatch<"m", lamina::field<float, length, 2>, lamina::field<float>>(
        train_loop, cond);
    auto x = std::get<0>(m);  // m["sentence"]
    auto target = std::get<1>(m);
    auto words = layers::unstack<1>(x);
    auto t = layers::fill_constant<std::int64_t>(train_loop, 0);
    auto input = layers::array_write(words[0], t);
    for (int i = 1; i < length; ++i)
      layers::array_write(words[i], layers::fill_constant<std::int64_t>(train_loop, i), input);
    auto end = layers::array_length(input);
    auto state = 0 * words[0];
    auto h = layers::create_array<decltype(state)>(train_loop);
    auto going = layers::less_than(t, end);
    layers::while_loop(going, [&](lamina::block&) {  // rnn
      state = the_step(layers::array_read(input, t), state);
      layers::array_write(state, t, h);  // h[t]
      layers::increment(t);
      layers::less_than(t, end, going);
    });
    auto cost = cost_of_state(state, target);
    lamina::optimizer::sgd{.learning_rate = 0.1f}.minimize(cost);
    last = cost;
  });
  return last;
});
// ==

using word = std::array<float, 2>;

/// Mini-batches of sentences of `length` words, as sequences and as whole arrays; the target is the
/// sum of the first numbers of the words.
template <class Sentence>
std::vector<std::vector<std::tuple<Sentence, float>>> sentences() {
  std::vector<std::vector<std::tuple<Sentence, float>>> all(30);
  std::uint64_t number = 0;
  for (auto& minibatch : all)
    for (int i = 0; i < 4; ++i) {
      lamina::reader::random random(1, 0, number++);
      Sentence s;
      float sum = 0;
      for (int t = 0; t < length; ++t) {
        const word w{random.uniform(-0.5f, 0.5f), random.uniform(-0.5f, 0.5f)};
        if constexpr (std::is_same_v<Sentence, std::vector<word>>)
          s.push_back(w);
        else
          s.insert(s.end(), w.begin(), w.end());
        sum += w[0];
      }
      minibatch.emplace_back(std::move(s), sum / 4);
    }
  return all;
}

}  // namespace

TEST_CASE("Design Doc: PaddlePaddle Fluid, Paradigms: a model that is trained, and W is printed") {
  lamina::model model{c};
  const auto before = lamina::evaluator{model}.test(thousand_minibatches()).cost;
  const auto sgd = lamina::optimizer::sgd{.learning_rate = 0.5f};
  // == design: Deep Learning Programming Paradigms, a model
  //
  // for i in xrange(1000): # train for 1000 iterations
  //     m = read_minibatch()
  //     forward({input=x, data=m}, minimize=c)
  //     backward(...)
  //
  // print W # print the trained model parameters.
  lamina::trainer trainer{model, sgd};
  for (int i = 0; i < 1000; ++i) {  // train for 1000 iterations
    auto m = read_minibatch(i);
    trainer.backward(m);  // forward, and the gradients of c
    trainer.update();
  }
  auto W = model.parameter<"W">();  // the trained model parameters
  // ==
  CHECK(trainer.steps() == 1000);
  CHECK(lamina::evaluator{model}.test(thousand_minibatches()).cost < 0.5 * before);
  CHECK(W.shape() == std::vector<std::size_t>{4, 3});
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(W(k, k) > W(k, (k + 1) % 3));
    CHECK(W(k, k) > W(k, (k + 2) % 3));
  }
}

TEST_CASE(
    "Design Doc: PaddlePaddle Fluid, Paradigms: the process as a program trains as the model") {
  lamina::model start{c}, twin{c};
  // == design: Deep Learning Programming Paradigms, no model
  //
  // print W # print the trained model parameters.
  lamina::model trained{process};
  trained.set_parameter<"W">(start.parameter<"W">());
  auto run = lamina::run(trained, thousand_minibatches());
  auto W = trained.parameter<"W">();  // the trained model parameters
  // ==
  CHECK(run.minibatches == 1000);
  lamina::optimizer::sgd{.learning_rate = 0.5f}.train(twin, thousand_minibatches());
  const auto expected = twin.parameter<"W">();
  for (std::size_t i = 0; i < 12; ++i) CHECK(W.flat(i) == Approx(expected.flat(i)).margin(1e-5));
}

TEST_CASE("Design Doc: PaddlePaddle Fluid, the Future: a recurrence over sentences is learned") {
  const auto data = sentences<std::vector<word>>();
  lamina::model model{recurrence};
  std::vector<double> costs;
  for (int pass = 0; pass < 6; ++pass) costs.push_back(lamina::run(model, data).cost);
  CHECK(costs.back() < 0.5 * costs.front());
}

TEST_CASE("Design Doc: PaddlePaddle Fluid, the Future: loops of the program are that recurrence") {
  lamina::model of_sentences{recurrence};
  lamina::model of_loops{loops};
  lamina::run(of_sentences, sentences<std::vector<word>>());
  const auto run = lamina::run(of_loops, sentences<std::vector<float>>());
  CHECK(run.minibatches == 30);
  const auto check = [](const auto& a, const auto& b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(a.flat(i) == Approx(b.flat(i)).margin(1e-5));
    CHECK(std::abs(a.flat(0) - 0.125f) > 1e-4f);
  };
  check(of_sentences.parameter<"W">(), of_loops.parameter<"W">());
  check(of_sentences.parameter<"U">(), of_loops.parameter<"U">());
}
