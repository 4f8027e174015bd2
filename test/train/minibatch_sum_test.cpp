// SPDX-License-Identifier: Apache-2.0
// Costs that a loop sums up over the mini-batches that it reads, with `minimize` behind the loop:
// each iteration's gradient reads its own mini-batch, whatever its rows. Every construct that makes
// rows stands in such a loop once; run under AddressSanitizer as well.
// Source: PaddlePaddle/Paddle#21162.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "executor/shared_executor.hpp"
#include "interpreted_training.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
using integer = std::int64_t;

namespace {

constexpr lamina::optimizer::sgd sgd{.learning_rate = 0.125f};

using sample = std::tuple<std::vector<float>, integer>;
using minibatch = std::vector<sample>;
/// The first mini-batch is smaller than the second one and larger than the third one.
std::vector<minibatch> some_minibatches(std::vector<int> sizes = {3, 70, 1, 5}) {
  std::vector<minibatch> all;
  for (std::size_t b = 0; b < sizes.size(); ++b) {
    all.emplace_back();
    for (int i = 0; i < sizes[b]; ++i) {
      std::vector<float> x(5);
      for (int k = 0; k < 5; ++k)
        x[static_cast<std::size_t>(k)] =
            static_cast<float>((k * 7 + i * 13 + static_cast<int>(b) * 29) % 17) / 8 - 1.0f;
      all.back().push_back({x, (i + static_cast<int>(b)) % 3});
    }
  }
  return all;
}

/// One loop reads all mini-batches, and `Cost` is summed up.
template <class Cost>
constexpr auto whole_pass = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto sum = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [x, label] =
        layer::read_minibatch<"train", lamina::field<float, 5>, lamina::field<integer>>(loop, more);
    sum = sum + Cost::of(loop, x, label);
  });
  sgd.minimize(sum);
  return sum;
});
/// Gradients of two mini-batches for each update.
template <class Cost>
constexpr auto accumulation = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto two = layer::fill_constant<integer>(main, 2);
  auto last = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& step) {
    auto sum = layer::fill_constant<float>(step, 0);
    auto n = layer::fill_constant<integer>(step, 0);
    auto going = layer::fill_constant<bool>(step, true);
    layer::while_loop(going, [&](lamina::block& loop) {
      auto [x, label] =
          layer::read_minibatch<"train", lamina::field<float, 5>, lamina::field<integer>>(loop,
                                                                                          more);
      sum = sum + Cost::of(loop, x, label);
      n = n + 1;
      going = layer::logical_and(more, layer::less_than(n, two));
    });
    sgd.minimize(sum);
    last = sum;
  });
  return last;
});

template <class P>
void compare_parameters(const P& program, const lamina::model<P>& first, const lamina::model<P>& in,
                        const lamina::scope& scope) {
  const auto view = program.view();
  REQUIRE(lamina::counts_of<P>.parameters > 0);
  for (int i = 0; i < lamina::counts_of<P>.parameters; ++i) {
    const std::string name = lamina::variable_name(view, view.parameters[i].variable);
    INFO(name);
    if (!P::desc.parameters[i].trainable) continue;
    const auto a = in.get(i), begin = first.get(i);
    const auto exact = scope.get(name).template cast<double>();
    double moved = 0, off = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      moved = std::max(moved, std::abs(static_cast<double>(a.flat(k) - begin.flat(k))));
      off = std::max(off, std::abs(static_cast<double>(a.flat(k)) - exact.flat(k)));
    }
    CHECK(moved > 1e-4);
    CHECK(off < 2e-6);
  }
}
template <class P>
void compare(const P& program, const std::vector<minibatch>& batches) {
  lamina::model in{program};
  const lamina::model first{program};
  const double cost = lamina::run(in, batches).cost;
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  interpreted::start(executor, scope, program, first);
  std::size_t next = 0;
  const auto exact =
      executor.run(program.view(), scope, {}, interpreted::reading(batches, 5, next))[0];
  CHECK(next == batches.size());
  CHECK(cost == Approx(exact.template as<double>().flat(0)).epsilon(1e-5));
  compare_parameters(program, first, in, scope);
}

