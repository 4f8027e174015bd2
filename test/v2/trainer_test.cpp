// SPDX-License-Identifier: Apache-2.0
// trainer.SGD, parameters.create, events, infer and feeding of PaddlePaddle v2: they are lamina's
// own trainer, model and evaluator.
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "engine/cuda/host_backend.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/place.hpp>
#include <lamina/train/device/device_trainer.hpp>
#include <lamina/v2.hpp>

namespace paddle = lamina::v2;
namespace layer = paddle::layer;
using Catch::Contains;

namespace {

struct digit {
  std::array<float, 64> image;
  std::int64_t label;
};
std::vector<digit> digits(std::size_t first, std::size_t last) {
  std::vector<digit> all;
  const auto from = lamina::dataset::digits::train();
  for (std::size_t i = first; i < last; ++i) {
    const auto& [image, label] = from[i];
    all.push_back({image, label});
  }
  return all;
}

// == trainer: A network and its trainer
// digit = paddle.layer.data(name="digit", type=paddle.data_type.integer_value(10))
// ink = paddle.layer.data(name="ink", type=paddle.data_type.dense_vector(64))
// strokes = paddle.layer.fc(input=ink, size=40, act=paddle.activation.Relu(), name="strokes")
// guess = paddle.layer.fc(input=strokes, size=10, act=paddle.activation.Softmax(), name="guess")
// cost = paddle.layer.classification_cost(input=guess, label=digit)
constexpr auto guess_of = [](auto ink) {
  auto strokes = layer::fc<40>(ink, {.act = paddle::activation::Relu(), .name = "strokes"});
  return layer::fc<10>(strokes, {.act = paddle::activation::Softmax(), .name = "guess"});
};
constexpr auto cost = lamina::program([](lamina::block& main) {
  auto ink = layer::data<"ink", paddle::data_type::dense_vector<64>>(main);
  auto digit = layer::data<"digit", paddle::data_type::integer_value<10>>(main);
  return layer::classification_cost(guess_of(ink), digit);
});
// For infer: the same layers without the label and the cost.
constexpr auto guess = lamina::program([](lamina::block& main) {
  return guess_of(layer::data<"ink", paddle::data_type::dense_vector<64>>(main));
});
// ==

using cost_type = std::remove_const_t<decltype(cost)>;

}  // namespace

