// SPDX-License-Identifier: Apache-2.0
// Operators that work on whole rows on the compiled engine: softmax, norms, costs, metrics.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;
using lamina::law::engine_law_options;

namespace {

template <int W>
constexpr auto softmaxes = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  auto maps = layer::data<"maps", float, 3, W, 2>(main);
  auto a = layer::softmax(x * 3.0);
  auto b = layer::softmax(maps);
  auto c = layer::softmax<1>(maps);
  auto d = layer::softmax<2>(maps);
  auto cost = layer::mean(a * a) + layer::mean(b * b) + layer::mean(c * c) + layer::mean(d * d);
  return std::tuple{cost, a, b, c, d};
});

template <int W>
constexpr auto cross_entropies = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  auto soft = layer::data<"soft", float, W>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto many = layer::data<"many", float, 3, W>(main);
  auto labels = layer::data<"labels", std::int64_t, 3, 1>(main);
  auto a = layer::cross_entropy(x, label, {.ignore_index = 1});
  auto b = layer::cross_entropy(x, soft);
  auto c = layer::cross_entropy(many, labels);
  auto d = layer::softmax_with_cross_entropy(x, label, {.ignore_index = 0});
  auto e = layer::softmax_with_cross_entropy(x, soft);
  auto f = layer::softmax_with_cross_entropy(many, labels);
  auto g = layer::bpr_loss(x, label);
  auto cost = layer::mean(a * a) + layer::mean(b * b) + layer::mean(c * c) + layer::mean(d * d) +
              layer::mean(e * e) + layer::mean(f * f) + layer::mean(g * g);
  return std::tuple{cost, a, b, c, d, e, f, g};
});

template <int W>
constexpr auto distances = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  auto y = layer::data<"y", float, W>(main);
  auto inside = layer::data<"inside", float, W>(main);
  auto outside = layer::data<"outside", float, W>(main);
  auto one = layer::fill_constant<float, 1, W>(main, 0.25);
  auto a = layer::smooth_l1(x, y);
  auto b = layer::smooth_l1(x, y, inside, outside, {.sigma = 2.0f});
  auto c = layer::cos_sim(x, y);
  auto d = layer::cos_sim(x, one);
  auto e = layer::kldiv_loss(x, y);
  auto f = layer::label_smooth(x, {.epsilon = 0.2f});
  auto g = layer::sigmoid_cross_entropy_with_logits(x, y);
  auto cost = layer::mean(a * a) + layer::mean(b * b) + layer::mean(c * c) + layer::mean(d * d) +
              e + layer::mean(f * f) + layer::mean(g * g);
  return std::tuple{cost, a, b, c, d, e, f, g};
});

template <int W>
constexpr auto norms = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  auto maps = layer::data<"maps", float, 3, W>(main);
  auto a = layer::layer_norm(x);
  auto b = layer::layer_norm<2>(maps);
  auto c = layer::layer_norm(maps, {.scale = false});
  auto d = layer::layer_norm<2>(maps, {.shift = false});
  auto e = layer::l2_normalize(x, {.epsilon = 1e-4f});
  auto f = layer::l2_normalize<1>(maps, {.epsilon = 1e-4f});
  auto cost = layer::mean(a * x) + layer::mean(b * b * b) + layer::mean(c * maps) +
              layer::mean(d * d * maps) + layer::mean(e * x) + layer::mean(f * f * f);
  return std::tuple{cost, a, b, c, d, e, f};
});

template <int W>
constexpr auto whole_norm = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  return std::tuple{layer::mean(x), layer::clip_by_norm(x, 0.5f), layer::clip_by_norm(x, 1e6f)};
});

template <int W>
constexpr auto activations = program([](block& main) {
  auto x = layer::data<"x", float, 4, W>(main);
  auto a = layer::prelu(x, {.mode = layer::prelu_mode::all});
  auto b = layer::prelu(x, {.mode = layer::prelu_mode::element});
  auto c = layer::maxout<2>(x);
  return std::tuple{layer::mean(a * a) + layer::mean(b * b) + layer::mean(c * c), a, b, c};
});

constexpr auto channel_slopes = program([](block& main) {
  auto x = layer::data<"x", float, 3, 5, 2>(main);
  auto a = layer::prelu(x, {.mode = layer::prelu_mode::channel});
  auto c = layer::maxout<3>(x);
  return std::tuple{layer::mean(a * a) + layer::mean(c * c), a, c};
});

template <int W>
constexpr auto largest = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  auto many = layer::data<"many", float, 3, W>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto [values, indices] = layer::topk<3>(x);
  auto [more, at] = layer::topk<W>(many);
  auto part = layer::accuracy<2>(x, label);
  auto hot = layer::one_hot<W>(label);
  auto cost = layer::mean(values * values) + layer::mean(more * more * more);
  return std::tuple{cost, values, indices, more, at, part, hot};
});

constexpr auto area = program([](block& main) {
  auto p = layer::data<"p", float, 2>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  return std::tuple{layer::mean(p), layer::auc(p, label, {.num_thresholds = 50})};
});

}  // namespace

TEST_CASE("softmax on the engine is that of the executor") {
  check_engine(softmaxes<1>);
  check_engine(softmaxes<5>);
  check_engine(softmaxes<33>);
}

TEST_CASE("cross entropies on the engine are those of the executor") {
  const engine_law_options o{.low = 0.1f, .limit = 3};
  check_engine(cross_entropies<3>, o);
  check_engine(cross_entropies<5>, o);
  check_engine(cross_entropies<33>, o);
}

TEST_CASE("distances on the engine are those of the executor") {
  const engine_law_options o{.low = 0.1f};
  check_engine(distances<1>, o);
  check_engine(distances<5>, o);
  check_engine(distances<33>, o);
}

TEST_CASE("norms on the engine are those of the executor") {
  engine_law_options o;
  o.tolerance = 1e-4;
  check_engine(norms<5>, o);
  check_engine(norms<16>, o);
  check_engine(norms<33>, o);
}

TEST_CASE("clip_by_norm on the engine is that of the executor") {
  engine_law_options o;
  o.rows_are_alone = false;
  check_engine(whole_norm<5>, o);
  check_engine(whole_norm<33>, o);
}

TEST_CASE("prelu and maxout on the engine are those of the executor") {
  check_engine(activations<1>);
  check_engine(activations<5>);
  check_engine(activations<16>);
  check_engine(channel_slopes);
}

TEST_CASE("top_k, accuracy and one_hot on the engine are those of the executor") {
  const engine_law_options o{.limit = 5};
  check_engine(largest<5>, o);
  check_engine(largest<33>, o);
}

TEST_CASE("auc on the engine counts as the executor does") { check_engine(area, {.low = 0}); }
