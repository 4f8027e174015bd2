// SPDX-License-Identifier: Apache-2.0
// Recurrent networks learn what only a memory can tell, and a forward pass alone, which keeps
// nothing for gradients, agrees with the interpreter.
#include <cmath>
#include <vector>

#include "executor/shared_executor.hpp"
#include "model/draws.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

namespace {

// The label is the first word of the sentence; the last state has to tell it.
template <bool Gru>
constexpr auto memory = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto e = layer::embedding<4, 8>(word);
  auto hidden = [&] {
    if constexpr (Gru)
      return layer::dynamic_gru<16>(layer::fc<3 * 16>(e));
    else
      return std::get<0>(layer::dynamic_lstm<4 * 16>(layer::fc<4 * 16>(e)));
  }();
  auto logits = layer::fc<4>(layer::sequence_last_step(hidden), {.name = "logits"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

constexpr auto all_kinds = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 36>(main);
  auto [lstm, cell] = layer::dynamic_lstm<36>(x);
  auto [lstmp, unused] = layer::dynamic_lstmp<36, 5>(x, {.is_reverse = true});
  auto gru = layer::dynamic_gru<12>(x, {.is_reverse = true});
  auto [next, reset, gates] = layer::gru_unit<36>(x, gru);
  auto [hidden, now] = layer::lstm_unit(lstm, next, gru);
  auto all = layer::fc<7>(std::tuple{lstm, lstmp, gru, next, hidden});
  return layer::sequence_pool(all, {.type = lamina::pooling_type::sum, .name = "pooled"});
});

struct sentence {
  std::vector<std::int64_t> word;
  std::int64_t label;
};
std::vector<sentence> sentences(int n) {
  std::vector<sentence> all;
  test::draws draw(5);
  for (int i = 0; i < n; ++i) {
    sentence s{{}, 0};
    for (std::int64_t k = 0, length = 1 + draw(9); k < length; ++k) s.word.push_back(draw(4));
    s.label = s.word[0];
    all.push_back(s);
  }
  return all;
}
template <class P>
double accuracy_of(P program) {
  lamina::model model{program};
  lamina::optimizer::adam adam{.learning_rate = 0.02f};
  adam.train(model, sentences(400) | lamina::reader::batch(20), {.passes = 12});
  lamina::evaluator e{model};
  return e.test(sentences(400) | lamina::reader::batch(50)).metric("accuracy");
}

}  // namespace

TEST_CASE("an lstm learns to remember") { CHECK(accuracy_of(memory<false>) > 0.97); }
TEST_CASE("a gru learns to remember") { CHECK(accuracy_of(memory<true>) > 0.97); }

TEST_CASE("a forward pass alone is that of the interpreter") {
  lamina::model model(all_kinds, 1);
  lamina::evaluator e{model};
  std::vector<std::vector<std::array<float, 36>>> x(4);
  for (std::size_t s = 0; s < x.size(); ++s)
    for (std::size_t t = 0; t < (s == 1 ? 0 : s + 2); ++t) {
      x[s].emplace_back();
      for (std::size_t j = 0; j < 36; ++j)
        x[s].back()[j] = static_cast<float>(std::sin(1.3 * double(j) + double(s) + double(t)));
    }
  e.forward(lamina::feed<"x">(x));
  const auto found = e.activation<"pooled">();
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(all_kinds.view(), scope, 1);
  const auto expected =
      executor.run(all_kinds.view(), scope, {{"x", lamina::sequences(x)}})[0].as<float>();
  REQUIRE(found.shape()[0] == 4);
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t c = 0; c < 7; ++c)
      CHECK(found(r, c) == Approx(expected(r, c)).epsilon(1e-4).margin(1e-5));
}
