// SPDX-License-Identifier: Apache-2.0
// Metrics of a pass: counts begin with nothing, are added up over mini-batches and threads, and the
// value is that of all rows. Sources: PaddlePaddle/Paddle#13824, PaddlePaddle/models#3441.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/model/metric_sums.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;

using integer = std::int64_t;

namespace {

// The probability of class 1 grows with x; no rate, so that training changes nothing.
constexpr auto scores = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float>(main);
  auto y = layer::data<"y", integer>(main);
  auto p = layer::softmax(layer::fc<2>(x, {.param = {.name = "w"}, .bias = false}));
  layer::auc(p, y, {.name = "auc"});
  auto one = layer::cast<float>(y);
  auto found = layer::relu(layer::sign(x));
  auto hits = layer::reduce_sum(found * one);
  layer::elementwise_div(hits, layer::reduce_sum(found), {.name = "precision"});
  layer::elementwise_div(layer::mean(found * one), layer::mean(one), {.name = "recall"});
  auto guarded =
      layer::elementwise_max(layer::reduce_sum(found), layer::fill_constant<float>(main, 1));
  layer::scale(layer::elementwise_div(hits, guarded), 100, {.name = "percent"});
  return layer::mean(layer::cross_entropy(p, y));
});

struct sample {
  float x;
  integer y;
};

/// Of the second kind no row of the first mini-batches has x above 0.
std::vector<sample> some_samples(int kind) {
  std::vector<sample> all;
  for (int i = 0; i < 41; ++i) {
    const float x = static_cast<float>((i * 17 + kind * 5) % 23) / 8 - 1;
    all.push_back({kind == 1 && i < 12 ? -1 - std::abs(x) : x, (i * i + i / 3 + kind) % 3 == 0});
  }
  return all;
}

std::map<std::string, double> values_of(const std::vector<sample>& all) {
  double hits = 0, found = 0, ones = 0, pairs = 0, above = 0;
  for (const sample& a : all) {
    found += a.x > 0, ones += a.y == 1, hits += a.x > 0 && a.y == 1;
    for (const sample& b : all)
      if (a.y == 1 && b.y == 0) pairs += 1, above += a.x > b.x ? 1 : a.x == b.x ? 0.5 : 0;
  }
  return {{"auc", above / pairs},
          {"precision", hits / found},
          {"recall", hits / ones},
          {"percent", 100 * hits / found}};
}

void set_weights(lamina::model<std::remove_const_t<decltype(scores)>>& m) {
  m.set_parameter<"w">(lamina::array<float>({1, 2}, {0, 1}));
}

constexpr auto tags = lamina::program([](lamina::block& main) {
  auto path = layer::sequence<"path", integer>(main);
  auto label = layer::sequence<"label", integer>(path);
  auto x = layer::cast<float>(path);
  auto [precision, recall, f1, inferred, labelled, correct] =
      layer::chunk_eval<1>(path, label, {.scheme = layer::chunk_scheme::iob, .name = "precision"});
  layer::scale(recall, 1, {.name = "recall"});
  layer::scale(f1, 100, {.name = "f1"});
  layer::mean(x, {.name = "mean tag"});
  return layer::mean(layer::fc<1>(x));
});

using tagged = std::tuple<std::vector<integer>, std::vector<integer>>;

/// Chunks of one word: tag 0 begins one, tag 2 is outside.
std::vector<tagged> some_tags() {
  std::vector<tagged> all;
  for (int i = 0; i < 9; ++i) {
    std::vector<integer> path, label;
    for (int k = 0; k < (i * 5) % 7; ++k) {
      path.push_back((i + k) % 3 == 0 ? 0 : 2);
      label.push_back((i * k) % 2 == 0 ? 0 : 2);
    }
    all.push_back({path, label});
  }
  return all;
}

}  // namespace

TEST_CASE("metrics of a pass: test() begins with nothing and tells those of all data") {
  lamina::model m{scores};
  set_weights(m);
  lamina::evaluator e{m};
  for (const int batch : {2, 7, 100})
    for (const int kind : {0, 1}) {
      const auto all = some_samples(kind);
      const auto found = e.test(all | reader::batch(batch));
      for (const auto& [name, value] : values_of(all)) {
        INFO(name << " of kind " << kind << " in mini-batches of " << batch);
        CHECK(found.metric(name) == Approx(value).epsilon(1e-3));
      }
    }
}

TEST_CASE("metrics of a pass: chunks and elements of sequences are counted", "[threads]") {
  const auto all = some_tags();
  double inferred = 0, labelled = 0, correct = 0, sum = 0, words = 0;
  for (const auto& [path, label] : all)
    for (std::size_t k = 0; k < path.size(); ++k) {
      inferred += path[k] == 0, labelled += label[k] == 0;
      correct += path[k] == 0 && label[k] == 0;
      sum += static_cast<double>(path[k]), words += 1;
    }
  const auto check = [&](auto&& metric) {
    CHECK(metric("precision") == Approx(correct / inferred));
    CHECK(metric("recall") == Approx(correct / labelled));
    CHECK(metric("f1") == Approx(200 * correct / (inferred + labelled)));
    CHECK(metric("mean tag") == Approx(sum / words));
  };
  lamina::model m{tags};
  lamina::evaluator e{m};
  for (const int batch : {1, 2, 9}) {
    const auto r = e.test(all | reader::batch(batch));
    check([&](const char* name) { return r.metric(name); });
  }
  for (const int threads : {1, 2, 3})
    lamina::optimizer::sgd{.learning_rate = 0.f}.train(
        m, all | reader::batch(4),
        {.threads = threads, .on_event = [&](const lamina::event& event) {
           if (event.is_end_pass()) check([&](const char* name) { return event.metric(name); });
         }});
}
