// SPDX-License-Identifier: Apache-2.0
// Readers of functions that yield (mini-batch, whether the pass ends): springs that a simulation
// stretches, a stream of messages, and functions whose passes end.
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

namespace {

struct spring {
  float load, stretch;
};

// == readers: A simulation
// def springs():
//     rng = random.Random(2)
//     while True:
//         load = rng.random()
//         stretch = rng.gauss(1.5 * load, 0.1)  # measured with an error
//         yield (load, stretch), False          # passes have no end
lamina::generator<std::pair<spring, bool>> springs() {
  for (std::uint64_t number = 0;; ++number) {
    lamina::reader::random rng(2, 0, number);
    const float load = rng.uniform();
    const float stretch = rng.normal(1.5f * load, 0.1f);  // measured with an error
    co_yield {spring{load, stretch}, false};              // passes have no end
  }
}
// ==

namespace broker {

/// Stands for a subscription to messages that come without end.
class subscription {
 public:
  explicit subscription(std::string topic) : topic_(std::move(topic)) {}
  std::vector<spring> poll() {
    std::vector<spring> messages;
    for (int i = 0; i < 4; ++i) {
      lamina::reader::random rng(3, 0, received_++);
      const float load = rng.uniform();
      messages.push_back({load, topic_ == "scales" ? 1.5f * load : -load});
    }
    return messages;
  }

 private:
  std::string topic_;
  std::uint64_t received_ = 0;
};
subscription subscribe(const std::string& topic) { return subscription(topic); }

}  // namespace broker

// == readers: A stream of messages
// def measured(options):
//     messages = broker.subscribe(options["topic"])
//     while True:
//         yield messages.poll(), False  # training goes on until an event stops it
using named_options = std::map<std::string, std::string>;

lamina::generator<std::pair<std::vector<spring>, bool>> measured(named_options options) {
  auto messages = broker::subscribe(options["topic"]);
  while (true) co_yield {messages.poll(), false};  // training goes on until an event stops it
}
// ==

constexpr auto hooke = lamina::program([](lamina::block& main) {
  auto load = layer::data<"load", paddle::data_type::dense_vector<1>>(main);
  auto stretch = layer::data<"stretch", paddle::data_type::dense_vector<1>>(main);
  return layer::square_error_cost(layer::fc<1>(load, {.name = "hooke"}), stretch);
});

template <class M>
double slope(const M& m) {
  return static_cast<double>(m.template parameter<"hooke.w_0">().flat(0));
}

using numbers = std::vector<int>;
numbers both(int a, int b) { return {a, b}; }

/// Passes of 1, 2, ... mini-batches.
lamina::generator<std::pair<numbers, bool>> growing(int first) {
  for (int pass = 1;; ++pass)
    for (int i = 0; i < pass; ++i) co_yield {both(first++, pass), i + 1 == pass};
}

}  // namespace

TEST_CASE("Readers of functions, the slope of a simulation is learned") {
  auto model = paddle::model::create(hooke);
  const auto batches = paddle::batch(paddle::data_provider(springs), 20);
  const auto sgd = paddle::optimizer::SGD({.learning_rate = 0.3f});
  const auto result = sgd.train(model, batches, {.on_event = [](const lamina::event& e) {
                                  if (e.batch == 599 && e.is_end_iteration()) e.stop();
                                }});
  CHECK(result.stopped);
  CHECK(result.samples == 600 * 20);
  CHECK(slope(model) == Approx(1.5).margin(0.1));
  CHECK(result.cost < 0.1);
}

TEST_CASE("Readers of functions, training with a stream ends when it is told to") {
  auto model = paddle::model::create(hooke);
  const auto stream = paddle::data_provider(measured, named_options{{"topic", "scales"}});
  const auto adam = paddle::optimizer::Adam({.learning_rate = 0.02f});
  const auto result = adam.train(model, stream, {.passes = 2, .on_event = [](const auto& e) {
                                                   if (e.batch == 799 && e.is_end_iteration())
                                                     e.stop();
                                                 }});
  CHECK(result.steps == 800);
  CHECK(slope(model) == Approx(1.5).margin(0.02));
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
