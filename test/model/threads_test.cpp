// SPDX-License-Identifier: Apache-2.0
// Many evaluators over one model.
#include <thread>

#include "model/samples.hpp"

#include <lamina/model/gradient_machine.hpp>
#include <lamina/model/loops_on_threads.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto hidden = layer::fc<33>(x, {.act = lamina::activation::tanh});
  return layer::fc<3>(hidden, {.name = "output"});
});

constexpr auto wide = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 1, 16, 16>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  constexpr lamina::window same{.padding = 1}, half{.stride = 2};
  auto seen =
      layer::pool2d<2, half>(layer::conv2d<4, 3, same>(image, {.act = lamina::activation::relu}));
  auto parts = layer::reshape<8, 32>(layer::dropout(layer::fc<256>(seen), 0.1f));
  constexpr lamina::layer::matmul_form by_rows{.transpose_y = true};
  const auto by_heads = [](auto v) {
    return layer::transpose<0, 2, 1, 3>(layer::reshape<8, 2, 16>(v));
  };
  auto heads = by_heads(parts);
  auto weights = layer::softmax(layer::matmul<by_rows>(heads, heads, {.alpha = 0.2f}));
  auto turned =
      layer::transpose<0, 2, 1, 3>(layer::matmul(weights, by_heads(layer::fc<32, 2>(parts))));
  auto mixed = layer::layer_norm<2>(layer::reshape<8, 32>(turned));
  auto logits = layer::fc<128>(layer::transpose<0, 2, 1>(mixed), {.name = "output"});
  constexpr lamina::window3 eighths{.stride = 2};
  auto volumes = layer::pool3d<2, eighths>(layer::reshape<1, 4, 8, 8>(seen));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label)) +
         layer::mean(layer::square(volumes)) +
         layer::mean(layer::square(logits));  // of 130 rows so many that threads share the sum
});

struct batch {
  explicit batch(std::size_t rows) : image(rows * 256), label(rows) {
    for (std::size_t i = 0; i < image.size(); ++i)
      image[i] = static_cast<float>(i * 7919 % 1000) / 500.0f - 1;
    for (std::size_t i = 0; i < rows; ++i) label[i] = static_cast<std::int64_t>(i % 3);
  }
  std::vector<float> image;
  std::vector<std::int64_t> label;
};

}  // namespace

TEST_CASE("loops on several threads have the bits of one thread", "[threads]") {
  const lamina::model m{wide, 3};
  lamina::worker_pool pool(2), larger(3), alone(1);
  lamina::evaluator one{m}, some{m};
  lamina::gradient_machine own{m, 4}, shared{m, 4};
  for (const auto which : {&pool, &larger, &alone}) {
    lamina::loops_on_threads loops(some, *which);
    lamina::loops_on_threads more(shared, *which);
    for (const std::size_t rows : {130, 1}) {
      const batch b(rows);
      one.forward(lamina::feed<"image">(b.image));
      some.forward(lamina::feed<"image">(b.image));
      const auto expected = one.activation<"output">(), found = some.activation<"output">();
      CHECK(std::vector<float>(expected.begin(), expected.end()) ==
            std::vector<float>(found.begin(), found.end()));
      const void* arrays[] = {b.image.data(), b.label.data()};
      const int n = static_cast<int>(rows);
      CHECK(own.backward(n, arrays, rows, 5) == shared.backward(n, arrays, rows, 5));
      for (int i = 0; i < m.parameter_arrays(); ++i)
        CHECK(std::memcmp(own.gradient_memory(i), shared.gradient_memory(i),
                          static_cast<std::size_t>(m.describe(i).rows) * 16 * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("what one of several threads finds wrong reaches the caller", "[threads]") {
  const lamina::model m{wide, 3};
  lamina::worker_pool pool(2);
  lamina::gradient_machine g{m};
  lamina::loops_on_threads loops(g, pool);
  batch b(130);  // so many that the costs are computed in parts
  const void* arrays[] = {b.image.data(), b.label.data()};
  const float cost = g.backward(130, arrays);
  for (const std::size_t wrong : {std::size_t{0}, std::size_t{129}}) {
    b.label[wrong] = 128;
    CHECK_THROWS_AS(g.backward(130, arrays), lamina::error);
    b.label[wrong] = 0;
  }
  b.label[129] = 0;
  CHECK(g.backward(130, arrays) == cost);
}

TEST_CASE("four evaluators on four threads give the answers of one", "[threads]") {
  const lamina::model m{net, 3};
  const auto samples = test::samples(64);
  const auto answers = [&] {
    std::vector<float> all;
    lamina::evaluator e{m};
    for (std::size_t first = 0; first < samples.size();) {
      std::vector<std::array<float, 6>> rows;
      for (std::size_t n = first % 5 + 1; n > 0 && first < samples.size(); --n)
        rows.push_back(samples[first++].x);
      e.forward(lamina::feed<"x">(rows));
      const auto output = e.activation<"output">();
      all.insert(all.end(), output.begin(), output.end());
    }
    return all;
  };
  const std::vector<float> expected = answers();
  REQUIRE(expected.size() == 3 * samples.size());
  std::array<std::vector<float>, 4> found;
  std::vector<std::thread> threads;
  for (auto& mine : found)
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) mine = answers();
    });
  for (std::thread& t : threads) t.join();
  for (const auto& mine : found) CHECK(mine == expected);
}
