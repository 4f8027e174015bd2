// SPDX-License-Identifier: Apache-2.0
// Several threads compute the bits of one.

#include "model/samples.hpp"
#include "sanitized.hpp"

#include <lamina/engine/cpu/schedule/parallel_run.hpp>
#include <lamina/model/evaluation/loops_on_threads.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;

namespace {

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

// Layers of many widths, so that planned memory is used again for rows of another width.
constexpr auto narrow = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto a = layer::fc<33>(x, {.act = lamina::activation::tanh});
  auto b = layer::fc<130>(a, {.act = lamina::activation::relu, .name = "kept"});
  auto c = layer::softmax(layer::fc<70>(layer::fc<5>(b)));
  auto d = layer::elementwise_add(layer::fc<70>(layer::tanh(c)), c);
  auto logits = layer::fc<3>(layer::fc<17>(d), {.name = "output"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

TEST_CASE("ranges of rows on threads have the bits of one thread", "[threads]") {
  using program = std::remove_const_t<decltype(narrow)>;
  using ranged = lamina::engine::cpu::ranged_groups<lamina::for_test<program>>;
  REQUIRE(ranged::table.groups[0].end >= 5);
  const lamina::model m{narrow, 3};
  lamina::evaluator one{m}, two{m, {.threads = 2}}, five{m, {.threads = 5}};
  for (const std::size_t rows : {400, 61, test::is_sanitized ? 2000 : 9000, 64, 400, 3, 0}) {
    INFO("rows " << rows);
    std::vector<float> x(rows * 6);
    std::vector<std::int64_t> label(rows);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>((i + rows) * 7919 % 1000) / 500.0f - 1;
    for (std::size_t i = 0; i < rows; ++i) label[i] = static_cast<std::int64_t>(i % 3);
    if (rows == 0) x.clear();
    for (const bool with_cost : {true, false}) {
      const auto run = [&](auto& e) {
        if (with_cost)
          e.forward(lamina::feed<"x">(x), lamina::feed<"label">(label));
        else
          e.forward(lamina::feed<"x">(x));
        std::vector<float> all(e.template activation<"output">().begin(),
                               e.template activation<"output">().end());
        const auto kept = e.template activation<"kept">();
        all.insert(all.end(), kept.begin(), kept.end());
        if (with_cost && rows > 0) all.push_back(e.cost());
        return all;
      };
      const std::vector<float> expected = run(one);
      CHECK(run(two) == expected);
      CHECK(run(five) == expected);
    }
  }
}

TEST_CASE("an evaluator's threads follow it when it moves, and their number is checked",
          "[threads]") {
  const lamina::model m{wide, 3};
  const batch b(130);
  lamina::evaluator one{m};
  one.forward(lamina::feed<"image">(b.image));
  using type = decltype(one);
  std::vector<type> some;
  for (int i = 0; i < 3; ++i) {
    some.emplace_back(m, lamina::evaluator_options{.threads = 2});
    for (type& e : some) {
      e.forward(lamina::feed<"image">(b.image));
      const auto expected = one.activation<"output">(), found = e.activation<"output">();
      CHECK(std::equal(expected.begin(), expected.end(), found.begin(), found.end()));
    }
  }
  some[0] = std::move(some[2]);
  some.pop_back();
  some[0].forward(lamina::feed<"image">(b.image));
  CHECK(some[0].activation<"output">()(0, 0) == one.activation<"output">()(0, 0));
  CHECK_THROWS_WITH((type{m, {.threads = 0}}),
                    "lamina: evaluator: expected 1 to 256 threads, found 0");
  CHECK_THROWS_WITH((type{m, {.threads = 257}}),
                    "lamina: evaluator: expected 1 to 256 threads, found 257");
}
