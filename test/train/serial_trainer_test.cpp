// SPDX-License-Identifier: Apache-2.0
// A training whose options name no threads, accumulation or processes has the bits of one with
// train_options.
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/train/serial_trainer.hpp>

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
namespace reader = lamina::reader;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 5>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::dropout(layer::batch_norm(layer::fc<33>(x)), 0.3);
  auto logits = layer::fc<3>(h);
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});
// A quotient of two sums, as a masked mean is.
constexpr auto masked = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 5>(main);
  auto weight = layer::data<"weight", float, 1>(main);
  auto costs = layer::square_error_cost(layer::fc<1>(x), weight);
  return layer::reduce_sum(costs * weight) / layer::reduce_sum(weight);
});

struct sample {
  std::vector<float> x;
  std::int64_t label;
};
struct weighed {
  std::vector<float> x;
  float weight;
};
template <class Sample>
std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (int i = 0; i < 21; ++i) {
    const float a = 0.1f * static_cast<float>(i % 7), b = 0.3f * static_cast<float>(i % 4);
    all.push_back({{a, b, a * b, a - b, 1}, {}});
    if constexpr (std::is_same_v<Sample, sample>)
      all.back().label = i % 3;
    else
      all.back().weight = static_cast<float>(i % 2);
  }
  return all;
}

/// All parameters, the costs of all passes and the steps after two calls of train.
template <class Net, class Opt, class Samples, class Train>
auto trained(Net program, const Opt& opt, const Samples& all, const Train& train) {
  lamina::model m{program};
  std::vector<double> costs;
  std::vector<std::vector<float>> values;
  std::int64_t steps = 0;
  for (int call = 0; call < 2; ++call)
    steps += train(opt, m, all | reader::batch(8), [&](const lamina::event& e) {
               costs.push_back(e.cost);
               for (const auto& metric : e.metrics) costs.push_back(metric.value);
             }).steps;
  for (int i = 0; i < m.parameter_arrays(); ++i) {
    const auto value = m.get(i);
    values.emplace_back(value.data(), value.data() + value.size());
  }
  return std::pair{std::pair{costs, steps}, values};
}
const auto serial = [](const auto& opt, auto& m, auto batches, auto handler) {
  return opt.train(m, batches, {.passes = 2, .on_event = handler, .seed = 5});
};
const auto with_all_options = [](const auto& opt, auto& m, auto batches, auto handler) {
  return opt.train(m, batches, {.passes = 2, .threads = 1, .on_event = handler, .seed = 5});
};

template <class Net, class Opt, class Samples>
void compare(Net program, const Opt& opt, const Samples& all) {
  CHECK((trained(program, opt, all, serial) == trained(program, opt, all, with_all_options)));
}

}  // namespace

TEST_CASE("serial_trainer: the bits of cpu_trainer, with every kind of clip") {
  const auto all = samples<sample>();
  compare(net, optimizer::adam{.learning_rate = 0.01f}, all);
  compare(net, optimizer::adam{.clip = lamina::clip_by_norm(0.05f)}, all);
  compare(net, optimizer::momentum{.learning_rate = 0.1f, .clip = lamina::clip_by_global_norm(1)},
          all);
  compare(net, optimizer::sgd{.learning_rate = 0.1f, .clip = lamina::clip_by_value(0.1f)}, all);
  compare(masked, optimizer::sgd{.learning_rate = 0.1f, .clip = lamina::clip_by_norm(0.1f)},
          samples<weighed>());
  compare(masked, optimizer::adagrad{.learning_rate = 0.1f}, samples<weighed>());
}
TEST_CASE("serial_trainer: a later training with threads goes on from its state") {
  const auto all = samples<sample>();
  const auto parameters = [&](auto first, auto second) {
    lamina::model m{net};
    const optimizer::adam adam{.learning_rate = 0.01f};
    CHECK(first(adam, m, all | reader::batch(8), [](const lamina::event&) {}).steps == 6);
    CHECK(second(adam, m, all | reader::batch(8), [](const lamina::event&) {}).steps == 12);
    const auto value = m.parameter<"fc_0.w_0">();
    return std::vector<float>(value.data(), value.data() + value.size());
  };
  const auto expected = parameters(with_all_options, with_all_options);
  CHECK(parameters(serial, with_all_options) == expected);
  CHECK(parameters(with_all_options, serial) == expected);
}
TEST_CASE("serial_trainer: what it refuses") {
  lamina::model m{net};
  const auto batches = samples<sample>() | reader::batch(8);
  const optimizer::sgd sgd;
  CHECK_THROWS_WITH(sgd.train(m, batches, {.passes = -1}),
                    "lamina: train: expected 0 passes or more, found -1");
  CHECK_THROWS_WITH(sgd.train(m, batches, {.place = {lamina::place_kind::cuda, 0}}),
                    "lamina: train: expected the CPU as place, found a device: include "
                    "<lamina/lamina.cuh> where train is called");
  optimizer::sgd later;
  CHECK_THROWS_WITH(later.train(m, batches,
                                {.on_event =
                                     [&](const lamina::event& e) {
                                       if (e.is_end_iteration())
                                         later.clip = lamina::clip_by_norm(1);
                                     }}),
                    "lamina: train: expected a clip by norm to be there when training begins, "
                    "found one that was set later (mini-batch 1 of pass 0)");
}
TEST_CASE("serial_options: the defaults of all others") {
  const lamina::serial_options some{.passes = 3, .seed = 7, .checkpoint = {.keep = 9}};
  const lamina::train_options all = some.with_defaults();
  CHECK(all.passes == 3);
  CHECK(all.seed == 7);
  CHECK(all.checkpoint.keep == 9);
  CHECK(all.threads == 1);
  CHECK(all.accumulate == 1);
  CHECK(all.world == nullptr);
}
