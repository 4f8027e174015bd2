// SPDX-License-Identifier: Apache-2.0
// Attention of several heads: values by hand, and the engine; glu.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/layers/scaled_dot_product_attention.hpp>
#include <lamina/model/gradient_machine.hpp>
#include <lamina/transform/gradients.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;

namespace {

constexpr auto gated = program([](block& main) {
  auto x = layer::data<"x", float, 3, 10>(main);
  auto a = layer::glu(x, {.name = "a"});
  auto b = layer::glu<2>(layer::reshape<5, 6>(x));
  return std::tuple{layer::mean(a * a) + layer::mean(b * b), a, b};
});

template <int Heads>
constexpr auto causal = program([](block& main) {
  auto q = layer::data<"q", float, 5, 12>(main);
  auto k = layer::data<"k", float, 5, 12>(main);
  auto v = layer::data<"v", float, 5, 6>(main);
  auto y = layer::scaled_dot_product_attention<Heads>(q, k, v, {.causal = true, .name = "y"});
  return std::tuple{layer::mean(y * y), y};
});

template <int Heads>
constexpr auto attention = program([](block& main) {
  auto q = layer::data<"q", float, 5, 12>(main);
  auto k = layer::data<"k", float, 7, 12>(main);
  auto v = layer::data<"v", float, 7, 6>(main);
  auto y = layer::scaled_dot_product_attention<Heads>(q, k, v, {.name = "y"});
  return std::tuple{layer::mean(y * y), y};
});

std::vector<float> numbers(std::size_t count, std::uint64_t seed) {
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = lamina::uniform_at(seed, 0, i) * 2 - 1;
  return all;
}

template <class Net>
void check_one_head(const Net& net, std::size_t count, bool is_causal) {
  const lamina::model m{net};
  lamina::evaluator e{m};
  const auto q = numbers(5 * 12, 1), k = numbers(count * 12, 2), v = numbers(count * 6, 3);
  e.forward(lamina::feed<"q">(q), lamina::feed<"k">(k), lamina::feed<"v">(v));
  const auto y = e.template activation<"y">();
  for (std::size_t i = 0; i < 5; ++i) {
    std::vector<double> weight(is_causal ? i + 1 : count);
    double sum = 0;
    for (std::size_t j = 0; j < weight.size(); ++j) {
      double product = 0;
      for (std::size_t c = 0; c < 12; ++c)
        product += static_cast<double>(q[i * 12 + c]) * k[j * 12 + c];
      sum += weight[j] = std::exp(product / std::sqrt(12.0));
    }
    for (std::size_t c = 0; c < 6; ++c) {
      double expected = 0;
      for (std::size_t j = 0; j < weight.size(); ++j) expected += weight[j] / sum * v[j * 6 + c];
      CHECK(y(0, i, c) == Approx(expected).margin(1e-6));
    }
  }
}

}  // namespace

TEST_CASE("glu and scaled_dot_product_attention on the engine") {
  check_engine(gated);
  check_engine(attention<1>);
  check_engine(attention<3>);
  check_engine(causal<1>);
  check_engine(causal<3>);
}

TEST_CASE("the parameters of attention have its name") {
  lamina::model m{causal<3>};
  CHECK(m.parameter<"y.w_0">().shape(0) == 12);  // queries
  CHECK(m.parameter<"y.w_1">().shape(1) == 12);  // keys
  CHECK(m.parameter<"y.w_2">().shape(1) == 6);   // values
  CHECK(m.parameter<"y.b_2">().size() == 6);
  CHECK(m.parameter_arrays() == 6);
}

