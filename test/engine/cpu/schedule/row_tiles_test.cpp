// SPDX-License-Identifier: Apache-2.0
// Large batches of narrow rows, which go through all layers some rows at a time: the results are
// those of the whole batch.
#include <algorithm>
#include <cmath>

#include "model/samples.hpp"
#include "sanitized.hpp"

#include <lamina/engine/cpu/schedule/row_tiles.hpp>
#include <lamina/model/bfloat16/bfloat16_machine.hpp>
#include <lamina/model/evaluation/loops_on_threads.hpp>
#include <lamina/model/gradient_machine.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/optimizer/momentum.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/train/train.hpp>

namespace cpu = lamina::engine::cpu;
namespace layer = lamina::layer;
using lamina::activation;

namespace {

constexpr int inputs = 24, classes = 10;

constexpr auto perceptron = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, inputs>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto a = layer::fc<48>(x, {.act = activation::relu});
  auto b = layer::fc<40>(a, {.act = activation::tanh});
  auto c = layer::fc<40>(b, {.act = activation::sigmoid});
  return layer::mean(
      layer::softmax_with_cross_entropy(layer::fc<classes>(c, {.name = "logits"}), label));
});

// Two layers share a weight, values in the middle are named, and masks depend on the row.
constexpr auto shared = lamina::program([](lamina::block& main) {
  constexpr lamina::param_attr weight{.name = "weight"};
  auto x = layer::data<"x", float, inputs>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::fc<64>(x, {.act = activation::relu, .name = "first"});
  auto a = layer::dropout(layer::fc<64>(h, {.act = activation::tanh, .param = weight}), 0.3f);
  auto b = layer::fc<64>(a, {.act = activation::relu, .param = weight, .name = "second"}) + h;
  auto logits = layer::fc<classes>(b, {.name = "logits"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

// Statistics of the whole batch stand in the middle: what is before and behind them is two runs.
constexpr auto divided = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, inputs>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto a = layer::fc<64>(layer::fc<48>(x, {.act = activation::tanh}), {.act = activation::relu});
  auto b = layer::batch_norm(layer::fc<64>(a));
  auto c = layer::fc<64>(layer::fc<32>(b, {.act = activation::tanh}), {.act = activation::tanh});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<classes>(c), label));
});

// A sum over the rows, of which rows know nothing, and a gradient with two rows.
constexpr auto narrowest = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, inputs>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto a = layer::fc<2>(x, {.act = activation::tanh});
  auto b = layer::layer_norm(layer::fc<120>(a, {.act = activation::tanh}));
  auto c = layer::fc<120>(b, {.act = activation::relu});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<classes>(c), label)) +
         layer::mean(layer::square(c));
});

struct data {
  explicit data(int rows, std::uint64_t seed = 3)
      : x(static_cast<std::size_t>(rows) * inputs), label(static_cast<std::size_t>(rows)) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 2 * lamina::uniform_at(seed, i, 0) - 1;
    for (std::size_t i = 0; i < label.size(); ++i)
      label[i] = static_cast<std::int64_t>(x[i * inputs] * 5 + 5);
  }
  data(std::vector<float> of_x, std::vector<std::int64_t> labels)
      : x(std::move(of_x)), label(std::move(labels)) {}
  std::vector<float> x;
  std::vector<std::int64_t> label;
};

template <class P>
using tiled = cpu::tiled_groups<P>;

// Rows of a batch that is worth tiles, whose halves are not.
template <class P>
constexpr int enough_rows =
    cpu::detail::least_tiles* cpu::detail::tile_floats / tiled<P>::width + 3;

template <class P>
double distance(const lamina::model<P>& a, const lamina::model<P>& b) {
  double worst = 0;
  for (int i = 0; i < lamina::counts_of<P>.parameters; ++i) {
    const lamina::array<float> of_a = a.get(i), of_b = b.get(i);
    double largest = 1e-3, off = 0;
    for (auto p = of_a.begin(), q = of_b.begin(); p != of_a.end(); ++p, ++q) {
      largest = std::max(largest, static_cast<double>(std::abs(*p)));
      off = std::max(off, static_cast<double>(std::abs(*p - *q)));
    }
    worst = std::max(worst, off / largest);
  }
  return worst;
}

