// SPDX-License-Identifier: Apache-2.0
// Models of sequences.
#include <initializer_list>
#include <utility>
#include <vector>

#include "model/draws.hpp"
#include "model/samples.hpp"
#include "model/sentences.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
using sentences_of::polarity;
using sentences_of::sentence;
using sentences_of::sentences;
using sentences_of::tagged;
using sentences_of::tagging;

namespace {

constexpr auto highest = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto h = layer::fc<1>(x, {.param = {.name = "w"}, .bias = false});
  return layer::mean(layer::sequence_pool(h, {.type = lamina::pooling_type::max, .name = "y"}));
});

struct point_list {
  std::vector<float> x;
};

}  // namespace

TEST_CASE("a model of sequences learns") {
  lamina::model model{polarity};
  lamina::optimizer::adam adam{.learning_rate = 0.02f};
  adam.train(model, sentences(600) | lamina::reader::batch(20), {.passes = 12});
  lamina::evaluator e{model};
  CHECK(e.test(sentences(600) | lamina::reader::batch(50)).metric("accuracy") > 0.97);
}

TEST_CASE("each sequence alone equals its row in the batch") {
  lamina::model model{polarity};
  lamina::evaluator e{model}, one{model};
  std::vector<std::vector<std::int64_t>> words = {{3, 1, 4}, {}, {1}, {5, 9, 2, 6}};
  e.forward(lamina::feed<"word">(words));
  auto all = e.activation<"logits">();
  REQUIRE(all.shape(0) == 4);
  for (std::size_t i = 0; i < words.size(); ++i) {
    one.forward(lamina::feed<"word">(words[i]));
    auto row = one.activation<"logits">();
    REQUIRE(row.shape(0) == 1);
    for (std::size_t j = 0; j < 2; ++j) CHECK(row(0, j) == Approx(all(i, j)).margin(1e-6));
  }
}

TEST_CASE("parts count by the rows of the cost", "[threads]") {
  std::vector<tagged> data;
  for (const sentence& s : sentences(24)) data.push_back({s.word, s.word});
  const auto after = [&](int threads) {
    lamina::model model{tagging, 3};
    lamina::optimizer::sgd sgd{.learning_rate = 0.1f};
    sgd.train(model, data | lamina::reader::batch(8), {.passes = 2, .threads = threads});
    return model.parameter<"logits.w_0">();
  };
  const auto one = after(1), two = after(2);
  for (std::size_t i = 0; i < one.size(); ++i)
    CHECK(two.flat(i) == Approx(one.flat(i)).margin(2e-6));
}

namespace {

constexpr auto two_tags = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto next = layer::sequence<"next", std::int64_t>(word);
  auto e = layer::embedding<12, 8>(word);
  auto cost_of = [&](auto logits) {
    return layer::mean(layer::softmax_with_cross_entropy(logits, next));
  };
  auto logits = layer::fc<12>(e, {.name = "logits"});
  auto size = layer::reduce_sum<1>(layer::sequence_pool(e, {.type = lamina::pooling_type::max}));
  layer::accuracy(logits, next, {.name = "of words"});
  layer::mean(size, {.name = "of samples"});
  return cost_of(logits) + layer::scale(cost_of(layer::fc<12>(layer::tanh(e))), 0.5f);
});

constexpr auto mean_of_mean = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto pooled =
      layer::sequence_pool(layer::embedding<12, 8>(word), {.type = lamina::pooling_type::average});
  auto logits = layer::fc<2>(pooled, {.name = "logits"});
  auto words = layer::fc<1>(layer::embedding<12, 3>(word));
  layer::mean(words, {.name = "of words"});
  layer::accuracy(logits, label, {.name = "of samples"});
  return layer::mean(layer::mean(layer::softmax_with_cross_entropy(logits, label)));
});

template <class P, class Data>
void check_parts(P program, const Data& data) {
  const auto run = [&](int threads) {
    lamina::model model{program, 3};
    lamina::optimizer::sgd sgd{.learning_rate = 0.1f};
    std::vector<double> metrics;
    sgd.train(
        model, data | lamina::reader::batch(8),
        {.passes = 2, .threads = threads, .on_event = [&](const lamina::event& e) {
           if (e.kind == lamina::event_kind::end_iteration)
             metrics.insert(metrics.end(), {e.metric("of words"), e.metric("of samples"), e.cost});
         }});
    return std::pair{model.template parameter<"logits.w_0">(), metrics};
  };
  const auto [one, metrics] = run(1);
  const auto [three, metrics_of_three] = run(3);
  const lamina::model first{program, 3};
  CHECK(one.flat(0) != first.template parameter<"logits.w_0">().flat(0));
  for (std::size_t i = 0; i < one.size(); ++i)
    CHECK(three.flat(i) == Approx(one.flat(i)).margin(2e-6));
  REQUIRE(metrics.size() == metrics_of_three.size());
  for (std::size_t i = 0; i < metrics.size(); ++i)
    CHECK(metrics_of_three[i] == Approx(metrics[i]).margin(1e-5));
}

}  // namespace

TEST_CASE("sums and means of costs, and metrics, count by their own rows", "[threads]") {
  const std::vector<sentence> all = sentences(24);
  std::vector<tagged> data;
  for (const sentence& s : all) data.push_back({s.word, s.word});
  check_parts(two_tags, data);
  check_parts(mean_of_mean, all);
}

TEST_CASE("gradients of a batch of sequences are means of those of the samples") {
  lamina::model model{polarity, 5};
  lamina::gradient_machine all{model}, one{model};
  const auto data = sentences(4);
  all.backward(data);
  const auto whole = all.gradient<"logits.w_0">();
  lamina::array<float> sum(whole.shape());
  for (const sentence& s : data) {
    one.backward(std::vector<sentence>{s});
    const auto part = one.gradient<"logits.w_0">();
    for (std::size_t i = 0; i < sum.size(); ++i) sum.flat(i) += part.flat(i) / 4;
  }
  for (std::size_t i = 0; i < sum.size(); ++i)
    CHECK(whole.flat(i) == Approx(sum.flat(i)).margin(1e-6));
}

TEST_CASE("the first of equal maxima has the gradient, in long sequences too") {
  lamina::model model{highest};
  auto first_number = model.parameter<"w">();
  first_number.flat(0) = 1;
  first_number.flat(1) = 0;
  model.set(0, first_number);
  lamina::gradient_machine g{model};
  const auto picked = [&](std::initializer_list<std::size_t> at, std::size_t length) {
    point_list s;
    for (std::size_t r = 0; r < length; ++r) {
      s.x.push_back(-1);
      s.x.push_back(static_cast<float>(r));
    }
    for (const std::size_t r : at) s.x[2 * r] = 2;
    CHECK(g.backward(std::vector<point_list>{s}) == 2);
    return g.gradient<"w">().flat(1);  // the second number of the row that was taken
  };
  CHECK(picked({0}, 1) == 0);
  CHECK(picked({5, 7}, 9) == 5);
  CHECK(picked({4095, 4096}, 4097) == 4095);
  CHECK(picked({4096, 9000}, 10000) == 4096);
  CHECK(picked({8191, 8192, 9999}, 10000) == 8191);
  CHECK(picked({9999}, 10000) == 9999);
}
