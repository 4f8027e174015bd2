// SPDX-License-Identifier: Apache-2.0
// An evaluator whose weights are stored as bfloat16 is a float one of a model with rounded weights.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/model/bfloat16/bfloat16_machine.hpp>
#include <lamina/model/evaluation/loops_on_threads.hpp>

namespace layer = lamina::layer;

namespace {

constexpr float from_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

// Nearest, of two the even one; the largest numbers become infinite.
static_assert(lamina::bfloat16_bits(1.0f) == 0x3f80);

static_assert(lamina::bfloat16_bits(from_bits(0x3f808000)) == 0x3f80);

static_assert(lamina::bfloat16_bits(from_bits(0x3f808001)) == 0x3f81);

static_assert(lamina::bfloat16_bits(from_bits(0x3f818000)) == 0x3f82);

static_assert(lamina::bfloat16_bits(from_bits(0xbf817fff)) == 0xbf81);

static_assert(lamina::bfloat16_bits(from_bits(0x00008000)) == 0x0000);

static_assert(lamina::bfloat16_bits(from_bits(0x0000ffff)) == 0x0001);

static_assert(lamina::bfloat16_bits(-0.0f) == 0x8000);

static_assert(lamina::bfloat16_bits(from_bits(0x7f7f7fff)) == 0x7f7f);

static_assert(lamina::bfloat16_bits(std::numeric_limits<float>::max()) == 0x7f80);

static_assert(lamina::bfloat16_bits(from_bits(0xff800000)) == 0xff80);

// A NaN whose digits lie in the lower half, and one that a carry would make a zero.
static_assert(lamina::bfloat16_bits(from_bits(0x7f800001)) == 0x7fc0);

static_assert(lamina::bfloat16_bits(from_bits(0xffffffff)) == 0xffff);

static_assert(lamina::float_of_bfloat16(0x4049) == 3.140625f);

// "shared" is a table for a lookup too, which reads it as it is.
constexpr auto perceptron = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 33>(main);
  auto word = layer::data<"word", std::int64_t>(main);
  auto h = layer::fc<160>(x, {.act = lamina::activation::relu});
  auto wide = layer::fc<33>(layer::fc<512>(h, {.act = lamina::activation::tanh}));
  auto to_shared = layer::fc<24>(wide, {.param = {.name = "shared"}});
  auto table = layer::embedding<33, 24>(word, {.param = {.name = "shared"}});
  return std::tuple{layer::fc<5>(to_shared, {.name = "output"}),
                    layer::scale(table, 1.0f, {.name = "looked_up"})};
});

std::vector<float> numbers(std::size_t count) {
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = lamina::uniform_at(11, 0, i) * 2 - 1;
  return all;
}

// The weights of products are those that are not called biases.
template <class P>
void round_weights(lamina::model<P>& m) {
  for (int i = 0; i < m.parameter_arrays(); ++i) {
    if (m.describe(i).name.find(".b_") != std::string::npos) continue;
    auto value = m.get(i);
    for (float& x : value) x = lamina::rounded_to_bfloat16(x);
    m.set(i, value);
  }
}

template <class A, class B>
double difference(const A& a, const B& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  auto at = b.begin();
  for (const float x : a) {
    const double off = std::abs(static_cast<double>(x) - *at++);
    most = off <= most ? most : off;
  }
  return most;
}

// The machine's own products of pairs take each input as the sum of two bfloat16, 2^-17 beside it.
constexpr double rounding = lamina::engine::cpu::detail::has_pair_products ? 1e-4 : 1e-5;

}  // namespace

TEST_CASE("an evaluator with bfloat16 weights: fc, a parameter that others read, threads") {
  lamina::model m{perceptron, 3};
  lamina::evaluator narrow{m, lamina::storage::bfloat16}, sliced{m, lamina::storage::bfloat16};
  lamina::evaluator wide{m};
  lamina::model rounded{perceptron, 3};
  round_weights(rounded);
  lamina::evaluator expected{rounded};
  lamina::worker_pool pool(2);
  lamina::loops_on_threads loops(sliced, pool);
  for (const std::size_t rows : {1, 2, 7, 130}) {
    const std::vector<float> x = numbers(33 * rows);
    std::vector<std::int64_t> words(rows);
    for (std::size_t i = 0; i < rows; ++i) words[i] = static_cast<std::int64_t>(i % 33);
    const auto run = [&](auto& e) {
      e.forward(lamina::feed<"x">(x), lamina::feed<"word">(words));
      return e.template activation<"output">();
    };
    const auto found = run(narrow);
    CHECK(difference(found, run(expected)) < rounding);
    const double off = difference(found, run(wide));
    CHECK(off > 1e-5);
    CHECK(off < 1e-2);
    CHECK(difference(found, run(sliced)) == 0);
    CHECK(difference(narrow.activation<"looked_up">(), wide.activation<"looked_up">()) == 0);
  }
}

TEST_CASE("an evaluator with bfloat16 weights: the error of a product, and refresh") {
  constexpr auto one = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 301>(main);
    return layer::fc<40>(x, {.bias = false, .name = "y"});
  });
  lamina::model m{one, 9};
  lamina::evaluator narrow{m, lamina::storage::bfloat16};
  lamina::evaluator wide{m};
  const std::vector<float> x = numbers(301);
  const auto run = [&](auto& e) {
    e.forward(lamina::feed<"x">(x));
    return e.template activation<"y">();
  };
  auto w = m.get(0);
  const auto a = run(wide), b = run(narrow);
  for (std::size_t j = 0; j < 40; ++j) {
    double bound = 0;
    for (std::size_t k = 0; k < 301; ++k)
      bound += std::abs(static_cast<double>(x[k])) * std::abs(w(k, j));
    CHECK(std::abs(a(0, j) - b(0, j)) <= bound * 0x1p-9 + 1e-5);
  }
  w(7, 3) = std::numeric_limits<float>::infinity();
  w(7, 4) = std::numeric_limits<float>::quiet_NaN();
  m.set(0, w);
  CHECK(std::isfinite(run(narrow)(0, 3)));
  narrow.refresh();
  const auto now = run(narrow);
  CHECK(std::isinf(now(0, 3)));
  CHECK(std::isnan(now(0, 4)));
  CHECK(now(0, 5) == Approx(run(wide)(0, 5)).margin(0.05));
}