// What stands behind a query changes nothing, and everything up to it does.
TEST_CASE("causal attention sees what came before") {
  const lamina::model m{causal<3>};
  lamina::evaluator e{m};
  const auto q = numbers(5 * 12, 1), v = numbers(5 * 6, 3);
  const auto k = numbers(5 * 12, 2);
  const auto seen = [&](const std::vector<float>& keys, const std::vector<float>& values) {
    e.forward(lamina::feed<"q">(q), lamina::feed<"k">(keys), lamina::feed<"v">(values));
    const auto y = e.activation<"y">();
    return std::vector<float>(y.begin(), y.end());
  };
  const auto before = seen(k, v);
  for (std::size_t changed = 0; changed < 5; ++changed) {
    auto other_v = v, other_k = k;
    for (std::size_t c = 0; c < 6; ++c) other_v[changed * 6 + c] += 1;
    for (std::size_t c = 0; c < 12; ++c) other_k[changed * 12 + c] += 1;
    const auto by_value = seen(k, other_v), by_key = seen(other_k, v);
    for (std::size_t i = 0; i < 5; ++i) {
      const auto same = [&](const std::vector<float>& after) {
        return std::equal(before.begin() + static_cast<std::ptrdiff_t>(i * 6),
                          before.begin() + static_cast<std::ptrdiff_t>(i * 6 + 6),
                          after.begin() + static_cast<std::ptrdiff_t>(i * 6));
      };
      CHECK(same(by_value) == (changed > i));
      CHECK(same(by_key) == (changed > i || i == 0));  // one key has all the weight
    }
  }
}

TEST_CASE("scaled_dot_product_attention by hand: one head") {
  check_one_head(attention<1>, 7, false);
  check_one_head(causal<1>, 5, true);
}

