// SPDX-License-Identifier: Apache-2.0
// Loops, branches and sequences that operators make, through evaluator, gradient machine and
// training, on several threads too.
#include <vector>

#include "model/draws.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/common/dynamic_rows.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

namespace {

// Whether the first 1 stands before the first 2: fillers, 0, are erased before.
constexpr auto order = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto kept = layer::sequence_erase<"kept">(word, {0}, {.name = "kept"});
  auto x = layer::embedding<4, 8>(kept);
  auto hidden = layer::dynamic_rnn(x, [&](auto& step) {
    auto h = step.memory(lamina::dims<12>);
    auto next = layer::tanh(layer::fc<12>(std::tuple{step.input(x), h}));
    step.update(h, next);
    return next;
  });
  auto last = layer::sequence_last_step(hidden);
  auto logits = layer::fc<2>(last, {.name = "logits"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

// A cost over rows that an operator made, and rows that go two ways.
constexpr auto of_words = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto kept = layer::sequence_erase<"kept">(word, {0});
  auto x = layer::embedding<4, 8>(kept);
  auto key = layer::fc<1>(x, {.bias = false});
  auto h = layer::if_else(
      layer::greater_than(key, layer::scale(key, 0)),
      [&](auto& yes) { return layer::fc<4>(yes.input(x)); },
      [&](auto& no) { return layer::tanh(layer::fc<4>(no.input(x))); });
  auto logits = layer::fc<4>(h, {.name = "logits"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, kept));
});

struct sample {
  std::vector<std::int64_t> word;
  std::int64_t label;
};

std::vector<sample> samples(int n) {
  std::vector<sample> all;
  test::draws draw(11);
  for (int i = 0; i < n; ++i) {
    sample s{{}, draw(2)};
    const auto fill = [&] {
      for (auto k = draw(4); k > 0; --k) s.word.push_back(draw(2) * 3);
    };
    fill();
    s.word.push_back(1 + s.label);
    fill();
    s.word.push_back(2 - s.label);
    fill();
    all.push_back(s);
  }
  return all;
}

std::vector<std::vector<std::int64_t>> words(int n) {
  std::vector<std::vector<std::int64_t>> all;
  for (const sample& s : samples(n)) all.push_back(s.word);
  return all;
}

template <class P, class Data>
auto trained(const P& program, const Data& data, int threads, int passes) {
  lamina::model model{program, 3};
  lamina::optimizer::sgd sgd{.learning_rate = 0.2f};
  sgd.train(model, data | lamina::reader::batch(12), {.passes = passes, .threads = threads});
  return model.template parameter<"logits.w_0">();
}

}  // namespace

TEST_CASE("a recurrence over made sequences learns") {
  lamina::model model{order};
  lamina::optimizer::adam adam{.learning_rate = 0.02f};
  adam.train(model, samples(400) | lamina::reader::batch(20), {.passes = 15});
  lamina::evaluator e{model};
  CHECK(e.test(samples(400) | lamina::reader::batch(50)).metric("accuracy") > 0.97);
}

TEST_CASE("activations have the rows that were made, and each sample alone has the same") {
  lamina::model model{order};
  lamina::evaluator e{model}, one{model};
  const std::vector<std::vector<std::int64_t>> words = {{0, 3, 1, 0}, {}, {0}, {2, 2, 1}};
  e.forward(lamina::feed<"word">(words));
  auto kept = e.activation<"kept">();
  REQUIRE(kept.shape(0) == 5);
  CHECK(kept(0, 0) == 3);
  CHECK(kept(4, 0) == 1);
  const auto made = e.sequences<"kept">();
  REQUIRE(made.count == 4);
  const int end[] = {2, 2, 2, 5};
  for (int i = 0; i < 4; ++i) {
    CHECK(made.begin(i) == (i == 0 ? 0 : end[i - 1]));
    CHECK(made.end(i) == end[i]);
  }
  auto all = e.activation<"logits">();
  REQUIRE(all.shape(0) == 4);
  for (std::size_t i = 0; i < words.size(); ++i) {
    one.forward(lamina::feed<"word">(words[i]));
    auto row = one.activation<"logits">();
    REQUIRE(row.shape(0) == 1);
    for (std::size_t j = 0; j < 2; ++j) CHECK(row(0, j) == Approx(all(i, j)).margin(1e-6));
  }
}

TEST_CASE("parts count by the rows of the cost that they made", "[threads]") {
  const auto one = trained(of_words, words(60), 1, 2), three = trained(of_words, words(60), 3, 2);
  const auto before = trained(of_words, words(60), 1, 0);
  double moved = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    CHECK(three.flat(i) == Approx(one.flat(i)).margin(2e-6));
    moved += std::abs(static_cast<double>(one.flat(i) - before.flat(i)));
  }
  CHECK(moved > 0.01);
}

TEST_CASE("threads run recurrences of their own", "[threads]") {
  const auto one = trained(order, samples(60), 1, 2), three = trained(order, samples(60), 3, 2);
  for (std::size_t i = 0; i < one.size(); ++i)
    CHECK(three.flat(i) == Approx(one.flat(i)).margin(5e-6));
}