// Three steps on large batches of different sizes, by one thread and by two, whose halves are not
// worth tiles.
template <auto const& Net, class Opt>
void compare_training(const Opt& opt) {
  using program = std::remove_const_t<std::remove_reference_t<decltype(Net)>>;
  using fused = lamina::training_program<program, Opt>;
  INFO("narrow " << tiled<fused>::is_narrow << " width " << tiled<fused>::width << " groups "
                 << lamina::plan<fused>::groups);
  REQUIRE(tiled<fused>::table.tiled_groups >= 3);
  lamina::model<program> one{Net, 5}, two{Net, 5};
  lamina::cpu_trainer<program, Opt> by_one(opt, one, 1, 9), by_two(opt, two, 2, 9);
  for (const int more : {0, 40, 7}) {
    if (test::is_sanitized && more == 7) break;
    const int rows = enough_rows<fused> + more;
    const data d(rows, static_cast<std::uint64_t>(more));
    const void* arrays[] = {d.x.data(), d.label.data()};
    const double a = by_one.step(lamina::batch_view<program>::dense(rows, arrays));
    const double b = by_two.step(lamina::batch_view<program>::dense(rows, arrays));
    CHECK(a == Approx(b).epsilon(1e-5));
  }
  CHECK(distance(one, two) < 2e-4);
}

// Activations and gradients of one thread, with tiles, and of threads, which make none.
template <auto const& Net>
void compare_bits() {
  using program = std::remove_const_t<std::remove_reference_t<decltype(Net)>>;
  const lamina::model<program> m{Net, 6};
  lamina::gradient_machine one{m, 4}, some{m, 4};
  lamina::worker_pool pool(2);
  lamina::loops_on_threads loops(some, pool);
  using backward = typename std::remove_reference_t<decltype(one.machine())>::program;
  REQUIRE(tiled<backward>::table.tiled_groups >= 3);
  // Large, small without tiles, and large again.
  for (const int rows :
       {enough_rows<backward> + 5, 30, enough_rows<backward> * (test::is_sanitized ? 1 : 2)}) {
    const data d(rows);
    const void* arrays[] = {d.x.data(), d.label.data()};
    CHECK(one.backward(rows, arrays, 3, 5) == some.backward(rows, arrays, 3, 5));
    for (int i = 0; i < m.parameter_arrays(); ++i) {
      INFO("parameter " << i << " rows " << rows);
      const auto info = m.describe(i);
      if (one.gradient_memory(i) == nullptr) continue;  // statistics have none
      std::vector<float> a(static_cast<std::size_t>(info.rows * info.columns)), b(a.size());
      lamina::unpack_like(info, one.gradient_memory(i), a.data());
      lamina::unpack_like(info, some.gradient_memory(i), b.data());
      CHECK(a == b);
    }
  }
}

}  // namespace

TEST_CASE("tiles cover a batch and begin at whole sums") {
  for (const int rows : {1, 7, 8, 9, 100, 513, 1000, 4099})
    for (const int most : {56, 128, 333, 1024}) {
      const cpu::detail::tiles_of_rows tiles(rows, most);
      CHECK(tiles.first(0) == 0);
      CHECK(tiles.first(tiles.count) == rows);
      for (int t = 0; t < tiles.count; ++t) {
        CHECK(tiles.size(t) > 0);
        CHECK(tiles.size(t) <= most + cpu::detail::summed_together);
        CHECK(tiles.first(t) % cpu::detail::summed_together == 0);
      }
    }
}

TEST_CASE("all of a perceptron but the mean of its cost is one run of tiles") {
  using fused =
      lamina::training_program<std::remove_const_t<decltype(perceptron)>, lamina::optimizer::sgd>;
  CHECK(tiled<fused>::table.tiled[0].end >= lamina::plan<fused>::groups - 1);
}

TEST_CASE("large batches in tiles train as halves without tiles do") {
  compare_training<perceptron>(lamina::optimizer::sgd{.learning_rate = 0.5f});
  compare_training<perceptron>(lamina::optimizer::adam{.learning_rate = 0.01f});
  compare_training<shared>(lamina::optimizer::sgd{.learning_rate = 0.2f});
  compare_training<narrowest>(lamina::optimizer::momentum{.learning_rate = 0.1f, .momentum = 0.9f});
}

TEST_CASE("a batch_norm between the layers ends the run") {
  using fused =
      lamina::training_program<std::remove_const_t<decltype(divided)>, lamina::optimizer::sgd>;
  CHECK(tiled<fused>::table.tiled[0].end < 6);
  compare_bits<divided>();
}

TEST_CASE("results in tiles have the bits of the whole batch") {
  compare_bits<perceptron>();
  compare_bits<shared>();
  compare_bits<narrowest>();
}

