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

#include "model/scores.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/model/evaluation/metric_sums.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;

using integer = std::int64_t;
using namespace scored;

namespace {

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
