// SPDX-License-Identifier: Apache-2.0
// --job=checkgrad accepts the gradients of the engine, of dense and sparse parameters, behind
// dropout, statistics and sequences, and refuses those of an operator whose derivative is wrong.
#include <cstdint>
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include "executor/shared_executor.hpp"
#include "stderr_text.hpp"
#include <catch2/catch.hpp>

#include <lamina/cli/checkgrad.hpp>
#include <lamina/cli/trainer_config.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;

namespace {

/// x^2, with a derivative that forgets the 2.
struct careless_square : lamina::pointwise {
  static constexpr const char* type = "careless_square";
  template <class T>
  LAMINA_NUMBER_FN static T f(T x) {
    return x * x;
  }
  template <class T>
  LAMINA_NUMBER_FN static T df(T x, T dy) {
    return x * dy;
  }
};

constexpr auto careless = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto h = layer::fc<4>(x);
  layer::layer_helper helper(*h.builder, "careless_square", {});
  const int y = helper.output_like(h.id);
  h.builder->add_operator(lamina::schema_of<careless_square>(), {h.id}, {y});
  return layer::mean(layer::fc<1>(helper.returns(decltype(h){h.builder, y})));
});

constexpr auto mixed = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto lines = layer::nested_sequence<"lines", float, 2>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto vectors = layer::embedding<20, 6>(words, {.is_sparse = true});
  auto [hidden, cell] = layer::dynamic_lstm<16>(layer::fc<16>(vectors));
  auto pooled =
      layer::sequence_pool(layer::sequence_pool(lines, {.type = lamina::pooling_type::sum}),
                           {.type = lamina::pooling_type::average});
  auto last = layer::dropout(layer::sequence_last_step(hidden), 0.3f);
  auto normal = layer::batch_norm(layer::fc<9>(std::tuple{last, pooled}));
  auto scores = layer::fc<3>(layer::tanh(normal));
  layer::accuracy(scores, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(scores, label));
});

struct mixed_sample {
  std::vector<std::int64_t> words;
  std::vector<std::vector<float>> lines;  // of pairs
  std::int64_t label;
};
std::vector<mixed_sample> mixed_samples() {
  std::vector<mixed_sample> all;
  for (int i = 0; i < 7; ++i) {
    mixed_sample s{{}, {}, i % 3};
    for (int k = 0; k <= i % 4; ++k) s.words.push_back((i * 7 + k * 3) % 20);
    for (int k = 0; k <= i % 3; ++k) {
      s.lines.emplace_back();
      for (int n = 0; n < 2 * (1 + (i + k) % 2); ++n)
        s.lines.back().push_back(static_cast<float>((i * 5 + k * 3 + n * 7) % 11) / 5 - 1);
    }
    all.push_back(s);
  }
  return all;
}

/// Checks the gradients of a configuration; returns what went wrong, and the log.
std::pair<std::string, std::string> checked(const lamina::detail::trainer_config_base& config) {
  std::string fault = "none";
  const std::string log = test::written_by([&] {
    lamina::trainer_log to;
    const auto program = config.make({}, {.seed = 3});
    try {
      lamina::detail::check_gradients(*program, 3, {}, to);
    } catch (const lamina::error& e) {
      fault = e.what();
    }
  });
  return {fault, log};
}

}  // namespace

TEST_CASE("gradients of dense and sparse parameters, with dropout, statistics and sequences") {
  const auto [fault, log] = checked(lamina::trainer_config{"mixed", mixed, lamina::optimizer::sgd{},
                                                           mixed_samples() | reader::batch(7)});
  INFO(log);
  CHECK(fault == "none");
  CHECK(log.find("original cost=1.") != log.npos);
  for (const char* const name :
       {"embedding_0.w_0", "fc_0.w_0", "lstm_0.w_0", "fc_1.w_0", "batch_norm_0.w_0", "fc_2.b_0"})
    CHECK(log.find(std::string("] ") + name) != log.npos);
  CHECK(log.find("***") == log.npos);
  CHECK(log.find("batch_norm_0.w_1") == log.npos);  // the moving mean is not trained
}

TEST_CASE("a wrong derivative is found in the parameters before it, not in those behind it") {
  const std::vector<std::tuple<std::vector<float>>> data = {{{1, 2, -3}}, {{.5f, -1, 1}}};
  const auto config = lamina::trainer_config{"careless", careless, lamina::optimizer::sgd{},
                                             data | reader::batch(2)};
  const auto [fault, log] = checked(config);
  INFO(log);
  CHECK(fault ==
        "lamina: --job=checkgrad: expected gradients that are the slopes of the cost, found others "
        "of 2 of 4 parameters: fc_0.w_0, fc_0.b_0");
  CHECK(log.find("diff=0.5 ***") != log.npos);
}

TEST_CASE("without the header that computes the cost the job says what is missing") {
  const auto kept = std::exchange(lamina::detail::make_exact_cost, nullptr);
  REQUIRE(kept != nullptr);
  const std::vector<std::tuple<std::vector<float>>> data = {{{1, 2, -3}}};
  const auto [fault, log] = checked(lamina::trainer_config{
      "careless", careless, lamina::optimizer::sgd{}, data | reader::batch(1)});
  lamina::detail::make_exact_cost = kept;
  CHECK(fault.starts_with("lamina: --job=checkgrad: expected a program with the interpreter"));
  CHECK(fault.find("<lamina/cli/checkgrad.hpp>") != fault.npos);
}
