// SPDX-License-Identifier: Apache-2.0
// What a training loop reports, and in which order.

#include "train/net.hpp"

#include <lamina/train/train.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<3>(x, {.name = "output"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

}  // namespace

TEST_CASE("events come in the order of a pass, with their numbers") {
  lamina::model m{net};
  std::string seen;
  std::vector<std::int64_t> known;
  double cost = 0, accuracy = 0, pass_cost = -1, pass_accuracy = -1;
  const auto watch = [&](const lamina::event& e) {
    const std::string at = std::to_string(e.pass) + "." + std::to_string(e.batch) + " ";
    seen += std::string(name_of(e.kind)) + at;
    if (e.is_begin_pass()) cost = accuracy = 0;
    if (e.is_end_iteration()) {
      CHECK(e.samples == (e.batch == 2 ? 2 : 4));
      cost += e.cost * static_cast<double>(e.samples) / 10;
      accuracy += e.metric("accuracy") * static_cast<double>(e.samples) / 10;
    }
    if (e.is_end_pass()) {
      CHECK(e.samples == 10);
      pass_cost = e.cost;
      pass_accuracy = e.metric("accuracy");
      CHECK(pass_cost == Approx(cost));
      CHECK(pass_accuracy == Approx(accuracy));
      CHECK_THROWS_AS(e.metric("recall"), lamina::error);
    }
    if (e.is_begin_iteration()) {
      CHECK(e.metrics.empty());
      known.push_back(e.batches.value_or(-1));
    }
  };
  const auto result = lamina::train(m, test::samples(10) | test::reader::batch(4),
                                    {.passes = 2, .on_event = watch});
  std::string expected;
  for (const std::string pass : {"0", "1"}) {
    expected += "BeginPass" + pass + ".0 ";
    for (const std::string batch : {"0", "1", "2"})
      for (const std::string kind : {"BeginIteration", "EndForwardBackward", "EndIteration"})
        expected += kind + pass + "." + batch + " ";
    expected += "EndPass" + pass + ".3 ";
  }
  CHECK(seen == expected);
  CHECK(known == std::vector<std::int64_t>{-1, -1, -1, 3, 3, 3});
  CHECK(result.steps == 6);
  CHECK(result.samples == 20);
  CHECK(result.cost == Approx(pass_cost));
  CHECK_FALSE(result.stopped);
}

TEST_CASE("the cost of a mini-batch is that before its update") {
  lamina::model m{net};
  const auto samples = test::samples(10);
  lamina::gradient_machine g{m};
  const float before = g.backward(samples);
  double reported = 0;
  lamina::train(m, samples | test::reader::batch(10), {.on_event = [&](const lamina::event& e) {
                  if (e.is_end_forward_backward()) reported = e.cost;
                }});
  CHECK(reported == Approx(before));
  CHECK(g.backward(samples) < before);
}

TEST_CASE("stop() finishes the mini-batch, reports the end of the pass and returns") {
  lamina::model m{net};
  int iterations = 0, passes = 0;
  const auto result = lamina::train(m, test::samples(40) | test::reader::batch(4),
                                    {.passes = 5, .on_event = [&](const lamina::event& e) {
                                       iterations += e.is_end_iteration();
                                       passes += e.is_end_pass();
                                       if (e.is_begin_iteration() && e.pass == 1 && e.batch == 2)
                                         e.stop();
                                     }});
  CHECK(iterations == 13);
  CHECK(passes == 2);
  CHECK(result.steps == 13);
  CHECK(result.stopped);
}

TEST_CASE("after a call with an option that is an error, training begins anew") {
  const auto batches = test::samples(40) | test::reader::batch(4);
  const lamina::optimizer::adam adam;
  lamina::model m{net};
  CHECK(adam.train(m, batches).steps == 10);
  CHECK_THAT(test::error_of([&] { adam.train(m, batches, {.accumulate = 0}); }),
             Contains("expected accumulate to be 1 or more, found 0"));
  CHECK(adam.train(m, batches).steps == 10);
}

TEST_CASE("what a handler or a reader throws ends the run; bad options and data are errors") {
  lamina::model m{net};
  const auto samples = test::samples(8) | test::reader::batch(4);
  CHECK_THROWS_AS(
      lamina::train(m, samples,
                    {.on_event = [](const lamina::event&) { throw std::out_of_range("enough"); }}),
      std::out_of_range);
  CHECK_THAT(test::error_of([&] { lamina::train(m, samples, {.threads = 0}); }),
             Contains("expected 1 to 256 threads, found 0"));
  CHECK_THAT(test::error_of([&] { lamina::train(m, samples, {.passes = -1}); }),
             Contains("expected 0 passes or more, found -1"));
  auto wrong = test::samples(8);
  wrong[5].label = 3;
  CHECK_THAT(test::error_of([&] { lamina::train(m, wrong | test::reader::batch(4)); }),
             Contains("expected 0 to 2, found 3"));
  CHECK_THAT(
      test::error_of([&] { lamina::train(m, wrong | test::reader::batch(8), {.threads = 2}); }),
      Contains("expected 0 to 2, found 3"));
}