namespace {

constexpr int queries = 4, keys = 5, width = 6, batch_rows = 3;

/// Lengths, and one kind of mask. Fetches the result and the gradients of all three operands.
template <int Heads, bool Lengths, bool Keys, bool Free, bool Shared>
constexpr auto masked = program([](block& main) {
  auto q = layer::fc<width, 2>(layer::data<"q", float, queries, width>(main), {.bias = false});
  auto k = layer::data<"k", float, keys, width>(main);
  auto v = layer::data<"v", float, keys, width>(main);
  auto lengths = layer::data<"lengths", std::int64_t>(main);
  auto key_mask = layer::data<"key_mask", float, keys>(main);
  auto mask = layer::data<"mask", float, queries, keys>(main);
  const float visible[queries * keys] = {1, 1, 0, 0, 1, 0, 1, 1, 0, 0,
                                         1, 0, 0, 1, 1, 1, 1, 1, 1, 0};
  layer::scaled_dot_product_attention_attr options{.name = "y"};
  if (Lengths) options.lengths = lengths;
  if (Keys) options.mask = key_mask;
  if (Free) options.mask = mask;
  if (Shared) options.mask = layer::assign_value<queries, keys>(main, visible);
  auto y = layer::scaled_dot_product_attention<Heads>(q, k, v, options);
  auto [dk, dv] = layer::gradients(layer::reduce_sum(y * y), k, v);
  return std::tuple{layer::mean(y), layer::assign(y, {.name = "result"}),
                    layer::assign(dk, {.name = "dk"}), layer::assign(dv, {.name = "dv"})};
});

struct mask_values {
  std::vector<std::int64_t> lengths{5, 2, 0};
  std::vector<float> key_mask{1, 0, 1, 1, 1, 1, 1, 0, 1, 0, 0, 1, 0, 0, 0};
  std::vector<float> mask = std::vector<float>(batch_rows * queries * keys, 1);
  mask_values() {
    for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = i % 3 == 1 || i % 7 == 2 ? 0.f : 1.f;
  }
};

template <int Heads, bool Lengths, bool Keys, bool Free, bool Shared>
void check_poison() {
  constexpr auto& net = masked<Heads, Lengths, Keys, Free, Shared>;
  const mask_values m;
  constexpr int visible[] = {1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0};
  const auto shows = [&](std::size_t r, std::size_t i, std::size_t j) {
    return (!Lengths || static_cast<std::int64_t>(j) < m.lengths[r]) &&
           (!Keys || m.key_mask[r * keys + j] != 0) &&
           (!Free || m.mask[(r * queries + i) * keys + j] != 0) &&
           (!Shared || visible[i * keys + j] != 0);
  };
  const auto q = numbers(batch_rows * queries * width, 1),
             k = numbers(batch_rows * keys * width, 2), v = numbers(batch_rows * keys * width, 3);
  lamina::model model{net};
  lamina::evaluator e{model};
  struct results {
    std::vector<float> y, dk, dv;
  };
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(net.view(), scope);
  const auto run = [&](const std::vector<float>& ks, const std::vector<float>& vs, bool engine) {
    if (engine) {
      e.forward(lamina::feed<"q">(q), lamina::feed<"k">(ks), lamina::feed<"v">(vs),
                lamina::feed<"lengths">(m.lengths), lamina::feed<"key_mask">(m.key_mask),
                lamina::feed<"mask">(m.mask));
      const auto copy = [](const auto& a) { return std::vector<float>(a.begin(), a.end()); };
      return results{copy(e.template activation<"result">()), copy(e.template activation<"dk">()),
                     copy(e.template activation<"dv">())};
    }
    const auto shaped = [](const auto& values, std::size_t a, std::size_t b) {
      return lamina::tensor(lamina::tensor_shape{batch_rows, a, b}, values);
    };
    const auto all = executor.run(
        net.view(), scope,
        {{"q", shaped(q, queries, width)},
         {"k", shaped(ks, keys, width)},
         {"v", shaped(vs, keys, width)},
         {"lengths", lamina::tensor(lamina::tensor_shape{batch_rows, 1}, m.lengths)},
         {"key_mask", lamina::tensor(lamina::tensor_shape{batch_rows, keys}, m.key_mask)},
         {"mask", shaped(m.mask, queries, keys)}});
    const auto copy = [](const lamina::tensor& t) {
      const auto a = t.cast<float>();
      return std::vector<float>(a.begin(), a.end());
    };
    return results{copy(all[1]), copy(all[2]), copy(all[3])};
  };
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  for (const bool engine : {true, false}) {
    const results clean = run(k, v, engine);
    for (std::size_t r = 0; r < batch_rows; ++r)
      for (std::size_t j = 0; j < keys; ++j)
        for (const float poison : {nan, infinity, -infinity, 2e9f, 3e38f})
          for (const bool in_key : {true, false}) {
            auto ks = k, vs = v;
            for (std::size_t c = 0; c < width; ++c)
              (in_key ? ks : vs)[(r * keys + j) * width + c] = poison;
            const results found = run(ks, vs, engine);
            CAPTURE(Heads, Lengths, Keys, Free, Shared, engine, r, j, poison, in_key);
            bool seen = false;
            for (std::size_t i = 0; i < queries; ++i) {
              seen = seen || shows(r, i, j);
              if (shows(r, i, j)) continue;
              for (std::size_t c = 0; c < width; ++c)
                CHECK(found.y[(r * queries + i) * width + c] ==
                      clean.y[(r * queries + i) * width + c]);
            }
            // A key that no query sees has no gradient, and changes none.
            for (std::size_t n = 0; !seen && n < found.dk.size(); ++n) {
              const bool own = n / width == r * keys + j;
              CHECK(found.dk[n] == (own ? 0 : clean.dk[n]));
              CHECK(found.dv[n] == (own ? 0 : clean.dv[n]));
            }
          }
    // A query that sees no key.
    for (std::size_t r = 0; r < batch_rows; ++r)
      for (std::size_t i = 0; i < queries; ++i) {
        bool any = false;
        for (std::size_t j = 0; j < keys; ++j) any = any || shows(r, i, j);
        for (std::size_t c = 0; c < width && !any; ++c)
          CHECK(clean.y[(r * queries + i) * width + c] == 0);
      }
  }
}

}  // namespace

TEST_CASE("what a mask hides has no part in attention") {
  check_poison<1, true, false, false, false>();
  check_poison<1, false, false, false, true>();
  check_poison<1, true, true, false, false>();
  check_poison<1, true, false, true, false>();
}

