// SPDX-License-Identifier: Apache-2.0
// warpctc, ctc_align and ctc_greedy_decoder: all paths, extreme scores, gradients, the engine.
#include <cmath>
#include <limits>
#include <vector>

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/lamina.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using executed::values_of;
using lamina::block;
using lamina::lod;
using lamina::lod_tensor;
using lamina::tensor;

using numbers = std::vector<double>;

using ids = std::vector<std::vector<std::int64_t>>;

namespace {

template <int Blank>
constexpr auto costs = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto label = layer::sequence<"label", std::int64_t>(main);
  return layer::warpctc(x, label, {.blank = Blank});
});

template <bool Divides>
constexpr auto mean_cost = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto label = layer::sequence<"label", std::int64_t>(main);
  return layer::mean(layer::warpctc(x, label, {.norm_by_times = Divides}));
});

constexpr auto of_documents = lamina::program([](block& main) {
  auto x = layer::nested_sequence<"x", float, 3>(main);
  auto label = layer::ctc_align<"label">(std::get<1>(layer::topk<1>(x)));
  auto cost = layer::warpctc(x, label);
  using sentences = lamina::nested_tokens<"x">::parent;
  static_assert(__is_same(decltype(cost), lamina::variable<float, sentences, 1>));
  return cost;
});

constexpr auto aligned = lamina::program([](block& main) {
  auto x = layer::sequence<"x", std::int64_t>(main);
  auto y = layer::ctc_align<"labels">(x);
  static_assert(__is_same(decltype(y)::rows_type, lamina::tokens<"labels">));
  return std::tuple{y, layer::ctc_align<"other">(x, {.blank = 2}),
                    layer::ctc_align<"all">(x, {.merge_repeated = false})};
});

constexpr auto decoded = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  return std::tuple{layer::ctc_greedy_decoder<"a">(x),
                    layer::ctc_greedy_decoder<"b">(x, {.blank = 1})};
});

std::vector<double> logits(std::size_t rows) {
  std::vector<double> x;
  for (std::size_t i = 0; i < rows * 3; ++i)
    x.push_back(lamina::random_uniform_at(3, 1, i, -2.0f, 2.0f));
  return x;
}

lamina::feed_map feed_of(const lod::level& lengths, const ids& label) {
  const lod rows = lod::from_lengths({lengths});
  return {{"x", lod_tensor(tensor({rows.rows(), 3}, logits(rows.rows())), rows)},
          {"label", lamina::sequences(label)}};
}

template <class P>
std::vector<lod_tensor> returned_by(P, const lamina::feed_map& feed) {
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  return executor.run(P::view(), scope, feed);
}

// -log of the sum over all 3^n paths that collapse to `label`.
double by_all_paths(const double* x, std::size_t n, const std::vector<std::int64_t>& label,
                    std::int64_t blank) {
  std::size_t count = 1;
  for (std::size_t t = 0; t < n; ++t) count *= 3;
  double sum = 0;
  for (std::size_t path = 0; path < count; ++path) {
    double product = 1;
    std::vector<std::int64_t> collapsed;
    std::int64_t before = -1;
    for (std::size_t t = 0, rest = path; t < n; ++t, rest /= 3) {
      const std::int64_t k = static_cast<std::int64_t>(rest % 3);
      double all = 0;
      for (std::size_t c = 0; c < 3; ++c) all += std::exp(x[t * 3 + c]);
      product *= std::exp(x[t * 3 + rest % 3]) / all;
      if (k != before && k != blank) collapsed.push_back(k);
      before = k;
    }
    if (collapsed == label) sum += product;
  }
  return -std::log(sum);
}

}  // namespace

TEST_CASE("warpctc is what a walk over all paths finds") {
  const lod::level lengths{5, 3, 0, 1, 4, 6, 2};
  std::size_t rows = 0;
  for (const std::size_t n : lengths) rows += n;
  const std::vector<double> x = logits(rows);
  const auto check = [&](auto program, const ids& label, std::int64_t blank) {
    const auto r = returned_by(program, feed_of(lengths, label));
    REQUIRE(r[0].shape() == lamina::tensor_shape{lengths.size(), 1});
    CHECK(r[0].lod().empty());
    for (std::size_t s = 0, at = 0; s < lengths.size(); at += lengths[s++]) {
      INFO("sequence " << s << ", blank " << blank);
      const double expected = by_all_paths(x.data() + at * 3, lengths[s], label[s], blank);
      CHECK(values_of(r[0])[s] == Approx(expected).epsilon(1e-10).margin(1e-12));
    }
  };
  // Repeated labels, an empty one, one as long as its rows allow.
  check(costs<0>, {{1, 2}, {1, 1}, {}, {2}, {}, {1, 1, 2, 1}, {2, 1}}, 0);
  check(costs<2>, {{0, 1, 0}, {1}, {}, {}, {0, 0}, {1, 0, 0}, {0, 1}}, 2);
}

TEST_CASE("warpctc of scores far beyond the range of e^x") {
  lamina::feed_map feed = feed_of({2}, {{1}});
  feed["x"] =
      lod_tensor(tensor({2, 3}, numbers{0, 3000, 10, 2000, 0, 0}), lod::from_lengths({{2}}));
  CHECK(returned_by(costs<0>, feed)[0].as<double>().flat(0) == Approx(0).margin(1e-9));
}

