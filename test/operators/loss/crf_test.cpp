// SPDX-License-Identifier: Apache-2.0
// linear_chain_crf and crf_decoding: all paths, extreme scores, gradients, the engine.
#include <cmath>
#include <limits>
#include <vector>

#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/lamina.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::block;
using lamina::lod;
using lamina::lod_tensor;
using lamina::tensor;

using ids = std::vector<std::vector<std::int64_t>>;

namespace {

constexpr std::size_t tags = 3;

constexpr auto tagger = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto label = layer::sequence<"label", std::int64_t>(x);
  auto cost = layer::linear_chain_crf(x, label, {.param = {.name = "crf"}, .name = "cost"});
  static_assert(__is_same(decltype(cost), lamina::variable<float, lamina::batch, 1>));
  return std::tuple{cost, layer::crf_decoding(x, {.param = {.name = "crf"}}),
                    layer::crf_decoding(x, label, {.param = {.name = "crf"}})};
});

constexpr auto of_documents = lamina::program([](block& main) {
  auto x = layer::nested_sequence<"x", float, 3>(main);
  auto label = layer::sequence<"label", std::int64_t>(x);
  auto cost = layer::linear_chain_crf(x, label, {.param = {.name = "crf"}});
  return std::tuple{cost, layer::crf_decoding(x, {.param = {.name = "crf"}})};
});

const std::vector<double> transitions{0.3, -0.5, 0.1, -0.2, 0.7, 0.4,  0.9, -1.2,
                                      0.6, 0.2,  1.1, -0.4, 0,   -0.8, 0.5};

const ids labels{{2, 0, 1, 1}, {}, {1}, {0, 2, 2}};

std::vector<double> emission(std::size_t rows) {
  std::vector<double> x;
  for (std::size_t i = 0; i < rows * tags; ++i)
    x.push_back(lamina::random_uniform_at(5, 1, i, -2.0f, 2.0f));
  return x;
}

lamina::feed_map feed_of(const std::vector<lod::level>& lengths, const ids& label) {
  const lod sequences = lod::from_lengths(lengths);
  return {
      {"x", lod_tensor(tensor({sequences.rows(), tags}, emission(sequences.rows())), sequences)},
      {"label", lod_tensor(lamina::sequences(label), sequences)}};
}

template <class P>
std::vector<lod_tensor> run(P, const lamina::feed_map& feed,
                            const std::vector<std::string>& fetch = {}) {
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  scope.var("crf") = tensor({tags + 2, tags}, transitions);
  return fetch.empty() ? executor.run(P::view(), scope, feed)
                       : executor.run(P::view(), scope, feed, fetch);
}

// The sum over all paths of e^score, the score of one path, and the best path.
struct all_paths {
  double sum = 0, labelled = 0;
  std::vector<std::int64_t> best{};

  all_paths(const double* x, const std::vector<std::int64_t>& label) {
    const std::size_t n = label.size();
    std::size_t count = 1;
    for (std::size_t k = 0; k < n; ++k) count *= tags;
    double most = -1e300;
    for (std::size_t p = 0; p < count; ++p) {
      std::vector<std::int64_t> path;
      for (std::size_t k = 0, rest = p; k < n; ++k, rest /= tags)
        path.push_back(static_cast<std::int64_t>(rest % tags));
      double score = transitions[static_cast<std::size_t>(path[0])] +
                     transitions[tags + static_cast<std::size_t>(path[n - 1])];
      for (std::size_t k = 0; k < n; ++k) {
        const std::size_t j = static_cast<std::size_t>(path[k]);
        score += x[k * tags + j];
        if (k > 0) score += transitions[(2 + static_cast<std::size_t>(path[k - 1])) * tags + j];
      }
      sum += std::exp(score);
      if (path == label) labelled = score;
      if (score > most) most = score, best = path;
    }
  }
};

}  // namespace

TEST_CASE("linear_chain_crf and crf_decoding are what a walk over all paths finds") {
  const lamina::feed_map feed = feed_of({{4, 0, 1, 3}}, labels);
  const auto r = run(tagger, feed);
  const std::vector<double> x = emission(8);
  REQUIRE(r[0].shape() == lamina::tensor_shape{4, 1});
  REQUIRE(r[1].shape() == lamina::tensor_shape{8, 1});
  CHECK(r[1].recursive_sequence_lengths() == std::vector<lod::level>{{4, 0, 1, 3}});
  const auto cost = r[0].cast<double>();
  const auto path = r[1].cast<std::int64_t>(), right = r[2].cast<std::int64_t>();
  CHECK(cost.flat(1) == 0);
  for (std::size_t s = 0, at = 0; s < labels.size(); at += labels[s++].size()) {
    if (labels[s].empty()) continue;
    const all_paths expected(x.data() + at * tags, labels[s]);
    CHECK(cost.flat(s) == Approx(std::log(expected.sum) - expected.labelled).epsilon(1e-12));
    for (std::size_t k = 0; k < labels[s].size(); ++k) {
      CHECK(path.flat(at + k) == expected.best[k]);
      CHECK(right.flat(at + k) == (expected.best[k] == labels[s][k] ? 1 : 0));
    }
  }
}

