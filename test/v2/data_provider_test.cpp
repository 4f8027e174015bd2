// SPDX-License-Identifier: Apache-2.0
// Readers of functions that yield (mini-batch, end of pass), and the two readers of the document
// "PaddlePaddle API".
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "reader/read.hpp"
#include <catch2/catch.hpp>

#include <lamina/v2.hpp>

namespace paddle = lamina::v2;
namespace layer = paddle::layer;
using test::read;

namespace document {
namespace {

struct pair {
  float x, y;
};

constexpr double sigma = 0.1;

double sample_from_uniform(double low, double high) {
  static std::uint64_t count = 0;
  lamina::reader::random random(2, 0, count++);
  return low + (high - low) * static_cast<double>(random.uniform());
}
double sample_from_gauss(double mean, double deviation) {
  static std::uint64_t count = 0;
  lamina::reader::random random(3, 0, count++);
  return static_cast<double>(
      random.normal(static_cast<float>(mean), static_cast<float>(deviation)));
}

// == API: A Synthetic Data Reader
// def read(args):
//     x = sample_from_uniform(0.0, 1.0)
//     y = sample_from_gauss(2 * x, sigma)
//     yield {x, y}, False # no end-of-file so no end-of-pass
lamina::generator<std::pair<pair, bool>> synthetic() {
  for (;;) {
    const double x = sample_from_uniform(0.0, 1.0);
    const double y = sample_from_gauss(2 * x, sigma);
    co_yield {pair{float(x), float(y)}, false};  // no end-of-file so no end-of-pass
  }
}
// ==

namespace kafka {

/// Stands for a stream of messages that has no end.
class channel {
 public:
  explicit channel(std::string name) : name_(std::move(name)) {}
  std::vector<pair> read() {
    std::vector<pair> messages;
    for (int i = 0; i < 4; ++i) {
      const auto x = static_cast<float>(sample_from_uniform(0.0, 1.0));
      messages.push_back({x, name_ == "clicks" ? 2 * x : -x});
    }
    return messages;
  }

 private:
  std::string name_;
};
channel open_channel(const std::string& name) { return channel(name); }

}  // namespace kafka

// == API: A Reader for Online Learning
// def read(args):
//     log_stream = kafka.open_channel(args["kafka channel name"])
//     yeild log_stream.read(), False # no end-of-pass in online learning
using arguments = std::map<std::string, std::string>;

lamina::generator<std::pair<std::vector<pair>, bool>> online(arguments args) {
  auto log_stream = kafka::open_channel(args["kafka channel name"]);
  for (;;) co_yield {log_stream.read(), false};  // no end-of-pass in online learning
}
// ==

constexpr auto line = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", paddle::data_type::dense_vector<1>>(main);
  auto y = layer::data<"y", paddle::data_type::dense_vector<1>>(main);
  return layer::square_error_cost(layer::fc<1>(x, {.name = "line"}), y);
});

template <class M>
double slope(const M& m) {
  return static_cast<double>(m.template parameter<"line.w_0">().flat(0));
}

using numbers = std::vector<int>;
numbers both(int a, int b) { return {a, b}; }

/// Passes of 1, 2, ... mini-batches.
lamina::generator<std::pair<numbers, bool>> growing(int first) {
  for (int pass = 1;; ++pass)
    for (int i = 0; i < pass; ++i) co_yield {both(first++, pass), i + 1 == pass};
}

}  // namespace

TEST_CASE("PaddlePaddle API, A Synthetic Data Reader: the slope that it has is learned") {
  auto model = paddle::model::create(line);
  const auto batches = paddle::batch(paddle::data_provider(synthetic), 20);
  const auto sgd = paddle::optimizer::SGD({.learning_rate = 0.3f});
  const auto result = sgd.train(model, batches, {.on_event = [](const lamina::event& e) {
                                  if (e.batch == 599 && e.is_end_iteration()) e.stop();
                                }});
  CHECK(result.stopped);
  CHECK(result.samples == 600 * 20);
  CHECK(slope(model) == Approx(2).margin(0.1));
  CHECK(result.cost < 0.1);
}

TEST_CASE("PaddlePaddle API, A Reader for Online Learning: training ends when it is told to") {
  auto model = paddle::model::create(line);
  const auto stream = paddle::data_provider(online, arguments{{"kafka channel name", "clicks"}});
  const auto adam = paddle::optimizer::Adam({.learning_rate = 0.02f});
  const auto result = adam.train(model, stream, {.passes = 2, .on_event = [](const auto& e) {
                                                   if (e.batch == 799 && e.is_end_iteration())
                                                     e.stop();
                                                 }});
  CHECK(result.steps == 800);
  CHECK(slope(model) == Approx(2).margin(0.02));
}

TEST_CASE("a pass ends where the function says so, and the next one goes on from there") {
  const auto provider = paddle::data_provider(growing, 7);
  CHECK(read(provider) == std::vector<numbers>{{7, 1}});
  CHECK(read(provider) == std::vector<numbers>{{8, 2}, {9, 2}});
  const auto copy = provider;  // the same position
  CHECK(read(copy | lamina::reader::first_n(1)) == std::vector<numbers>{{10, 3}});
  CHECK(read(provider) == std::vector<numbers>{{11, 3}, {12, 3}});
  CHECK(read(paddle::data_provider(growing, 0)) == std::vector<numbers>{{0, 1}});
}

TEST_CASE("a function that returns ends its pass and is called again; its errors arrive") {
  int calls = 0;
  const auto finite = [&calls](int count) {
    ++calls;
    std::vector<std::pair<numbers, bool>> all;
    for (int i = 0; i < count; ++i) all.push_back({{i}, false});
    return all;
  };
  const auto provider = paddle::data_provider(finite, 2);
  CHECK(calls == 0);
  for (int pass = 1; pass < 4; ++pass) {
    CHECK(read(provider) == std::vector<numbers>{{0}, {1}});
    CHECK(calls == pass);
  }
  CHECK(read(paddle::data_provider(finite, 0)).empty());

  const auto failing = []() -> lamina::generator<std::pair<numbers, bool>> {
    co_yield {both(1, 1), false};
    throw std::runtime_error("no more messages");
  };
  CHECK_THROWS_WITH(read(paddle::data_provider(failing)), "no more messages");
}

}  // namespace document
