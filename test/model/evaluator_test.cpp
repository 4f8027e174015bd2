// SPDX-License-Identifier: Apache-2.0
// evaluator: forward passes, repeated and failed ones.
#include <thread>

#include "model/classifier.hpp"
#include "model/samples.hpp"

#include <lamina/model/evaluation/loops_on_threads.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/gradient_machine.hpp>
#include <lamina/reader/reader.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using classifier::expected_of;
using classifier::expected_values;
using classifier::images;
using classifier::labels;
using classifier::net;

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

namespace {

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

namespace {

constexpr auto served_net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto hidden = layer::fc<33>(x, {.act = lamina::activation::tanh});
  return layer::fc<3>(hidden, {.name = "output"});
});

}  // namespace

TEST_CASE("four evaluators on four threads give the answers of one", "[threads]") {
  const lamina::model m{served_net, 3};
  const auto samples = test::samples(64);
  const auto answers = [&] {
    std::vector<float> all;
    lamina::evaluator e{m};
    for (std::size_t first = 0; first < samples.size();) {
      std::vector<std::array<float, 6>> rows;
      for (std::size_t n = first % 5 + 1; n > 0 && first < samples.size(); --n)
        rows.push_back(samples[first++].x);
      e.forward(lamina::feed<"x">(rows));
      const auto output = e.activation<"output">();
      all.insert(all.end(), output.begin(), output.end());
    }
    return all;
  };
  const std::vector<float> expected = answers();
  REQUIRE(expected.size() == 3 * samples.size());
  std::array<std::vector<float>, 4> found;
  std::vector<std::thread> threads;
  for (auto& mine : found)
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) mine = answers();
    });
  for (std::thread& t : threads) t.join();
  for (const auto& mine : found) CHECK(mine == expected);
}
