// SPDX-License-Identifier: Apache-2.0
// Transformed filters that an evaluator keeps: never those of other numbers.
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/conv/filter_memory.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/evaluation/loops_on_threads.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/optimizer/optimizers.hpp>
#include <lamina/train/cpu_trainer.hpp>

namespace layer = lamina::layer;
using lamina::engine::cpu::filter_memory;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 1, 8, 9>(main);
  auto y = layer::data<"y", float, 1>(main);
  auto first = layer::conv2d<12, 3, lamina::window{.padding = 1}>(image, {.name = "first"});
  auto second = layer::conv2d<13, 5, lamina::window{.padding = 2}>(
      first, {.act = lamina::activation::relu, .name = "second"});
  auto third = layer::conv2d<12, 3>(second, {.name = "third"});
  return layer::mean(layer::square_error_cost(layer::fc<1>(third, {.name = "output"}), y));
});

using model = lamina::model<std::remove_const_t<decltype(net)>>;

struct batch {
  explicit batch(int rows) : image(static_cast<std::size_t>(rows) * 72), y(image.size() / 72, 1) {
    for (std::size_t i = 0; i < image.size(); ++i)
      image[i] = static_cast<float>(i * 7919 % 1000) / 500.0f - 1;
  }
  std::vector<float> image, y;
};

template <class Evaluator>
std::vector<float> outputs(Evaluator& e, const batch& b) {
  e.forward(lamina::feed<"image">(b.image));
  const auto found = e.template activation<"output">();
  return {found.begin(), found.end()};
}

// What an evaluator that never saw other filters finds.
std::vector<float> outputs_anew(const model& m, const batch& b) {
  lamina::evaluator e{m};
  return outputs(e, b);
}

}  // namespace

TEST_CASE("what was made of filters is found again as long as not a bit of them changes") {
  filter_memory memory;
  std::vector<float> filters(20, 1), others(20, 1);
  const filter_memory::entry first = memory.find(filters.data(), 20, 50);
  REQUIRE(first.made != nullptr);
  CHECK_FALSE(first.is_current);
  CHECK(memory.find(filters.data(), 20, 50).made == first.made);
  CHECK(memory.find(filters.data(), 20, 50).is_current);
  filters[19] = 2;
  CHECK_FALSE(memory.find(filters.data(), 20, 50).is_current);
  CHECK(memory.find(filters.data(), 20, 50).is_current);
  // Equal ones elsewhere, and the same for another use, have places of their own.
  CHECK(memory.find(others.data(), 20, 50).made != first.made);
  CHECK(memory.find(filters.data(), 20, 60).made != first.made);
  CHECK(memory.find(filters.data(), 20, 50).is_current);
}

TEST_CASE("filters beyond a limit are not kept") {
  filter_memory memory;
  const std::vector<float> filters(10, 1);
  const auto most = static_cast<std::ptrdiff_t>(filter_memory::most_floats);
  CHECK(memory.find(filters.data(), 10, most - 9).made == nullptr);
  CHECK(memory.find(filters.data(), 10, most - 40).made != nullptr);
  CHECK(memory.find(filters.data(), 10, 21).made == nullptr);
  CHECK(memory.find(filters.data(), 10, 20).made != nullptr);
}

TEST_CASE("an evaluator sees filters that were set, written in place or trained meanwhile") {
  model m{net, 3};
  lamina::evaluator e{m};
  const batch b(2);
  const std::vector<float> before = outputs(e, b);
  CHECK(outputs(e, b) == before);
  auto changed = m.parameter<"second.w_0">();
  changed(12, 11, 4, 4) += 1;
  m.set_parameter<"second.w_0">(changed);
  const std::vector<float> after = outputs(e, b);
  CHECK(after != before);
  CHECK(after == outputs_anew(m, b));
  for (int i = 0; i < model::parameter_arrays(); ++i)
    if (m.describe(i).name == "third.w_0") m.memory()[i][8] += 1;
  const std::vector<float> last = outputs(e, b);
  CHECK(last != after);
  CHECK(last == outputs_anew(m, b));
  using sgd = lamina::optimizer::sgd;
  lamina::cpu_trainer<model::program, sgd> trainer(sgd{.learning_rate = 0.01f}, m, 1);
  const void* arrays[] = {b.image.data(), b.y.data()};
  for (int step = 0; step < 2; ++step) {
    trainer.step(lamina::batch_view<model::program>::dense(2, arrays));
    CHECK(outputs(e, b) == outputs_anew(m, b));
  }
  CHECK(outputs(e, b) != last);
}

TEST_CASE("any number of rows and of threads finds the same", "[threads]") {
  const model m{net, 3};
  lamina::evaluator e{m}, shared{m};
  lamina::worker_pool pool(2);
  lamina::loops_on_threads loops(shared, pool);
  for (const int rows : {1, 200, 2, 130, 1}) {
    const batch b(rows);
    const std::vector<float> found = outputs(e, b);
    CHECK(found == outputs_anew(m, b));
    CHECK(found == outputs(shared, b));
  }
}
