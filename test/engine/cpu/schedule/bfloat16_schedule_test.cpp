// SPDX-License-Identifier: Apache-2.0
// Schedules with weights in bfloat16: recurrent layers and loops.
#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/schedule/bfloat16_schedule.hpp>
#include <lamina/lamina.hpp>
#include <lamina/model/bfloat16/bfloat16_machine.hpp>
#include <lamina/model/evaluation/loops_on_threads.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto recurrent = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 36>(main);
  auto [lstm, cell] = layer::dynamic_lstm<36>(x);
  auto [lstmp, unused] = layer::dynamic_lstmp<36, 5>(x, {.is_reverse = true});
  auto gru = layer::dynamic_gru<12>(x, {.is_reverse = true});
  auto [next, reset, gates] = layer::gru_unit<36>(x, gru);
  auto stepped = layer::dynamic_rnn(x, [&](auto& step) {
    auto in = step.input(x);
    auto before = step.memory(lamina::dims<20>);
    auto now = layer::fc<20>(std::tuple{in, before}, {.act = lamina::activation::tanh});
    step.update(before, now);
    return now;
  });
  auto all = layer::fc<7>(std::tuple{lstm, lstmp, gru, next, stepped});
  return layer::sequence_pool(all, {.type = lamina::pooling_type::sum, .name = "output"});
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

TEST_CASE("an evaluator with bfloat16 weights: every recurrent layer, a loop") {
  lamina::model m{recurrent, 5};
  lamina::evaluator narrow{m, lamina::storage::bfloat16};
  lamina::evaluator wide{m};
  round_weights(m);
  lamina::evaluator expected{m};
  std::vector<std::vector<float>> x;
  for (const std::size_t length : {3, 1, 9, 4}) x.push_back(numbers(36 * length));
  for (int run = 0; run < 2; ++run) {
    narrow.forward(lamina::feed<"x">(x));
    expected.forward(lamina::feed<"x">(x));
    CHECK(difference(narrow.activation<"output">(), expected.activation<"output">()) < rounding);
    x.pop_back();
  }
}