TEST_CASE("Trainers, parameters, events and inference in one program") {
  // == trainer: A network and its trainer
  //
  // paddle.init(trainer_count=1, use_gpu=False)
  // weights = paddle.parameters.create(cost)
  // momentum = paddle.optimizer.Momentum(
  //     momentum=0.8, learning_rate=0.2 / 24,  # for the sum over a mini-batch of 24
  //     regularization=paddle.optimizer.L2Regularization(rate=1e-4 * 24))
  // trainer = paddle.trainer.SGD(cost, weights, update_equation=momentum)
  paddle::init({.use_gpu = false, .trainer_count = 1});
  auto weights = paddle::parameters::create(cost);
  auto momentum =
      paddle::optimizer::Momentum({.momentum = 0.8f,
                                   .learning_rate = 0.2f,  // for the mean over a mini-batch
                                   .regularization = paddle::optimizer::L2Regularization(1e-4f)});
  paddle::trainer::SGD trainer(cost, weights, momentum);
  // ==
  const auto unseen = digits(600, 800);
  std::vector<std::string> log;
  double error = 1;
  // == trainer: Events
  // def report(event):
  //     global error
  //     if isinstance(event, paddle.event.EndPass):
  //         test = trainer.test(paddle.batch(unseen, 64))
  //         log.append(f"after pass {event.pass_id}: {test.metrics}")
  //         error = test.metrics["classification_error_evaluator"]
  //     elif isinstance(event, paddle.event.EndIteration) and event.batch_id in (0, 12):
  //         log.append(f"{event.pass_id}/{event.batch_id}: {event.metrics}")
  //
  // seen = paddle.reader.shuffle(digits, 600)
  // trainer.train(paddle.batch(seen, 24), num_passes=6, event_handler=report)
  const auto report = [&](const paddle::event::Event& event) {
    if (auto* pass = paddle::isinstance<paddle::event::EndPass>(event)) {
      const auto test = trainer.test(paddle::batch(unseen, 64));
      log.push_back("after pass " + std::to_string(pass->pass_id) + ": " + str(test.metrics));
      error = test.metrics["classification_error_evaluator"];
    } else if (auto* step = paddle::isinstance<paddle::event::EndIteration>(event)) {
      if (step->batch_id == 0 || step->batch_id == 12)
        log.push_back(std::to_string(step->pass_id) + "/" + std::to_string(step->batch_id) + ": " +
                      str(step->metrics));
    }
  };

  auto seen = paddle::reader::shuffle(digits(0, 600), 600);
  trainer.train(paddle::batch(seen, 24), {.num_passes = 6, .event_handler = report});
  // ==
  REQUIRE(log.size() == 6 * (2 + 1));
  CHECK_THAT(log[0], Contains("0/0: {'classification_error_evaluator': 0.") ||
                         Contains("0/0: {'classification_error_evaluator': 1}"));
  CHECK_THAT(log[16], Contains("5/12: {'classification_error_evaluator': 0"));
  CHECK_THAT(log[17], Contains("after pass 5: {'classification_error_evaluator': 0."));
  CHECK(error < 0.15);

  // == trainer: Inference
  // two = [unseen[0].image, unseen[1].image]
  // probs = paddle.infer(output_layer=guess, parameters=weights, input=two)
  // found = paddle.infer(output_layer=guess, parameters=weights, input=two, field="id")
  auto two = std::vector<std::array<float, 64>>{unseen[0].image, unseen[1].image};
  auto probs = paddle::infer(guess, weights, two);
  auto found = paddle::infer<paddle::field::id>(guess, weights, two);
  // ==
  REQUIRE(probs.shape() == std::vector<std::size_t>{2, 10});
  for (std::size_t row = 0; row < 2; ++row) {
    double sum = 0;
    for (std::size_t k = 0; k < 10; ++k) {
      sum += static_cast<double>(probs(row, k));
      CHECK(probs(row, k) <= probs(row, static_cast<std::size_t>(found[row])));
    }
    CHECK(sum == Approx(1));
  }
  std::vector<std::array<float, 64>> images;
  for (const digit& d : unseen) images.push_back(d.image);
  const auto guesses = paddle::infer<paddle::field::id>(guess, weights, images);
  int wrong = 0;
  for (std::size_t i = 0; i < images.size(); ++i) wrong += guesses[i] != unseen[i].label;
  CHECK(wrong / 200. == Approx(error).margin(1e-6));
}

TEST_CASE("a trainer of v2 is lamina's trainer, bit for bit, with threads and seed of init") {
  const auto batches = digits(0, 96) | lamina::reader::batch(16);
  for (const int threads : {1, 2}) {
    paddle::init({.trainer_count = threads, .seed = 5});
    auto parameters = paddle::parameters::create(cost);
    lamina::model model{cost, 5};
    auto adam = paddle::optimizer::Adam({.learning_rate = 0.01f});
    paddle::trainer::SGD trainer(cost, parameters, adam);
    lamina::trainer same{model, adam, {.threads = threads, .seed = 5}};
    std::vector<int> passes;
    const auto ends = [&](const paddle::event::EndPass& e) { passes.push_back(e.pass_id); };
    trainer.train(batches, {.num_passes = 2, .event_handler = ends});
    trainer.train(batches, {.event_handler = ends});
    for (int pass = 0; pass < 3; ++pass) same.pass(batches);
    CHECK(passes == std::vector<int>{0, 1, 0});
    for (const std::string& name : parameters.keys()) {
      const auto a = parameters.get(name);
      lamina::array<float> b;
      for (int i = 0; i < model.parameter_arrays(); ++i)
        if (model.describe(i).name == name) b = model.get(i);
      CHECK(a == b);
    }
    CHECK(trainer.of().steps() == 18);
    CHECK(trainer.test(batches).cost == lamina::evaluator{model}.test(batches).cost);
  }
  paddle::init();
  auto parameters = paddle::parameters::create(cost);
  const auto sgd = paddle::optimizer::SGD();
  paddle::trainer::SGD trainer(cost, parameters, sgd);
  CHECK_THROWS_WITH(trainer.train(batches, {.num_passes = -1}),
                    "lamina: v2: train: expected num_passes of 0 or more, found -1");
  CHECK(trainer.train(batches, {.num_passes = 0}).steps == 0);
}

