// SPDX-License-Identifier: Apache-2.0
// Attention of several heads: values by hand, and the engine; glu.
#include <algorithm>
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
