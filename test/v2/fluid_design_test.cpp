// SPDX-License-Identifier: Apache-2.0
// Two ways to train: a loop around a model, and a program that contains the loop. The second one is
// Fluid's; its recurrences are loops of the program too.
#include <array>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/v2.hpp>

namespace paddle = lamina::v2;
namespace layer = paddle::layer;
namespace layers = lamina::layer;
using paddle::data_type::dense_vector;

namespace {

struct reading {
  std::array<float, 5> sensors;
  std::array<float, 3> alarms;
};

constexpr std::uint64_t minibatch_count = 800;

/// A mini-batch by its number: each of the first three sensors raises its alarm above 0.5.
std::vector<reading> read_minibatch(std::uint64_t number) {
  lamina::reader::random random(1, 0, number);
  std::vector<reading> minibatch(12);
  for (reading& r : minibatch) {
    for (float& x : r.sensors) x = random.uniform();
    for (std::size_t k = 0; k < 3; ++k) r.alarms[k] = r.sensors[k] > 0.5f ? 1.f : 0.f;
  }
  return minibatch;
}
std::vector<std::vector<reading>> all_minibatches() {
  std::vector<std::vector<reading>> all;
  for (std::uint64_t i = 0; i < minibatch_count; ++i) all.push_back(read_minibatch(i));
  return all;
}

// == programs: A loop around a model
// sensors = layer.data("sensors")
// alarms = layer.data("alarms")
// cost = layer.mse(alarms, layer.sigmoid(layer.fc(sensors, gauges)))
constexpr auto cost = lamina::program([](lamina::block& main) {
  auto sensors = layer::data<"sensors", dense_vector<5>>(main);
  auto alarms = layer::data<"alarms", dense_vector<3>>(main);
  auto level = layer::fc<3>(sensors, {.param = {.name = "gauges"}});
  return layer::mse(alarms, layer::sigmoid(level));
});
// ==

// == programs: A program with its loop
// gauges, offsets = tensor([5, 3]), tensor([3])
// while has_minibatches():
//     sensors, alarms = read_minibatch()
//     level = layer.matmul(sensors, gauges) + offsets
//     sgd.minimize(layer.mse(alarms, layer.sigmoid(level)))
constexpr auto training = lamina::program([](lamina::block& main) {
  auto gauges = layers::create_parameter<float, 5, 3>(main, {.name = "gauges"});
  auto offsets = layers::create_parameter<float, 3>(
      main, {.name = "offsets", .initializer = lamina::init::constant(0)});

  auto newest = layers::fill_constant<float>(main, 0);
  auto has_minibatches = layers::fill_constant<bool>(main, true);
  layers::while_loop(has_minibatches, [&](lamina::block& loop) {
    auto [sensors, alarms] =
        layers::read_minibatch<"readings", lamina::field<float, 5>, lamina::field<float, 3>>(
            loop, has_minibatches);
    auto level = layers::elementwise_add(layers::matmul(sensors, gauges), offsets);
    auto cost = layer::mse(alarms, layers::sigmoid(level));
    lamina::optimizer::sgd{.learning_rate = 4}.minimize(cost);  // backward, and an update
    newest = cost;
  });
  return newest;
});
// ==

/// The level of a river after a day with rain, by its level before: what both recurrences compute
/// in a step.
constexpr auto after = [](auto rain, auto level) {
  constexpr auto start = lamina::init::constant(0.125f);
  auto from_rain =
      layers::fc<3>(rain, {.param = {.name = "from_rain", .initializer = start}, .bias = false});
  auto from_level =
      layers::fc<3>(level, {.param = {.name = "from_level", .initializer = start}, .bias = false});
  return 0.5f * level + layers::tanh(from_rain + from_level);
};
/// The cost of the last level, for both recurrences: how far its flow is from the measured one.
constexpr auto cost_of_level = [](auto level, auto measured) {
  return layers::mean(layers::square_error_cost(
      layers::fc<1>(level, {.param = {.name = "flow", .initializer = lamina::init::constant(1)}}),
      measured));
};

// == programs: A recurrence
// while has_minibatches():
//     rain, flow = read_minibatch()
//     level = [zeros(3)]
//     for day in rain:
//         level.append(after(day, level[-1]))
//     sgd.minimize(cost_of_level(level[-1], flow))
constexpr auto recurrence = lamina::program([](lamina::block& main) {
  auto newest = layers::fill_constant<float>(main, 0);
  auto has_minibatches = layers::fill_constant<bool>(main, true);
  layers::while_loop(has_minibatches, [&](lamina::block& loop) {
    auto minibatch = layers::read_minibatch<"rivers", lamina::sequence_field<"rain", float, 3>,
                                            lamina::field<float>>(loop, has_minibatches);
    auto rain = std::get<0>(minibatch);
    auto flow = std::get<1>(minibatch);
    auto [levels, last] = layers::dynamic_rnn(rain, [&](auto& day) {  // for day in rain
      auto before = day.memory(lamina::dims<3>);
      auto level = after(day.input(rain), before);
      day.update(before, level);
      return std::tuple{level, day.last(before)};  // of each day, and of the last one
    });
    auto cost = cost_of_level(last, flow);
    lamina::optimizer::sgd{.learning_rate = 0.1f}.minimize(cost);
    newest = cost;
  });
  return newest;
});
// ==

constexpr int days = 6;

// == programs: A recurrence as a loop
// training = layers.While(cond=has_minibatches)
// with training.block():
//     rain, flow = read_minibatch()
//     level, levels = zeros(3), layers.create_array('float32')
//     day = layers.fill_constant(shape=[1], dtype='int64', value=0)
//     is_measured = layers.less_than(x=day, y=layers.array_length(rain))
//     walk = layers.While(cond=is_measured)
//     with walk.block():
//         layers.assign(after(layers.array_read(rain, day), level), level)
//         layers.array_write(level, day, levels)
//         layers.increment(day)
//         layers.less_than(x=day, y=layers.array_length(rain), cond=is_measured)
//     sgd.minimize(cost_of_level(level, flow))
constexpr auto loops = lamina::program([](lamina::block& main) {
  auto newest = layers::fill_constant<float>(main, 0);
  auto has_minibatches = layers::fill_constant<bool>(main, true);
  layers::while_loop(has_minibatches, [&](lamina::block& training) {
    auto minibatch =
        layers::read_minibatch<"rivers", lamina::field<float, days, 3>, lamina::field<float>>(
            training, has_minibatches);
    auto flow = std::get<1>(minibatch);
    auto day = layers::fill_constant<std::int64_t>(training, 0);
    auto of_day = layers::unstack<1>(std::get<0>(minibatch));
    auto rain = layers::array_write(of_day[0], day);
    for (int i = 1; i < days; ++i)
      layers::array_write(of_day[i], layers::fill_constant<std::int64_t>(training, i), rain);
    auto level = 0 * of_day[0];  // dry
    auto levels = layers::create_array<decltype(level)>(training);
    auto end = layers::array_length(rain);
    auto is_measured = layers::less_than(day, end);
    layers::while_loop(is_measured, [&](lamina::block&) {
      level = after(layers::array_read(rain, day), level);
      layers::array_write(level, day, levels);
      layers::increment(day);
      layers::less_than(day, end, is_measured);
    });
    auto cost = cost_of_level(level, flow);
    lamina::optimizer::sgd{.learning_rate = 0.1f}.minimize(cost);
    newest = cost;
  });
  return newest;
});
// ==

using gauges = std::array<float, 3>;

/// Mini-batches of rain of `days` days at three gauges, as sequences and as whole arrays; the flow
/// is a quarter of the sum at the first gauge.
template <class Rain>
std::vector<std::vector<std::tuple<Rain, float>>> rivers() {
  std::vector<std::vector<std::tuple<Rain, float>>> all(30);
  std::uint64_t number = 0;
  for (auto& minibatch : all)
    for (int i = 0; i < 4; ++i) {
      lamina::reader::random random(1, 0, number++);
      Rain rain;
      float sum = 0;
      for (int day = 0; day < days; ++day) {
        gauges of_day{};
        for (float& x : of_day) x = random.uniform(-0.5f, 0.5f);
        if constexpr (std::is_same_v<Rain, std::vector<gauges>>)
          rain.push_back(of_day);
        else
          rain.insert(rain.end(), of_day.begin(), of_day.end());
        sum += of_day[0];
      }
      minibatch.emplace_back(std::move(rain), sum / 4);
    }
  return all;
}

}  // namespace

