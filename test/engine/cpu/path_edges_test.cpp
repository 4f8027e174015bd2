// SPDX-License-Identifier: Apache-2.0
// linear_chain_crf and warpctc with forbidden transitions, tags far apart and labels without a
// path, on the engine and on the executor.
#include <cmath>
#include <limits>
#include <vector>

#include "laws/engine_law.hpp"

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

namespace {

template <class T>
constexpr auto tagger = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", T, 2>(main);
  auto tag = layer::sequence<"tag", std::int64_t>(x);
  auto cost = layer::linear_chain_crf(
      x, tag, {.param = {.name = "crf", .initializer = lamina::init::constant(0)}, .name = "cost"});
  return layer::mean(cost);
});
template <class T>
struct tagged {
  std::vector<T> x;
  std::vector<std::int64_t> tag;
};
constexpr float infinity = std::numeric_limits<float>::infinity();

template <class T>
void check_forbidden() {
  for (const T gap : {T(50), T(100), T(110), T(1000)})
    for (const float forbidden : {-10000.f, -infinity})
      for (const T offset : {T(0), T(1 << 20)}) {
        INFO("a gap of " << gap << ", " << forbidden << ", offset " << offset);
        lamina::model model{tagger<T>};
        auto w = model.template parameter<"crf">();
        w(2, 0) = forbidden;  // from tag 0 to tag 0
        model.template set_parameter<"crf">(w);
        lamina::gradient_machine g{model};
        const T low = offset, high = offset + gap;
        // Two paths are equally good: 0 1 and 1 0.
        CHECK(g.backward(std::vector<tagged<T>>{{{high, low, high, low}, {0, 1}}}) ==
              Approx(std::log(2.)).epsilon(1e-5));
        const auto d = g.template gradient<"crf">();
        CHECK(d(2, 1) == Approx(-0.5).epsilon(1e-4));  // logarithms up to 1000 in float
        CHECK(d(3, 0) == Approx(0.5).epsilon(1e-4));
        CHECK(d(2, 0) == Approx(0).margin(1e-5));
        CHECK(d(0, 0) == Approx(-0.5).epsilon(1e-4));
      }
}

constexpr auto reader = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto scores = layer::fc<3>(x, {.param = {.name = "w", .initializer = lamina::init::constant(0)},
                                 .bias_param = {.name = "b"}});
  auto labels = layer::sequence<"labels", std::int64_t>(main);
  return layer::mean(layer::warpctc(scores, labels, {.name = "cost"}));
});
struct recording {
  std::vector<float> x;
  std::vector<std::int64_t> labels;
};

}  // namespace

// allenai/allennlp#4478
TEST_CASE("CRF: a forbidden transition where one tag leads") {
  check_forbidden<float>();
  check_forbidden<double>();
}
TEST_CASE("CRF: a label without a path costs infinity and has no gradient") {
  lamina::model model{tagger<float>};
  auto w = model.parameter<"crf">();
  w(2, 0) = -infinity;
  model.set_parameter<"crf">(w);
  lamina::gradient_machine g{model};
  CHECK(g.backward(std::vector<tagged<float>>{{{1, 2, 3, 4}, {0, 0}}}) == infinity);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j) CHECK(g.gradient<"crf">()(i, j) == 0);
  // Scores of minus infinity leave no path either, of this label or of any.
  w(2, 0) = 0;
  model.set_parameter<"crf">(w);
  for (const float other : {0.f, -infinity}) {
    CHECK(g.backward(std::vector<tagged<float>>{{{1, 2, -infinity, other}, {0, 0}}}) == infinity);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 2; ++j) CHECK(g.gradient<"crf">()(i, j) == 0);
  }
  // Another sequence beside it keeps its gradient.
  g.backward(std::vector<tagged<float>>{{{1, 2, -infinity, 0}, {0, 0}}, {{0, 0}, {0}}});
  CHECK(g.gradient<"crf">()(0, 0) == Approx(-0.25));
}
TEST_CASE("CRF: both ways of adding paths agree with the executor") {
  constexpr auto& net = tagger<float>;
  for (const float size : {1.f, 14.f, 16.f, 60.f})
    lamina::law::check_engine(net, {.low = -size, .high = size, .limit = 2});
}
// ml-explore/mlx#4188
TEST_CASE("CTC: an offset changes nothing, and a label without a path costs infinity") {
  lamina::model model{reader};
  lamina::gradient_machine g{model};
  const std::vector<recording> sample{{{0, 0, 0, 0, 0, 0, 0, 0, 0}, {1, 2}}};
  auto b = model.parameter<"b">();
  const auto cost_at = [&](float offset) {
    for (int i = 0; i < 3; ++i) b(i) = offset + static_cast<float>(i) / 2;
    model.set_parameter<"b">(b);
    return g.backward(sample);
  };
  const double near = cost_at(0);
  CHECK(near > 0.1);
  CHECK(cost_at(1e6f) == Approx(near).epsilon(1e-5));
  CHECK(cost_at(-1e6f) == Approx(near).epsilon(1e-5));
  for (const int class_without : {1, 2}) {
    cost_at(0);
    b(class_without) = -infinity;
    model.set_parameter<"b">(b);
    CHECK(g.backward(sample) == infinity);
    for (int i = 0; i < 3; ++i) CHECK(g.gradient<"b">()(i) == 0);
  }
  for (int i = 0; i < 3; ++i) b(i) = -infinity;
  model.set_parameter<"b">(b);
  CHECK(g.backward(sample) == infinity);
  for (int i = 0; i < 3; ++i) CHECK(g.gradient<"b">()(i) == 0);
}