TEST_CASE("linear_chain_crf: forward variables of a row have the sum 1, exponentials as Fluid's") {
  const auto r =
      run(tagger, feed_of({{4, 0, 1, 3}}, labels), {"cost.tmp_0", "cost.tmp_1", "cost.tmp_2"});
  const auto alpha = r[0].cast<double>(), x = r[1].cast<double>(), w = r[2].cast<double>();
  const std::vector<double> in = emission(8);
  for (std::size_t k = 0; k < 8; ++k) {
    double sum = 0, most = -9;
    for (std::size_t j = 0; j < tags; ++j) sum += alpha.flat(k * tags + j);
    for (std::size_t j = 0; j < tags; ++j) most = std::max(most, in[k * tags + j]);
    CHECK(sum == Approx(1));
    for (std::size_t j = 0; j < tags; ++j)
      CHECK(x.flat(k * tags + j) == Approx(std::exp(in[k * tags + j] - most)));
  }
  for (std::size_t i = 0; i < transitions.size(); ++i)
    CHECK(w.flat(i) == Approx(std::exp(transitions[i])));
  // Of a sequence of one row: e^(start + x), scaled.
  double all = 0;
  for (std::size_t j = 0; j < tags; ++j) all += std::exp(transitions[j] + in[4 * tags + j]);
  CHECK(alpha.flat(4 * tags) == Approx(std::exp(transitions[0] + in[4 * tags]) / all));
}

TEST_CASE("linear_chain_crf of scores far beyond the range of e^x") {
  lamina::feed_map feed = feed_of({{2}}, {{0, 1}});
  feed["x"] = lod_tensor(tensor({2, tags}, std::vector<double>{2000, 0, -2000, 0, 3000, 1}),
                         lod::from_lengths({{2}}));
  CHECK(run(tagger, feed)[0].as<double>().flat(0) == Approx(0).margin(1e-9));
}

TEST_CASE("gradient: linear_chain_crf, over one level and two, with empty sequences") {
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::sequence<"x", float, 3>(main);
                          auto label = layer::sequence<"label", std::int64_t>(x);
                          auto w = layer::data<"w", float, 1>(main);
                          auto scores = layer::fc<3>(layer::tanh(x));
                          return layer::mean(layer::linear_chain_crf(scores, label) * w) +
                                 layer::mean(layer::linear_chain_crf(x, label));
                        }),
                        {{"label", lamina::sequences(labels)}},
                        {.rows = 4, .lengths = {{4, 0, 1, 3}}});
  const std::vector<lod::level> lengths{{2, 0, 1}, {3, 0, 2}};
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::nested_sequence<"x", float, 3>(main);
                          auto label = layer::sequence<"label", std::int64_t>(x);
                          auto cost = layer::linear_chain_crf(x, label);
                          return layer::mean(layer::sequence_pool(layer::square(cost)));
                        }),
                        {{"label", lod_tensor(lamina::sequences(ids{{2, 0, 1}, {1, 1}}),
                                              lod::from_lengths(lengths))}},
                        {.lengths = lengths});
}

TEST_CASE("each sample alone has its cost and its path") {
  laws::check_each_sample_alone(tagger, feed_of({{4, 0, 1, 3}}, labels));
  laws::check_each_sample_alone(of_documents, feed_of({{2, 0, 1}, {3, 0, 2}}, {{2, 0, 1}, {1, 1}}));
  const auto none = run(tagger, feed_of({{0, 0}}, {{}, {}}));
  CHECK(none[0].as<double>().flat(1) == 0);
  CHECK(none[1].shape() == lamina::tensor_shape{0, 1});
}

TEST_CASE("a label that is no tag is refused") {
  for (const std::int64_t wrong : {-1, 3})
    CHECK_THROWS_WITH(run(tagger, feed_of({{2}}, {{0, wrong}})),
                      Contains("layer cost") &&
                          Contains("from 0 to 2 in feed 'label', found " + std::to_string(wrong)));
}

namespace {

template <int Tags>
constexpr auto tagger_on_engine = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 7>(main);
  auto label = layer::sequence<"label", std::int64_t>(x);
  auto scores = layer::fc<Tags>(x);
  auto cost = layer::linear_chain_crf(scores, label, {.param = {.name = "crf"}});
  return std::tuple{layer::mean(layer::square(cost)), cost,
                    layer::crf_decoding(scores, {.param = {.name = "crf"}}),
                    layer::crf_decoding(scores, label, {.param = {.name = "crf"}})};
});

constexpr auto nested = lamina::program([](lamina::block& main) {
  auto x = layer::nested_sequence<"x", float, 5>(main);
  auto label = layer::sequence<"label", std::int64_t>(x);
  auto cost = layer::sequence_pool(layer::linear_chain_crf(x, label));
  return std::tuple{layer::mean(cost), cost};
});

}  // namespace

TEST_CASE("linear_chain_crf and crf_decoding") {
  lamina::law::check_engine(tagger_on_engine<3>, {.limit = 3});
  lamina::law::check_engine(tagger_on_engine<17>, {.low = -2, .high = 2, .limit = 17});
  lamina::law::check_engine(nested, {.limit = 5});
}

namespace {

template <class T>
constexpr auto tagger_at_edges = lamina::program([](lamina::block& main) {
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
        lamina::model model{tagger_at_edges<T>};
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

}  // namespace

// allenai/allennlp#4478
TEST_CASE("CRF: a forbidden transition where one tag leads") {
  check_forbidden<float>();
  check_forbidden<double>();
}

TEST_CASE("CRF: a label without a path costs infinity and has no gradient") {
  lamina::model model{tagger_at_edges<float>};
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
  constexpr auto& net = tagger_at_edges<float>;
  for (const float size : {1.f, 14.f, 16.f, 60.f})
    lamina::law::check_engine(net, {.low = -size, .high = size, .limit = 2});
}