TEST_CASE("Loops of programs and around models, a model is trained by a loop around it") {
  lamina::model model{cost};
  const auto before = lamina::evaluator{model}.test(all_minibatches()).cost;
  const auto sgd = lamina::optimizer::sgd{.learning_rate = 4};
  // == programs: A loop around a model
  //
  // for number in range(minibatch_count):
  //     forward(read_minibatch(number), minimize=cost)
  //     backward()
  //     update()
  // print(gauges)
  lamina::trainer trainer{model, sgd};
  for (std::uint64_t number = 0; number < minibatch_count; ++number) {
    trainer.backward(read_minibatch(number));  // forward, and the gradients of the cost
    trainer.update();
  }
  auto gauges = model.parameter<"gauges">();
  // ==
  CHECK(trainer.steps() == minibatch_count);
  CHECK(lamina::evaluator{model}.test(all_minibatches()).cost < 0.5 * before);
  CHECK(gauges.shape() == std::vector<std::size_t>{5, 3});
  for (std::size_t k = 0; k < 3; ++k)  // each alarm depends on its own sensor
    for (std::size_t i = 0; i < 5; ++i)
      if (i != k) CHECK(gauges(k, k) > 1 + std::abs(gauges(i, k)));
}

TEST_CASE("Loops of programs and around models, a program with its loop trains as the model") {
  lamina::model start{cost}, twin{cost};
  // == programs: A program with its loop
  //
  // print(gauges)
  lamina::model trained{training};
  trained.set_parameter<"gauges">(start.parameter<"gauges">());
  auto run = lamina::run(trained, all_minibatches());
  auto gauges = trained.parameter<"gauges">();
  // ==
  CHECK(run.minibatches == minibatch_count);
  lamina::optimizer::sgd{.learning_rate = 4}.train(twin, all_minibatches());
  const auto expected = twin.parameter<"gauges">();
  for (std::size_t i = 0; i < 15; ++i)
    CHECK(gauges.flat(i) == Approx(expected.flat(i)).margin(1e-5));
}

TEST_CASE("Loops of programs and around models, a recurrence learns the flow of rivers") {
  const auto data = rivers<std::vector<gauges>>();
  lamina::model model{recurrence};
  std::vector<double> costs;
  for (int pass = 0; pass < 6; ++pass) costs.push_back(lamina::run(model, data).cost);
  CHECK(costs.back() < 0.5 * costs.front());
}

TEST_CASE("Loops of programs and around models, a recurrence as a loop is the same recurrence") {
  lamina::model of_sequences{recurrence};
  lamina::model of_loops{loops};
  lamina::run(of_sequences, rivers<std::vector<gauges>>());
  const auto run = lamina::run(of_loops, rivers<std::vector<float>>());
  CHECK(run.minibatches == 30);
  const auto check = [](const auto& a, const auto& b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(a.flat(i) == Approx(b.flat(i)).margin(1e-5));
    CHECK(std::abs(a.flat(0) - 0.125f) > 1e-4f);
  };
  check(of_sequences.parameter<"from_rain">(), of_loops.parameter<"from_rain">());
  check(of_sequences.parameter<"from_level">(), of_loops.parameter<"from_level">());
}