TEST_CASE("events come in v2's order, each to the handlers of its type; stop ends the training") {
  auto parameters = paddle::parameters::create(cost);
  paddle::trainer::SGD trainer(cost, parameters, paddle::optimizer::AdaGrad());
  const auto batches = digits(0, 8) | lamina::reader::batch(4);
  namespace event = paddle::event;
  std::string order;
  const auto note = [&](const event::Event& e) {
    if (paddle::isinstance<event::BeginPass>(e)) order += "P";
    if (auto* i = paddle::isinstance<event::BeginIteration>(e))
      order += std::to_string(i->batch_id);
    if (paddle::isinstance<event::EndForwardBackward>(e)) order += "f";
    if (auto* i = paddle::isinstance<event::EndIteration>(e)) {
      order += "i";
      CHECK(i->cost > 0);
      CHECK(i->metrics.size() == 1);
      CHECK_THROWS_WITH(i->metrics["accuracy"], Contains("classification_error_evaluator"));
      CHECK_THROWS_AS(i->metrics["accuracy"], lamina::error);
    }
    if (paddle::isinstance<event::EndPass>(e)) order += "p";
  };
  trainer.train(batches, {.num_passes = 2, .event_handler = note});
  CHECK(order == "P0fi1fipP0fi1fip");

  struct two_types {
    int* begins;
    int* stops;
    void operator()(const event::BeginPass&) { ++*begins; }
    void operator()(const event::EndIteration& e) {
      ++*stops;
      e.stop();
    }
  };
  int begins = 0, stops = 0;
  const auto result =
      trainer.train(batches, {.num_passes = 3, .event_handler = two_types{&begins, &stops}});
  CHECK(begins == 1);
  CHECK(stops == 1);
  CHECK(result.stopped);
  CHECK(result.samples == 4);
  order.clear();
  trainer.train(batches);  // the handler of an earlier call is gone
  CHECK(order.empty());
}

TEST_CASE("feeding says which field of a sample goes to which data layer") {
  using swapped = std::tuple<std::int64_t, std::string, std::array<float, 64>>;
  std::vector<swapped> given;
  for (const digit& d : digits(0, 40)) given.emplace_back(d.label, "a remark", d.image);
  auto a = paddle::parameters::create(cost), b = paddle::parameters::create(cost);
  const auto sgd = paddle::optimizer::SGD({.learning_rate = 0.1f});
  paddle::trainer::SGD by_feeding(cost, a, sgd), in_order(cost, b, sgd);
  const auto batches = paddle::batch(digits(0, 40), 8);
  constexpr auto fields = paddle::feeding<"digit", "", "ink">;
  // == trainer: Feeding
  // # The second field of a sample, a remark, goes to no layer.
  // by_feeding.train(paddle.batch(given, 8), num_passes=2, feeding={"digit": 0, "ink": 2})
  by_feeding.train(paddle::batch(given, 8), {.num_passes = 2}, paddle::feeding<"digit", "", "ink">);
  // ==
  in_order.train(batches, {.num_passes = 2}, paddle::feeding<"ink", "digit">);
  CHECK(a.get("guess.w_0") == b.get("guess.w_0"));
  CHECK(by_feeding.test(paddle::batch(given, 8), fields).cost == in_order.test(batches).cost);
  CHECK(&paddle::feeding_of<"ink", "digit">::applied_to<cost_type>(batches) == &batches);
}

TEST_CASE("a trainer with a place trains on a device; use_gpu without one is an error") {
  // The kernels of this device run on the host.
  using momentum = lamina::optimizer::momentum;
  using backend = lamina::engine::cuda::host_backend<1>;
  using on_device =
      lamina::trainer<cost_type, momentum, lamina::placed_trainer<cost_type, momentum, backend>>;
  const auto batches = paddle::batch(digits(0, 48), 16);
  auto optimizer = paddle::optimizer::Momentum({.momentum = 0.9f, .learning_rate = 0.1f});
  paddle::init({.use_gpu = true});
  auto a = paddle::parameters::create(cost), b = paddle::parameters::create(cost);
  CHECK_THROWS_WITH((paddle::trainer::SGD(cost, b, optimizer)),
                    Contains("expected a place after the optimizer, as init() has use_gpu"));
  paddle::trainer::SGD<cost_type, momentum, on_device> device(cost, a, optimizer,
                                                              lamina::cuda::place{0});
  device.train(batches, {.num_passes = 3});
  const auto of_device = device.test(batches);
  paddle::init();
  paddle::trainer::SGD host(cost, b, optimizer);
  host.train(batches, {.num_passes = 3});
  CHECK(of_device.cost == Approx(host.test(batches).cost).epsilon(1e-4));
  const auto x = a.get("guess.w_0"), y = b.get("guess.w_0");
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(x.flat(i) == Approx(y.flat(i)).margin(1e-5));
}