namespace {

// Bias and masks of one head, for which PyTorch's numbers are below.
constexpr auto biased = program([](block& main) {
  auto q = layer::data<"q", float, 3, 2>(main);
  auto k = layer::data<"k", float, 4, 2>(main);
  auto v = layer::data<"v", float, 4, 2>(main);
  auto bias = layer::data<"bias", float, 3, 4>(main);
  auto mask = layer::data<"mask", bool, 3, 4>(main);
  auto y = layer::scaled_dot_product_attention(q, k, v, {.bias = bias});
  auto masked = layer::scaled_dot_product_attention(q, k, v, {.mask = mask});
  auto [dq, dk, dv, db] = layer::gradients(layer::reduce_sum(y * y), q, k, v, bias);
  return std::tuple{layer::mean(y),
                    layer::assign(y, {.name = "y"}),
                    layer::assign(masked, {.name = "masked"}),
                    layer::assign(dq, {.name = "dq"}),
                    layer::assign(dk, {.name = "dk"}),
                    layer::assign(dv, {.name = "dv"}),
                    layer::assign(db, {.name = "db"})};
});

/// The forms of a bias: of all rows and heads, of each row, of each head, of each row and head.
enum class form { all, rows, heads, each };

/// A bias of one form, a mask and causal attention; `plain` has the same in one mask and one bias
/// of each row.
template <int Heads, form Form, bool Causal, bool Mask>
constexpr auto combined = program([](block& main) {
  auto x = layer::data<"x", float, 4, 6>(main);
  auto bias = layer::data<"bias", float, 4, 4>(main);
  auto seen = layer::data<"seen", float, 4, 4>(main);
  auto mask = layer::data<"mask", bool, 4, 4>(main);
  layer::scaled_dot_product_attention_attr options{.causal = Causal, .name = "y"};
  if (Mask) options.mask = mask;
  float values[16];
  for (int i = 0; i < 16; ++i)
    values[i] = i % 5 == 2 ? -std::numeric_limits<float>::infinity() : 0.125f * float(i % 7) - 0.5f;
  const auto once = layer::assign_value<4, 4>(main, values);
  if (Form == form::all) options.bias = once;
  if (Form == form::rows) options.bias = bias;
  if constexpr (Heads > 1) {
    if (Form == form::heads) options.bias = layer::expand<Heads, 1, 1>(layer::unsqueeze<0>(once));
    if (Form == form::each)
      options.bias = layer::expand<1, Heads, 1, 1>(layer::reshape<1, 4, 4>(bias));
  }
  auto y = layer::scaled_dot_product_attention<Heads>(x, x, x, options);
  auto plain = layer::scaled_dot_product_attention<Heads>(
      x, x, x, {.mask = seen, .bias = bias, .name = "y"});
  return std::tuple{layer::mean(y * y), layer::assign(y, {.name = "result"}),
                    layer::assign(plain, {.name = "plain"})};
});

template <int Heads, form Form, bool Causal, bool Mask>
void check_combined() {
  CAPTURE(Heads, static_cast<int>(Form), Causal, Mask);
  const auto x = numbers(2 * 24, 5);
  std::vector<float> bias, seen;
  std::array<bool, 32> mask{};
  for (int r = 0; r < 2; ++r)
    for (int i = 0; i < 16; ++i) {
      const bool hides = i % 5 == 2, masked = (i + r) % 3 == 0;
      bias.push_back(hides ? -std::numeric_limits<float>::infinity()
                           : 0.125f * static_cast<float>(i % 7) - 0.5f);
      mask[seen.size()] = !masked;
      seen.push_back((Causal && i % 4 > i / 4) || (Mask && masked) ? 0.f : 1.f);
    }
  lamina::model m{combined<Heads, Form, Causal, Mask>};
  if constexpr (Heads > 1) {  // the second attention computes with the parameters of the first
    m.template set_parameter<"y.w_3">(m.template parameter<"y.w_0">());
    m.template set_parameter<"y.w_4">(m.template parameter<"y.w_1">());
    m.template set_parameter<"y.w_5">(m.template parameter<"y.w_2">());
  }
  lamina::evaluator e{m};
  e.forward(lamina::feed<"x">(x), lamina::feed<"bias">(bias), lamina::feed<"seen">(seen),
            lamina::feed<"mask">(mask));
  const auto result = e.template activation<"result">(), other = e.template activation<"plain">();
  const std::vector<float> y(result.begin(), result.end()), plain(other.begin(), other.end());
  REQUIRE(y.size() == 48);
  double size = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    CHECK(y[i] == Approx(plain[i]).margin(1e-6));
    size += std::abs(static_cast<double>(y[i]));
  }
  CHECK(size > 1);
}

}  // namespace

