// SPDX-License-Identifier: Apache-2.0
// Evaluators: partial feeds, activations as views, tests over readers, errors at run time.
#include "model/samples.hpp"

#include <lamina/model/evaluator.hpp>
#include <lamina/reader/reader.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::fc<17>(x, {.act = lamina::activation::relu, .name = "hidden"});
  auto logits = layer::fc<3>(hidden, {.name = "output"});
  layer::softmax(logits, {.name = "probability"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

// x w + b with ordinary loops.
std::vector<double> affine(const std::vector<double>& x, const lamina::array<float>& w,
                           const lamina::array<float>& b) {
  std::vector<double> y(b.size());
  for (std::size_t j = 0; j < y.size(); ++j) {
    y[j] = static_cast<double>(b(j));
    for (std::size_t i = 0; i < x.size(); ++i) y[j] += x[i] * static_cast<double>(w(i, j));
  }
  return y;
}
struct expected_values {
  std::vector<double> hidden, output, probability;
};
template <class M>
expected_values expected_of(const M& m, const test::sample& s) {
  expected_values v;
  v.hidden = affine({s.x.begin(), s.x.end()}, m.template parameter<"hidden.w_0">(),
                    m.template parameter<"hidden.b_0">());
  for (double& h : v.hidden) h = std::max(h, 0.0);
  v.output =
      affine(v.hidden, m.template parameter<"output.w_0">(), m.template parameter<"output.b_0">());
  double sum = 0;
  for (const double o : v.output) sum += std::exp(o);
  for (const double o : v.output) v.probability.push_back(std::exp(o) / sum);
  return v;
}

std::vector<std::array<float, 6>> images(const std::vector<test::sample>& samples) {
  std::vector<std::array<float, 6>> all;
  for (const auto& s : samples) all.push_back(s.x);
  return all;
}
std::vector<std::int64_t> labels(const std::vector<test::sample>& samples) {
  std::vector<std::int64_t> all;
  for (const auto& s : samples) all.push_back(s.label);
  return all;
}

}  // namespace

TEST_CASE("forward without the label computes what depends on the input alone") {
  lamina::model m{net, 3};
  lamina::evaluator e{m};
  // More rows, fewer, more: views follow.
  for (const int rows : {1, 5, 2, 33, 4}) {
    const auto samples = test::samples(rows);
    const auto x = images(samples);
    e.forward(lamina::feed<"x">(x));
    const auto hidden = e.activation<"hidden">();
    const auto output = e.activation<"output">();
    const auto probability = e.activation<"probability">();
    REQUIRE(hidden.dimension() == 2);
    REQUIRE(hidden.shape()[0] == static_cast<std::size_t>(rows));
    REQUIRE(hidden.shape()[1] == 17);
    REQUIRE(output.shape()[1] == 3);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const expected_values want = expected_of(m, samples[i]);
      for (std::size_t j = 0; j < 17; ++j)
        CHECK(hidden(i, j) == Approx(want.hidden[j]).margin(1e-5));
      for (std::size_t j = 0; j < 3; ++j) {
        CHECK(output(i, j) == Approx(want.output[j]).margin(1e-5));
        CHECK(probability(i, j) == Approx(want.probability[j]).margin(1e-5));
      }
    }
  }
}

TEST_CASE("what depends on data that were not fed has no value, not that of before") {
  lamina::model m{net, 3};
  lamina::evaluator e{m};
  const auto samples = test::samples(4);
  const auto x = images(samples);
  const auto label = labels(samples);
  CHECK_THAT(test::error_of([&] { e.activation<"output">(); }),
             Contains("activation output") && Contains("expected a feed of x"));
  e.forward(lamina::feed<"x">(x), lamina::feed<"label">(label));
  CHECK(e.cost() > 0);
  e.forward(lamina::feed<"x">(x));
  CHECK(e.activation<"output">().shape(0) == 4);
  CHECK_THAT(test::error_of([&] { e.cost(); }),
             Contains("mean_0") && Contains("expected a feed of label") && Contains("found none"));
  CHECK_THAT(test::error_of([&] { e.activation<"accuracy">(); }), Contains("a feed of label"));
  const double cost = e.test(samples | lamina::reader::batch(4)).cost;
  CHECK(cost == Approx(e.cost()));
}

TEST_CASE("after a mini-batch that failed nothing has a value, not that of before") {
  const lamina::model m{net, 3};
  lamina::evaluator e{m};
  auto samples = test::samples(4);
  e.forward(lamina::feed<"x">(images(samples)), lamina::feed<"label">(labels(samples)));
  CHECK_NOTHROW(e.cost());
  samples[2].label = 3;
  CHECK_THROWS_AS(e.test(samples | lamina::reader::batch(2)), lamina::error);
  CHECK_THROWS_WITH(e.cost(), Contains("expected a feed of x"));
  CHECK_THROWS_WITH(e.activation<"output">(), Contains("expected a feed of x"));
}

