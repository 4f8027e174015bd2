// SPDX-License-Identifier: Apache-2.0
// A command line's program on a device trains, tests and saves what it does on the CPU. The kernels
// of the device run on the host.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "dataset/temporary_file.hpp"
#include "engine/cuda/host_backend.hpp"
#include "model/samples.hpp"
#include <catch2/catch.hpp>

#include <lamina/cli/trained_at_device.hpp>
#include <lamina/cli/trained_program_of.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<3>(layer::fc<8>(x, {.act = lamina::activation::tanh}));
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

/// Notes gradients at the third mini-batch of a pass, and tests after the fifth.
struct watcher final : lamina::pass_listener {
  lamina::trained_program& program;
  std::vector<double> seen{};

  explicit watcher(lamina::trained_program& of) : program(of) {}
  void before_step(std::int64_t batch) override {
    if (batch != 2) return;
    seen.push_back(program.compute_gradients());
    for (int i = 0; i < program.parameters().list.size(); ++i) {
      seen.push_back(program.gradient_magnitudes(i).mean);
      seen.push_back(program.gradient_magnitudes(i).largest);
    }
  }
  void after_step(std::int64_t batch, std::int64_t samples, double cost) override {
    seen.push_back(static_cast<double>(samples));
    seen.push_back(cost);
    if (batch == 4) {
      const lamina::test_result r = program.test();
      seen.push_back(r.cost);
      seen.push_back(r.metrics.at(0).value);
    }
  }
};

/// All that a program says of two passes, and the file of its model.
template <class Place>
std::pair<std::vector<double>, std::string> trained(const Place& at, const std::string& folder) {
  auto train = test::samples(50) | reader::shuffle(50) | reader::batch(8);
  auto tested = test::samples(20) | reader::batch(7);
  using train_type = decltype(train);
  using test_type = decltype(tested);
  lamina::detail::trained_program_of<std::remove_const_t<decltype(net)>, lamina::optimizer::adam,
                                     train_type, test_type, Place>
      program(net, lamina::optimizer::adam{.learning_rate = 0.01f},
              std::make_shared<train_type>(train), std::make_shared<test_type>(tested), {.seed = 3},
              at);
  watcher w(program);
  program.start_training();
  CHECK(program.train_pass(w) == 7);
  program.save_trainer(folder + "/trainer");
  CHECK(program.train_pass(w) == 7);
  for (const auto& m : program.metrics()) w.seen.push_back(m.value);
  // From the file of the first pass on again.
  program.load_trainer(folder + "/trainer");
  CHECK(program.train_pass(w) == 7);
  program.save_trainer(folder + "/trainer");
  program.save_model(folder + "/model");
  return {w.seen, folder + "/model"};
}

}  // namespace

TEST_CASE("a program at a device says and saves what one on the CPU does") {
  const test::temporary_directory host, device;
  const auto [on_host, host_file] = trained(lamina::detail::trained_at_host{}, host.path());
  const auto [at_device, device_file] = trained(
      lamina::detail::trained_at_device<lamina::engine::cuda::host_backend<1>>{0}, device.path());
  REQUIRE(on_host.size() == at_device.size());
  REQUIRE(on_host.size() > 70);
  for (std::size_t i = 0; i < on_host.size(); ++i) {
    INFO("value " << i);
    CHECK(at_device[i] == Approx(on_host[i]).epsilon(1e-4).margin(1e-6));
  }
  lamina::model a{net}, b{net};
  a.load(host_file);
  b.load(device_file);
  for (int i = 0; i < a.parameter_arrays(); ++i)
    for (std::size_t k = 0; k < a.get(i).size(); ++k)
      CHECK(b.get(i).data()[k] == Approx(a.get(i).data()[k]).epsilon(1e-4).margin(1e-6));
}