TEST_CASE("gradient: warpctc, with repeated labels and empty sequences, over two levels") {
  const ids label{{1, 1}, {}, {2, 1}, {}};
  laws::check_gradients(
      lamina::program([](block& main) {
        auto x = layer::sequence<"x", float, 3>(main);
        auto label = layer::sequence<"label", std::int64_t>(main);
        auto w = layer::data<"w", float, 1>(main);
        auto cost = layer::warpctc(layer::fc<4>(layer::tanh(x)), label);
        return layer::mean(cost * w) + layer::mean(layer::square(layer::warpctc(x, label)));
      }),
      {{"label", lamina::sequences(label)}}, {.rows = 4, .lengths = {{4, 0, 3, 2}}});
  const std::vector<lod::level> lengths{{2, 0, 1}, {3, 0, 2}};
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::nested_sequence<"x", float, 3>(main);
                          auto tags = layer::sequence<"tags", std::int64_t>(x);
                          auto label = layer::sequence_erase<"label">(tags, {0});
                          auto y = layer::sequence_pool(layer::warpctc(x, label));
                          return layer::mean(layer::square(y));
                        }),
                        {{"tags", lod_tensor(lamina::sequences(ids{{1, 0, 1}, {}, {0, 2}}),
                                             lod::from_lengths(lengths))}},
                        {.lengths = lengths});
}

TEST_CASE("norm_by_times divides the gradient by the rows of its sequence, not the cost") {
  const lod::level lengths{5, 0, 2};
  const lamina::feed_map feed = feed_of(lengths, {{1, 2}, {}, {1}});
  const auto gradient = [&](auto program) {
    constexpr auto backward = decltype(lamina::transform::append_backward_to_data(program)){};
    lamina::basic_executor<double> executor;
    lamina::scope scope;
    return values_of(executor.run(backward.view(), scope, feed, {"x@GRAD"})[0]);
  };
  const numbers plain = gradient(mean_cost<false>), divided = gradient(mean_cost<true>);
  CHECK(values_of(returned_by(mean_cost<false>, feed)[0]) ==
        values_of(returned_by(mean_cost<true>, feed)[0]));
  for (std::size_t i = 0; i < plain.size(); ++i) {
    CHECK(plain[i] != 0);
    CHECK(divided[i] == Approx(plain[i] / (i < 15 ? 5 : 2)));
  }
}

TEST_CASE("ctc_align by hand: repeats are merged before blanks are dropped") {
  const auto r =
      returned_by(aligned, {{"x", lamina::sequences(ids{{0, 1, 1, 0, 1, 2}, {}, {0, 0}, {2, 2}})}});
  CHECK(values_of(r[0]) == numbers{1, 1, 2, 2});
  CHECK(r[0].recursive_sequence_lengths() == std::vector<lod::level>{{3, 0, 0, 1}});
  CHECK(r[0].type() == lamina::dtype::int64);
  CHECK(values_of(r[1]) == numbers{0, 1, 0, 1, 0});
  CHECK(values_of(r[2]) == numbers{1, 1, 1, 2, 2, 2});
}

TEST_CASE("ctc_greedy_decoder takes the most likely class of each row") {
  using row = std::array<float, 3>;
  const auto r =
      returned_by(decoded, {{"x", lamina::sequences<row>({{row{.1f, .6f, .3f}, row{.2f, .5f, .3f},
                                                           row{.8f, .1f, .1f}, row{0, .2f, .8f}},
                                                          {},
                                                          {row{.5f, .4f, .1f}}})}});
  CHECK(values_of(r[0]) == numbers{1, 2});
  CHECK(r[0].recursive_sequence_lengths() == std::vector<lod::level>{{2, 0, 0}});
  CHECK(values_of(r[1]) == numbers{0, 2, 0});
}

TEST_CASE("each sample alone has its cost and its labels") {
  laws::check_each_sample_alone(costs<0>, feed_of({5, 0, 3}, {{1, 2}, {}, {1, 1}}));
  laws::check_each_sample_alone(aligned,
                                {{"x", lamina::sequences(ids{{0, 1, 1, 0}, {}, {1}, {0, 0}})}});
  const std::vector<lod::level> lengths{{2, 0, 1}, {3, 0, 4}};
  laws::check_each_sample_alone(
      of_documents, {{"x", lod_tensor(tensor({7, 3}, logits(7)), lod::from_lengths(lengths))}});
  CHECK(returned_by(costs<0>, feed_of({}, {}))[0].shape() == lamina::tensor_shape{0, 1});
}

TEST_CASE("labels without a path, the blank among them, and classes that do not exist") {
  CHECK_THROWS_WITH(returned_by(costs<0>, feed_of({4, 2}, {{1}, {1, 1}})),
                    Contains("layer warpctc_0") && Contains("at least 3 rows in sequence 1") &&
                        Contains("found 2"));
  CHECK_THROWS_WITH(returned_by(costs<1>, feed_of({4}, {{0, 1}})),
                    Contains("other than the blank 1"));
  CHECK_THROWS_WITH(returned_by(costs<0>, feed_of({4}, {{3}})),
                    Contains("from 0 to 2 in feed 'label'"));
  CHECK_THROWS_WITH(returned_by(costs<3>, feed_of({4}, {{0}})),
                    Contains("blank from 0 to 2, found 3"));
}

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

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

namespace {

template <bool ByTimes>
constexpr auto labels = lamina::program([](block& main) {
  auto label = layer::sequence<"label", std::int64_t>(main);
  auto x = layer::sequence<"x", float, 3>(label);
  auto h = layer::fc<5>(x);
  auto score =
      layer::sequence_concat<"score">(std::tuple{h, layer::tanh(h), layer::scale(h, -2.0f)});
  auto loss = layer::warpctc(score, label, {.blank = 4, .norm_by_times = ByTimes});
  return std::tuple{layer::mean(loss), loss};
});

}  // namespace

TEST_CASE("warpctc") {
  lamina::law::check_engine(labels<false>, {.limit = 4});
  lamina::law::check_engine(labels<true>, {.low = -4, .high = 4, .limit = 4});
}