TEST_CASE("activations in tiles have the bits of the whole batch, and of small ones") {
  const lamina::model m{shared, 8};
  lamina::evaluator e{m}, threads{m}, few{m};
  lamina::worker_pool pool(3);
  lamina::loops_on_threads loops(threads, pool);
  using forward = std::remove_reference_t<decltype(e.machine())>::program;
  REQUIRE(tiled<forward>::table.tiled_groups > 0);
  constexpr int rows = enough_rows<forward> * (test::is_sanitized ? 1 : 4);
  const data d(rows);
  e.forward(lamina::feed<"x">(d.x));
  threads.forward(lamina::feed<"x">(d.x));
  const auto compare = [&](const lamina::array<float>& a, const lamina::array<float>& b) {
    CHECK(std::equal(a.begin(), a.end(), b.begin(), b.end()));
  };
  compare(e.activation<"first">(), threads.activation<"first">());
  compare(e.activation<"second">(), threads.activation<"second">());
  compare(e.activation<"logits">(), threads.activation<"logits">());
  constexpr int last = 60;
  few.forward(lamina::feed<"x">(std::vector<float>(d.x.end() - last * inputs, d.x.end())));
  const lamina::array<float> whole = e.activation<"logits">(), end = few.activation<"logits">();
  for (std::size_t i = 0; i < last; ++i)
    for (std::size_t j = 0; j < classes; ++j)
      CHECK(whole(rows - last + i, j) == Approx(end(i, j)).margin(1e-5));
  e.forward(lamina::feed<"x">(d.x), lamina::feed<"label">(d.label));
  threads.forward(lamina::feed<"x">(d.x), lamina::feed<"label">(d.label));
  CHECK(e.cost() == threads.cost());
  compare(e.activation<"accuracy">(), threads.activation<"accuracy">());
}

TEST_CASE("weights stored as bfloat16 go over tiles too") {
  const lamina::model m{perceptron, 8};
  lamina::evaluator e{m, lamina::storage::bfloat16}, few{m, lamina::storage::bfloat16};
  using forward = std::remove_reference_t<decltype(e.machine())>::program;
  REQUIRE(tiled<forward>::table.tiled_groups >= 3);
  const int rows = 2 * enough_rows<forward>, last = 60;
  const data d(rows);
  e.forward(lamina::feed<"x">(d.x), lamina::feed<"label">(d.label));
  const data end{std::vector<float>(d.x.end() - last * inputs, d.x.end()),
                 std::vector<std::int64_t>(d.label.end() - last, d.label.end())};
  few.forward(lamina::feed<"x">(end.x), lamina::feed<"label">(end.label));
  const lamina::array<float> whole = e.activation<"logits">(), some = few.activation<"logits">();
  for (std::size_t i = 0; i < static_cast<std::size_t>(last); ++i)
    for (std::size_t j = 0; j < classes; ++j)
      CHECK(whole(static_cast<std::size_t>(rows - last) + i, j) == Approx(some(i, j)).margin(1e-5));
}

TEST_CASE("a label that is out of range is told with its row in the whole mini-batch") {
  using program = std::remove_const_t<decltype(perceptron)>;
  const lamina::model m{perceptron, 4};
  lamina::gradient_machine tiles{m}, threads{m}, few{m};
  lamina::worker_pool pool(2);
  lamina::loops_on_threads loops(threads, pool);
  using backward = std::remove_reference_t<decltype(tiles.machine())>::program;
  const int rows = 2 * enough_rows<backward>;
  data d(rows);
  const void* arrays[] = {d.x.data(), d.label.data()};
  const float cost = tiles.backward(rows, arrays);
  d.label[static_cast<std::size_t>(rows) - 2] = classes;
  const auto told = Catch::Contains("label in row " + std::to_string(rows - 2) + ":");
  CHECK_THROWS_WITH(tiles.backward(rows, arrays), told);
  CHECK_THROWS_WITH(threads.backward(rows, arrays), told);
  lamina::model<program> trained{perceptron, 4};
  lamina::cpu_trainer<program, lamina::optimizer::sgd> trainer({.learning_rate = 0.1f}, trained, 2,
                                                               9);
  CHECK_THROWS_WITH(trainer.step(lamina::batch_view<program>::dense(rows, arrays)), told);
  d.label[static_cast<std::size_t>(rows) - 2] = 0;
  CHECK(tiles.backward(rows, arrays) == threads.backward(rows, arrays));
  d.label[static_cast<std::size_t>(rows) - 2] = 1;
  CHECK(std::isfinite(cost));
  d.label[3] = -1;
  CHECK_THROWS_WITH(few.backward(20, arrays), Catch::Contains("label in row 3:"));
}
