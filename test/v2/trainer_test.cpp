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

// == v2: A program
// def softmax_regression(img):
//     predict = paddle.layer.fc(input=img, size=10, act=paddle.activation.Softmax())
//     return predict
//
// paddle.init(use_gpu=False, trainer_count=1)
// images = paddle.layer.data(name='pixel', type=paddle.data_type.dense_vector(64))
// label = paddle.layer.data(name='label', type=paddle.data_type.integer_value(10))
// predict = softmax_regression(images)
// cost = paddle.layer.classification_cost(input=predict, label=label)
constexpr auto softmax_regression = [](auto img) {
  auto predict = layer::fc<10>(img, {.act = paddle::activation::Softmax(), .name = "predict"});
  return predict;
};
constexpr auto cost = lamina::program([](lamina::block& main) {
  auto images = layer::data<"pixel", paddle::data_type::dense_vector<64>>(main);
  auto label = layer::data<"label", paddle::data_type::integer_value<10>>(main);
  auto predict = softmax_regression(images);
  return layer::classification_cost(predict, label);
});
// What is inferred: the same layers, without label and cost.
constexpr auto predict = lamina::program([](lamina::block& main) {
  auto images = layer::data<"pixel", paddle::data_type::dense_vector<64>>(main);
  return softmax_regression(images);
});
// ==

using cost_type = std::remove_const_t<decltype(cost)>;

}  // namespace

TEST_CASE("PaddlePaddle v2 api design, trainer, parameters, events and inference in one program") {
  // == v2: A program
  //
  // parameters = paddle.parameters.create(cost)
  // optimizer = paddle.optimizer.Momentum(
  //     learning_rate=0.1 / 128.0, momentum=0.9,
  //     regularization=paddle.optimizer.L2Regularization(rate=0.0005 * 128))
  // trainer = paddle.trainer.SGD(cost=cost, parameters=parameters, update_equation=optimizer)
  paddle::init({.use_gpu = false, .trainer_count = 1});
  auto parameters = paddle::parameters::create(cost);
  auto optimizer =
      paddle::optimizer::Momentum({.momentum = 0.9f,
                                   .learning_rate = 0.1f,  // of the mean over the mini-batch
                                   .regularization = paddle::optimizer::L2Regularization(0.0005f)});
  paddle::trainer::SGD trainer(cost, parameters, optimizer);
  // ==
  const auto test_digits = digits(600, 800);
  std::vector<std::string> log;
  double error = 1;
  // == v2: Events
  // def event_handler(event):
  //     if isinstance(event, paddle.event.EndIteration):
  //         if event.batch_id % 100 == 0:
  //             print "Pass %d, Batch %d, Cost %f, %s" % (
  //                 event.pass_id, event.batch_id, event.cost, event.metrics)
  //     if isinstance(event, paddle.event.EndPass):
  //         result = trainer.test(reader=paddle.batch(
  //             paddle.dataset.mnist.test(), batch_size=128))
  //         print "Test with Pass %d, Cost %f, %s\n" % (
  //             event.pass_id, result.cost, result.metrics)
  //
  // trainer.train(
  //     reader=paddle.batch(
  //         paddle.reader.shuffle(paddle.dataset.mnist.train(), buf_size=8192),
  //         batch_size=128),
  //     event_handler=event_handler, num_passes=5)
  auto event_handler = [&](const paddle::event::Event& event) {
    if (auto* e = paddle::isinstance<paddle::event::EndIteration>(event))
      if (e->batch_id % 10 == 0)
        log.push_back("Pass " + std::to_string(e->pass_id) + ", Batch " +
                      std::to_string(e->batch_id) + ", " + str(e->metrics));
    if (auto* e = paddle::isinstance<paddle::event::EndPass>(event)) {
      auto result = trainer.test(paddle::batch(test_digits, 128));
      log.push_back("Test with Pass " + std::to_string(e->pass_id) + ", " + str(result.metrics));
      error = result.metrics["classification_error_evaluator"];
    }
  };
  trainer.train(paddle::batch(paddle::reader::shuffle(digits(0, 600), 8192), 32),
                {.num_passes = 5, .event_handler = event_handler});
  // ==
  REQUIRE(log.size() == 5 * (2 + 1));
  CHECK_THAT(log[0], Contains("Pass 0, Batch 0, {'classification_error_evaluator': 0.") ||
                         Contains("Pass 0, Batch 0, {'classification_error_evaluator': 1}"));
  CHECK_THAT(log[14], Contains("Test with Pass 4, {'classification_error_evaluator': 0."));
  CHECK(error < 0.15);

  // == v2: Inference
  // probs = paddle.infer(output_layer=predict, parameters=parameters, input=test_data)
  // lab = np.argsort(-probs)
  auto test_data = std::vector<std::array<float, 64>>{test_digits[0].image, test_digits[1].image};
  auto probs = paddle::infer(predict, parameters, test_data);
  auto lab = paddle::infer<paddle::field::id>(predict, parameters, test_data);
  // ==
  REQUIRE(probs.shape() == std::vector<std::size_t>{2, 10});
  for (std::size_t row = 0; row < 2; ++row) {
    double sum = 0;
    for (std::size_t k = 0; k < 10; ++k) {
      sum += static_cast<double>(probs(row, k));
      CHECK(probs(row, k) <= probs(row, static_cast<std::size_t>(lab[row])));
    }
    CHECK(sum == Approx(1));
  }
  std::vector<std::array<float, 64>> images;
  for (const digit& d : test_digits) images.push_back(d.image);
  const auto found = paddle::infer<paddle::field::id>(predict, parameters, images);
  int wrong = 0;
  for (std::size_t i = 0; i < images.size(); ++i) wrong += found[i] != test_digits[i].label;
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
  for (const digit& d : digits(0, 40)) given.emplace_back(d.label, "unused", d.image);
  auto a = paddle::parameters::create(cost), b = paddle::parameters::create(cost);
  const auto sgd = paddle::optimizer::SGD({.learning_rate = 0.1f});
  paddle::trainer::SGD by_feeding(cost, a, sgd), in_order(cost, b, sgd);
  const auto batches = paddle::batch(digits(0, 40), 8);
  constexpr auto fields = paddle::feeding<"label", "", "pixel">;
  // == v2: Feeding
  // feeding = {'pixel': 2, 'label': 0}
  // trainer.train(reader=paddle.batch(reader, batch_size=8), feeding=feeding, num_passes=2)
  auto feeding = paddle::feeding<"label", "", "pixel">;
  by_feeding.train(paddle::batch(given, 8), {.num_passes = 2}, feeding);
  // ==
  in_order.train(batches, {.num_passes = 2}, paddle::feeding<"pixel", "label">);
  CHECK(a.get("predict.w_0") == b.get("predict.w_0"));
  CHECK(by_feeding.test(paddle::batch(given, 8), fields).cost == in_order.test(batches).cost);
  CHECK(&paddle::feeding_of<"pixel", "label">::applied_to<cost_type>(batches) == &batches);
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
  const auto x = a.get("predict.w_0"), y = b.get("predict.w_0");
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(x.flat(i) == Approx(y.flat(i)).margin(1e-5));
}