TEST_CASE("bias and bool masks of attention have PyTorch's values and gradients") {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> q(6), k(8), v(8), bias(12);
  std::array<bool, 12> mask{};
  for (std::size_t i = 0; i < 8; ++i) {
    const float n = static_cast<float>(i);
    if (i < 6) q[i] = 0.3f * n - 0.8f;
    k[i] = 0.5f - 0.2f * n, v[i] = 0.1f * n * n - 1;
  }
  // The last query sees no key.
  for (std::size_t i = 0; i < 12; ++i) {
    const bool hidden = i == 1 || i == 7 || i > 7;
    bias[i] = hidden ? -infinity : 0.25f * static_cast<float>(i % 5) - 0.3f;
    mask[i] = i % 3 != 1 && i < 8;
  }
  const lamina::model m{biased};
  lamina::evaluator e{m};
  e.forward(lamina::feed<"q">(q), lamina::feed<"k">(k), lamina::feed<"v">(v),
            lamina::feed<"bias">(bias), lamina::feed<"mask">(mask));
  const auto check = [](const auto& view, const std::vector<double>& expected) {
    const std::vector<float> found(view.begin(), view.end());
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK(found[i] == Approx(expected[i]).margin(3e-6));
  };
  // F.scaled_dot_product_attention of PyTorch 2.15, and the gradients of the sum of its squares.
  check(e.activation<"y">(), {1.631403, 2.693318, -0.493611, -0.100121, 0, 0});
  check(e.activation<"masked">(), {1.325752, 2.292211, 0.008485, 0.711313, 0, 0});
  check(e.activation<"dq">(), {-3.072050, -3.072050, 0.204783, 0.204783, 0, 0});
  check(e.activation<"dk">(),
        {1.411238, 0.937936, -0.002992, 0.001496, 1.813976, 1.074457, -3.222224, -2.013890});
  check(e.activation<"dv">(),
        {-0.224020, 0.391269, -0.198903, -0.040344, 0.774613, 1.659271, 1.923895, 3.176198});
  check(e.activation<"db">(),
        {-2.582598, 0, -3.113540, 5.696140, 0.351430, 0.021156, -0.372586, 0, 0, 0, 0, 0});
}

TEST_CASE("masks, causal attention and each form of a bias act together") {
  check_combined<1, form::all, true, false>();
  check_combined<1, form::all, true, true>();
  check_combined<1, form::rows, true, true>();
  check_combined<3, form::all, true, true>();
  check_combined<3, form::rows, false, true>();
  check_combined<3, form::heads, true, false>();
  check_combined<3, form::heads, true, true>();
  check_combined<3, form::each, true, false>();
  check_combined<3, form::each, true, true>();
}

namespace {

/// A trained bias per head, as T5 has it, and one per row.
template <form Form>
constexpr auto trained_bias = program([](block& main) {
  auto x = layer::data<"x", float, 4, 6>(main);
  layer::scaled_dot_product_attention_attr options{.causal = true, .name = "y"};
  if constexpr (Form == form::heads)
    options.bias = layer::create_parameter<float, 2, 4, 4>(main, {.name = "bias"});
  else
    options.bias = layer::fc<4, 2>(x);
  auto y = layer::scaled_dot_product_attention<2>(x, x, x, options);
  return std::tuple{layer::mean(y * y), y};
});

}  // namespace

TEST_CASE("a bias of attention is trained") {
  check_engine(trained_bias<form::heads>);
  check_engine(trained_bias<form::rows>);
}