struct dense {
  template <class X, class Y>
  static constexpr auto of(lamina::block&, X x, Y label) {
    auto h = layer::fc<7>(x, {.act = lamina::activation::tanh});
    // The gradient reads the field through a reshape as well.
    auto turned = layer::reshape<5, 1>(x);
    auto both = layer::fc<3>(std::tuple{h, layer::reshape<5>(turned * turned)});
    return layer::mean(layer::softmax_with_cross_entropy(both, label));
  }
};
/// Rows that a condition chooses.
struct branches {
  template <class X, class Y>
  static constexpr auto of(lamina::block&, X x, Y label) {
    auto first = layer::fc<1>(
        x,
        {.param = {.initializer = lamina::init::constant(1), .trainable = false}, .bias = false});
    auto zero = first * 0.0f;
    auto made = layer::if_else(
        layer::less_than(first, zero),
        [&](auto& yes) { return layer::fc<4>(layer::square(yes.input(x))); },
        [&](auto& no) { return layer::fc<4>(no.input(x), {.act = lamina::activation::tanh}); });
    return layer::mean(layer::softmax_with_cross_entropy(layer::fc<3>(made), label));
  }
};
/// Steps inside of an iteration, each with values of its own.
struct steps {
  template <class X, class Y>
  static constexpr auto of(lamina::block&, X x, Y label) {
    auto rows = layer::reshape<5, 1>(x);
    auto h = layer::static_rnn(rows, [&](auto& step) {
      auto before = step.memory(lamina::dims<6>);
      auto next = layer::tanh(layer::fc<6>(std::tuple{step.input(rows), before}));
      step.update(before, next);
      return next;
    });
    return layer::mean(
        layer::softmax_with_cross_entropy(layer::fc<3>(layer::reshape<30>(h)), label));
  }
};
/// A part of an iteration that only runs for some mini-batches.
struct condition {
  template <class X, class Y>
  static constexpr auto of(lamina::block&, X x, Y label) {
    auto h = layer::fc<3>(x);
    auto cost = layer::mean(layer::softmax_with_cross_entropy(h, label));
    auto limit = cost * 0.0f + 1.0f;
    return layer::cond(
        layer::less_than(cost, limit), [&](lamina::block&) { return cost * 2.0f; },
        [&](lamina::block&) { return layer::mean(layer::square(layer::fc<2>(layer::tanh(h)))); });
  }
};

// -- sequences ------------------------------------------------------------------------------------

using text = std::tuple<std::vector<integer>, std::vector<float>, integer>;
std::vector<std::vector<text>> some_texts() {
  std::vector<std::vector<text>> all;
  for (int b = 0; b < 5; ++b) {
    all.emplace_back();
    for (int i = 0; i < (b == 1 ? 40 : 2 + b % 3); ++i) {
      std::vector<integer> words;
      std::vector<float> weights;
      for (int k = 0; k < (b * 7 + i * 3) % 9; ++k) {
        words.push_back((k * 5 + i * 3 + b) % 6);
        weights.push_back(1 + 0.125f * static_cast<float>(k % 3));
      }
      if (i == 0 && words.empty()) words = {1, 2}, weights = {1, 1};
      all.back().push_back({words, weights, (i + b) % 2});
    }
  }
  return all;
}
/// A recurrence, a convolution of sequences, sequences of new lengths, and an embedding whose
/// gradient has some rows only.
template <bool Sparse>
constexpr auto texts_pass = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto sum = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [word, weight, label] =
        layer::read_minibatch<"texts", lamina::sequence_field<"word", integer>,
                              lamina::sequence_field<"word", float>, lamina::field<integer>>(loop,
                                                                                             more);
    auto e = layer::embedding<6, 5>(word, {.is_sparse = Sparse}) * weight;
    auto states = layer::dynamic_rnn(e, [&](auto& step) {
      auto before = step.memory(lamina::dims<4>, {.value = 0.f});
      auto next = layer::tanh(layer::fc<4>(std::tuple{step.input(e), before}));
      step.update(before, next);
      return next;
    });
    auto last = layer::sequence_last_step(states);
    auto seen = layer::sequence_conv_pool<3, 3>(e);
    auto kept = layer::sequence_erase<"kept">(word, {2});
    auto other =
        layer::sequence_pool(layer::embedding<6, 3>(kept), {.type = lamina::pooling_type::sum});
    auto logits = layer::fc<2>(std::tuple{last, seen, other});
    sum = sum + layer::mean(layer::softmax_with_cross_entropy(logits, label));
  });
  sgd.minimize(sum);
  return sum;
});
template <class P>
void compare_texts(const P& program) {
  const auto texts = some_texts();
  lamina::model in{program};
  const lamina::model first{program};
  const double cost = lamina::run(in, texts).cost;
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  interpreted::start(executor, scope, program, first);
  std::size_t next = 0;
  lamina::run_options options;
  options.next_minibatch = [&](lamina::feed_map& feed) {
    std::vector<integer> words, labels;
    std::vector<float> weights;
    std::vector<std::size_t> lengths;
    for (const auto& [word, weight, label] : texts[next]) {
      words.insert(words.end(), word.begin(), word.end());
      weights.insert(weights.end(), weight.begin(), weight.end());
      lengths.push_back(word.size());
      labels.push_back(label);
    }
    const lamina::lod sequences = lamina::lod::from_lengths({lengths});
    feed["texts_0"] = lamina::lod_tensor(lamina::tensor({words.size(), 1}, words), sequences);
    feed["texts_1"] = lamina::lod_tensor(lamina::tensor({words.size(), 1}, weights), sequences);
    feed["texts_2"] = lamina::tensor({labels.size(), 1}, labels);
    return ++next < texts.size();
  };
  const auto exact = executor.run(program.view(), scope, {}, options)[0];
  CHECK(cost == Approx(exact.template as<double>().flat(0)).epsilon(1e-5));
  compare_parameters(program, first, in, scope);
}