TEST_CASE("a batch of one equals a row of a batch") {
  lamina::model m{net, 3};
  lamina::evaluator e{m};
  const auto x = images(test::samples(20));
  e.forward(lamina::feed<"x">(x));
  const lamina::array<float> all = e.activation<"output">();
  for (std::size_t i = 0; i < x.size(); ++i) {
    e.forward(lamina::feed<"x">(x[i]));
    for (std::size_t j = 0; j < 3; ++j)
      CHECK(e.activation<"output">()(0, j) == Approx(all(i, j)).margin(1e-6));
  }
}

TEST_CASE("run after run an evaluator has the same bits") {
  static constexpr auto wide = lamina::program([](lamina::block& main) {
    return layer::fc<500>(layer::data<"x", float, 6>(main), {.name = "y"});
  });
  const lamina::model m{wide, 3};
  lamina::evaluator e{m};
  for (const int rows : {1, 20}) {
    const auto x = images(test::samples(rows));
    e.forward(lamina::feed<"x">(x));
    const lamina::array<float> first = e.activation<"y">();
    for (int i = 0; i < 2; ++i) {
      e.forward(lamina::feed<"x">(x));
      const lamina::array<float> again = e.activation<"y">();
      CHECK(std::equal(first.begin(), first.end(), again.begin()));
    }
  }
}

TEST_CASE("numbers in braces and single numbers are fed as containers are") {
  lamina::model m{net, 3};
  lamina::evaluator e{m};
  const std::vector<float> x{0.5f, 1, -1, 0.25f, 0, 2};
  const std::vector<std::int64_t> label{2};
  e.forward(lamina::feed<"x">(x), lamina::feed<"label">(label));
  const float cost = e.cost();
  e.forward(lamina::feed<"x">({0.5f, 1.f, -1.f, 0.25f, 0.f, 2.f}),
            lamina::feed<"label">(std::int64_t{2}));
  CHECK(e.cost() == cost);
  CHECK(e.activation<"output">().shape(0) == 1);
  const float rows[2][6] = {{0.5f, 1, -1, 0.25f, 0, 2}, {1, 1, 1, 1, 1, 1}};
  e.forward(lamina::feed<"x">(rows[0], 12), lamina::feed<"label">({2L, 2L}));
  CHECK(e.activation<"output">().shape(0) == 2);
}

namespace {
struct numbered {};
struct derived_sample : numbered {
  std::array<float, 6> x;
  std::int64_t label;
};
struct constructed_sample {
  explicit constructed_sample(const test::sample& s) : x(s.x), label(s.label) {}
  std::array<float, 6> x;
  std::int64_t label;
};
template <class S>
std::vector<S> samples_as(const std::vector<test::sample>& from) {
  std::vector<S> all;
  for (const test::sample& s : from)
    if constexpr (std::is_aggregate_v<S>)
      all.push_back({{}, s.x, s.label});
    else
      all.push_back(S(s));
  return all;
}
static_assert(lamina::detail::fields_of<2, test::sample>() == 2);
static_assert(lamina::detail::fields_of<1, test::sample>() == 2);
static_assert(lamina::detail::fields_of<3, test::sample>() == 2);
static_assert(lamina::detail::fields_of<2, std::array<float, 2>>() == 2);
static_assert(lamina::detail::fields_of<1, std::array<float, 2>>() == 1);
static_assert(lamina::detail::fields_of<3, std::vector<float>>() == 1);

template <class... Field>
constexpr bool fed_by = lamina::detail::field_check<std::remove_const_t<decltype(net)>,
                                                    std::vector<std::tuple<Field...>>, true>::ok;
static_assert(fed_by<std::array<float, 6>, std::int64_t>);
static_assert(fed_by<std::array<unsigned char, 6>, unsigned char>);
static_assert(fed_by<std::vector<double>, std::array<int, 1>>);
static_assert(fed_by<std::span<const float>, bool>);
static_assert(!fed_by<std::array<float, 7>, std::int64_t>);
static_assert(!fed_by<float, std::int64_t>);
static_assert(!fed_by<std::vector<float>, float>);
static_assert(!fed_by<std::vector<float>, std::vector<double>>);
static_assert(!fed_by<std::int64_t, std::array<float, 6>>);
}  // namespace

TEST_CASE("samples with a base or a constructor are taken apart too") {
  lamina::model m{net, 3};
  lamina::evaluator e{m};
  const auto samples = test::samples(5);
  const double cost = e.test(samples | lamina::reader::batch(5)).cost;
  CHECK(e.test(samples_as<derived_sample>(samples) | lamina::reader::batch(5)).cost == cost);
  CHECK(e.test(samples_as<constructed_sample>(samples) | lamina::reader::batch(5)).cost == cost);
}

