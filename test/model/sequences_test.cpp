// SPDX-License-Identifier: Apache-2.0
// Sequences through feeder, evaluator, gradient machine and training, on several threads too.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "model/draws.hpp"
#include "model/samples.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto tagging = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto next = layer::sequence<"next", std::int64_t>(word);
  auto e = layer::embedding<12, 8>(word);
  auto logits = layer::fc<12>(e, {.name = "logits"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, next));
});
constexpr auto polarity = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::fc<16>(layer::embedding<12, 8>(word), {.act = lamina::activation::tanh});
  auto logits = layer::fc<2>(layer::sequence_pool(h, {.type = lamina::pooling_type::max}),
                             {.name = "logits"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});
constexpr auto points = lamina::program([](lamina::block& main) {
  auto x = layer::nested_sequence<"x", float, 2>(main);
  auto sums = layer::sequence_pool(x, {.type = lamina::pooling_type::sum});
  return layer::mean(layer::sequence_pool(sums, {.type = lamina::pooling_type::max, .name = "y"}));
});

constexpr auto highest = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto h = layer::fc<1>(x, {.param = {.name = "w"}, .bias = false});
  return layer::mean(layer::sequence_pool(h, {.type = lamina::pooling_type::max, .name = "y"}));
});

struct tagged {
  std::vector<std::int64_t> word, next;
};
struct point_list {
  std::vector<float> x;
};
struct sentence {
  std::vector<std::int64_t> word;
  std::int64_t label;
};

std::vector<sentence> sentences(int n) {
  std::vector<sentence> all;
  test::draws draw(7);
  for (int i = 0; i < n; ++i) {
    sentence s{{}, 0};
    const auto length = draw(9);  // 0 too
    for (std::int64_t k = 0; k < length; ++k) {
      s.word.push_back(draw(12));
      if (s.word.back() < 2) s.label = 1;
    }
    all.push_back(s);
  }
  return all;
}

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

TEST_CASE("sequences in braces are fed as those in containers") {
  lamina::model model{polarity};
  lamina::evaluator e{model}, braces{model};
  e.forward(lamina::feed<"word">(std::vector<std::vector<std::int64_t>>{{3, 1, 4}, {}, {1}}));
  braces.forward(lamina::feed<"word">({{3, 1, 4}, {}, {1}}));
  const auto expected = e.activation<"logits">(), found = braces.activation<"logits">();
  REQUIRE(found.shape(0) == 3);
  CHECK(std::vector<float>(found.begin(), found.end()) ==
        std::vector<float>(expected.begin(), expected.end()));
  braces.forward(lamina::feed<"word">({3, 1, 4}));  // one sequence
  REQUIRE(braces.activation<"logits">().shape(0) == 1);
  CHECK(braces.activation<"logits">()(0, 0) == Approx(expected(0, 0)));
}

TEST_CASE("nested sequences are fed as containers of containers") {
  lamina::model model{points};
  lamina::evaluator e{model};
  using point = std::array<float, 2>;
  const std::vector<std::vector<std::vector<point>>> x = {
      {{{1, 2}, {3, 4}}, {{10, -1}}}, {}, {{{5, 5}}, {}}};
  e.forward(lamina::feed<"x">(x));
  auto y = e.activation<"y">();
  REQUIRE(y.shape(0) == 3);
  CHECK(y(0, 0) == 10);
  CHECK(y(0, 1) == 6);
  CHECK(y(1, 0) == 0);
  CHECK(y(2, 0) == 5);
  const auto of_samples = e.sequences<"x", 0>(), of_sequences = e.sequences<"x">();
  REQUIRE(of_samples.count == 3);
  CHECK(of_samples.length(0) == 2);
  CHECK(of_samples.length(1) == 0);
  CHECK(of_samples.begin(2) == 2);
  REQUIRE(of_sequences.count == 4);
  CHECK(of_sequences.end(0) == 2);
  CHECK(of_sequences.length(2) == 1);
  CHECK(of_sequences.length(3) == 0);
}

TEST_CASE("threads see whole sequences", "[threads]") {
  const auto data = sentences(64);
  const auto after = [&](int threads) {
    lamina::model model{polarity, 3};
    lamina::optimizer::sgd sgd{.learning_rate = 0.1f};
    sgd.train(model, data | lamina::reader::batch(16), {.passes = 2, .threads = threads});
    return model.parameter<"logits.w_0">();
  };
  const auto one = after(1), three = after(3);
  for (std::size_t i = 0; i < one.size(); ++i)
    CHECK(three.flat(i) == Approx(one.flat(i)).margin(2e-6));
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

TEST_CASE("parts of a mini-batch have equally many elements, but for a sample") {
  using program = std::remove_const_t<decltype(polarity)>;
  const auto check = [](const std::vector<int>& lengths, int parts) {
    std::vector<sentence> data;
    int all = 0, longest = 0;
    for (const int n : lengths) {
      data.push_back({std::vector<std::int64_t>(static_cast<std::size_t>(n), 3), 0});
      all += n + 1, longest = std::max(longest, n + 1);
    }
    lamina::feeder<program> feeder;
    feeder.fill(data);
    const auto batch = feeder.view();
    int first = 0;
    for (int t = 0; t < parts; ++t) {
      CHECK(lamina::first_of_part(batch, t, parts) == first);
      const int end = lamina::first_of_part(batch, t + 1, parts);
      REQUIRE(first <= end);
      const int count = static_cast<int>(batch.count_before(end) - batch.count_before(first));
      CHECK(std::abs(count - all / parts) <= longest);
      first = end;
    }
    CHECK(first == batch.size());
  };
  check({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 2);
  check({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 3);
  check({100, 0, 0, 0}, 4);
  check({0, 0, 0, 100}, 3);
  check({0, 0, 0}, 3);
  check({4, 4}, 5);
  check({7}, 2);
}

TEST_CASE("what does not fit is named") {
  lamina::model model{tagging};
  lamina::gradient_machine g{model};
  CHECK(test::error_of([&] {
          g.backward(std::vector<tagged>{{{1, 2, 3}, {1, 2}}});
        }) ==
        "lamina: data layer next, row 0: expected 3 elements as in another sequence of that name, "
        "found 2");
  lamina::model nested{points};
  lamina::evaluator e{nested};
  const std::vector<std::vector<std::vector<float>>> odd = {{{1, 2, 3}}};
  CHECK(test::error_of([&] { e.forward(lamina::feed<"x">(odd)); }) ==
        "lamina: data layer x, row 0: expected 2 values (or a multiple), found 3");
  lamina::model two{polarity};
  lamina::evaluator f{two};
  const std::vector<std::vector<std::int64_t>> words = {{1}, {2}};
  const std::vector<std::int64_t> labels = {0};
  CHECK(test::error_of([&] {
          f.forward(lamina::feed<"word">(words), lamina::feed<"label">(labels));
        }) == "lamina: feed label: expected 2 rows as in the other feeds, found 1");
}