/// Two mini-batches in one iteration.
constexpr auto two_reads = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto sum = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [x] = layer::read_minibatch<"a", lamina::field<float>>(loop, more);
    auto a = layer::mean(layer::fc<1>(x, {.param = {.name = "w"}, .bias = false}));
    auto [y] = layer::read_minibatch<"b", lamina::field<float>>(loop, more);
    auto b = layer::mean(layer::square(layer::fc<1>(y, {.param = {.name = "w"}, .bias = false})));
    sum = sum + a + b;
  });
  sgd.minimize(sum);
  return sum;
});

}  // namespace

TEST_CASE("a cost summed in a loop of mini-batches: two of them by hand") {
  constexpr auto training = lamina::program([](lamina::block& main) {
    auto more = layer::fill_constant<bool>(main, true);
    auto sum = layer::fill_constant<float>(main, 0);
    layer::while_loop(more, [&](lamina::block& loop) {
      auto [x, y] =
          layer::read_minibatch<"train", lamina::field<float, 2>, lamina::field<float>>(loop, more);
      auto p = layer::fc<1>(
          x, {.param = {.name = "w", .initializer = lamina::init::constant(0)}, .bias = false});
      sum = sum + layer::mean(layer::square_error_cost(p, y));
    });
    lamina::optimizer::sgd{.learning_rate = 1.f}.minimize(sum);
    return sum;
  });
  using pair = std::tuple<std::vector<float>, float>;
  lamina::model m{training};
  lamina::run(
      m, std::vector<std::vector<pair>>{{{{1, 2}, 1}, {{3, 4}, 1}}, {{{5, 6}, 1}, {{7, 8}, 1}}});
  CHECK(m.parameter<"w">().flat(0) == Approx(16));
  CHECK(m.parameter<"w">().flat(1) == Approx(20));
}
TEST_CASE("a cost summed in a loop of mini-batches: dense layers") {
  compare(whole_pass<dense>, some_minibatches());
  compare(whole_pass<dense>, some_minibatches({300, 2}));
}
TEST_CASE("a cost summed in a loop of mini-batches: rows that a condition chooses") {
  compare(whole_pass<branches>, some_minibatches());
}
TEST_CASE("a cost summed in a loop of mini-batches: a loop of steps inside") {
  compare(whole_pass<steps>, some_minibatches());
}
TEST_CASE("a cost summed in a loop of mini-batches: conditions") {
  compare(whole_pass<condition>, some_minibatches());
}
TEST_CASE("a cost summed in a loop of mini-batches: gradients of two for each update") {
  compare(accumulation<dense>, some_minibatches());
  compare(accumulation<dense>, some_minibatches({1, 40, 7, 2, 9}));
}
TEST_CASE("a cost summed in a loop of mini-batches: sequences") {
  compare_texts(texts_pass<false>);
  compare_texts(texts_pass<true>);
}
TEST_CASE("two mini-batches of one iteration whose gradient is kept have as many rows") {
  using number = std::tuple<float, float>;
  lamina::model m{two_reads};
  const std::vector<number> a{{1.f, 2.f}, {3.f, 4.f}}, b{{5.f, 6.f}, {7.f, 8.f}}, c{{1.f, 1.f}};
  m.set_parameter<"w">(lamina::array<float>({1, 1}, {2.0f}));
  lamina::run(m, std::vector<std::vector<number>>{a, b});
  // d/dw of mean(x w) + mean((y w)^2): 2 + 2 * 2 * (36 + 64) / 2.
  CHECK(m.parameter<"w">().flat(0) == Approx(2 - 0.125 * (2 + 200)));
  CHECK_THROWS_WITH(lamina::run(m, std::vector<std::vector<number>>{a, c}),
                    "lamina: rows of 'batch': expected 2, found 1");
}