TEST_CASE("with all data the cost and the metrics are there, and test() is their mean") {
  lamina::model m{net, 3};
  lamina::evaluator e{m};
  const auto samples = test::samples(50);
  const auto x = images(samples);
  const auto y = labels(samples);
  double cost = 0, right = 0;
  for (const test::sample& s : samples) {
    const expected_values want = expected_of(m, s);
    cost -= std::log(want.probability[static_cast<std::size_t>(s.label)]) / 50;
    const auto best = std::max_element(want.output.begin(), want.output.end());
    right += (best - want.output.begin() == s.label) / 50.0;
  }
  e.forward(lamina::feed<"x">(x), lamina::feed<"label">(y));
  CHECK(e.cost() == Approx(cost).epsilon(1e-5));
  CHECK(e.activation<"accuracy">()(0) == Approx(right));

  // 50 = 16 + 16 + 16 + 2: the mean is over samples, not over mini-batches.
  const auto result = e.test(samples | lamina::reader::batch(16));
  CHECK(result.samples == 50);
  CHECK(result.cost == Approx(cost).epsilon(1e-5));
  CHECK(result.metric("accuracy") == Approx(right));
  CHECK(result.metrics.size() == 1);
  CHECK_THAT(test::error_of([&] { result.metric("recall"); }),
             Contains("found 'recall'; the program has: accuracy"));
}

TEST_CASE("samples may be aggregates or tuples, their fields arrays, vectors or numbers") {
  lamina::model m{net, 3};
  lamina::evaluator e{m};
  const auto samples = test::samples(10);
  std::vector<std::tuple<std::vector<double>, int>> tuples;
  for (const auto& s : samples)
    tuples.emplace_back(std::vector<double>(s.x.begin(), s.x.end()), static_cast<int>(s.label));
  struct plain {
    float x[6];
    std::int64_t label;
  };
  std::vector<plain> arrays(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::copy(samples[i].x.begin(), samples[i].x.end(), arrays[i].x);
    arrays[i].label = samples[i].label;
  }
  const double cost = e.test(samples | lamina::reader::batch(4)).cost;
  CHECK(cost == e.test(tuples | lamina::reader::batch(4)).cost);
  CHECK(cost == e.test(arrays | lamina::reader::batch(4)).cost);
  CHECK_THROWS_WITH(e.test(std::vector<std::vector<test::sample>>{}), Contains("found none"));
  CHECK_THROWS_WITH(e.check_nan(), Contains("#include <lamina/model/check_nan.hpp>"));
}

TEST_CASE("data that do not fit are errors that name the layer, and leave the evaluator usable") {
  lamina::model m{net, 3};
  lamina::evaluator e{m};
  const std::vector<float> five(5), twelve(12);
  const std::vector<std::int64_t> three(3);
  CHECK_THAT(test::error_of([&] { e.forward(lamina::feed<"x">(five)); }),
             Contains("feed x") && Contains("multiple of 6") && Contains("found 5"));
  CHECK_THAT(
      test::error_of([&] { e.forward(lamina::feed<"x">(twelve), lamina::feed<"label">(three)); }),
      Contains("feed label") && Contains("expected 2 rows") && Contains("found 3"));
  const std::vector<std::int64_t> classes{0, 3};
  CHECK_THAT(
      test::error_of([&] { e.forward(lamina::feed<"x">(twelve), lamina::feed<"label">(classes)); }),
      Contains("label") && Contains("expected 0 to 2") && Contains("found 3"));
  using wrong = std::tuple<std::vector<float>, std::int64_t>;
  const std::vector<std::vector<wrong>> batches{{wrong{std::vector<float>(6), 0}},
                                                {wrong{std::vector<float>(7), 0}}};
  CHECK_THAT(test::error_of([&] { e.test(batches); }),
             Contains("data layer x, row 0") && Contains("expected 6") && Contains("found 7"));

  const auto samples = test::samples(2);
  e.forward(lamina::feed<"x">(images(samples).data()->data(), 12));
  CHECK(e.activation<"output">().shape()[0] == 2);
}

namespace {
constexpr auto shapes = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2, 3>(main);
  auto y = layer::scale(x, 2.f, {.name = "twice"});
  return layer::fc<4>(y, {.name = "last"});
});

// What nobody reads any more after the second layer: others take its memory.
constexpr auto deep = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 8>(main);
  for (int i = 0; i < 3; ++i) x = layer::fc<8>(x, {.act = lamina::activation::tanh});
  return layer::fc<8>(x, {.name = "last"});
});
template <lamina::fixed_string Name>
constexpr bool keeps = lamina::keeps_value<lamina::for_test<std::remove_const_t<decltype(deep)>>,
                                           lamina::variable_named<decltype(deep)>(Name.view())>;
static_assert(keeps<"last.tmp_1"> && keeps<"last"> && keeps<"x">);
static_assert(!keeps<"fc_0.tmp_2"> && !keeps<"fc_1.tmp_2"> && !keeps<"fc_1.tmp_0">);
}  // namespace

TEST_CASE("an activation has the shape of its variable; a program needs no cost") {
  lamina::model m{shapes};
  lamina::evaluator e{m};
  std::vector<float> x(5 * 6);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  e.forward(lamina::feed<"x">(x));
  const auto twice = e.activation<"twice">();
  REQUIRE(twice.dimension() == 3);
  REQUIRE(twice.shape()[0] == 5);
  REQUIRE(twice.shape()[1] == 2);
  REQUIRE(twice.shape()[2] == 3);
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      for (std::size_t k = 0; k < 3; ++k) CHECK(twice(i, j, k) == 2 * x[6 * i + 3 * j + k]);
  CHECK(e.activation<"last">().shape()[1] == 4);
}
