// SPDX-License-Identifier: Apache-2.0
// What would be silent: no data, NaN, a label that is no class, counts below zero, an index outside
// of an array, and what was moved from. Each is an error that says where.
#include <cmath>
#include <limits>
#include <optional>

#include "train/net.hpp"

#include <lamina/layers/sequence.hpp>
#include <lamina/model/check_nan.hpp>
#include <lamina/operators/activation/simple/layer.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/operators/elementwise/assign/layer.hpp>
#include <lamina/operators/elementwise/binary/layer_arithmetic.hpp>
#include <lamina/operators/elementwise/compare/layer.hpp>
#include <lamina/operators/embedding/lookup_table/layer.hpp>
#include <lamina/operators/sequence/pool/layer.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
using Catch::Contains;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::fc<5>(x, {.name = "hidden"});
  auto logits = layer::fc<3>(layer::log(hidden, {.name = "positive"}), {.name = "output"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});
struct sample {
  std::array<float, 2> x;
  std::int64_t label;
};
using samples = std::vector<sample>;

/// A model whose hidden layer is 0.3 for each sample [1, 2].
lamina::model<std::remove_cv_t<decltype(net)>> positive_model() {
  lamina::model m{net};
  m.set_parameter<"hidden.w_0">(lamina::array<float>({2, 5}, std::vector<float>(10, 0.1f)));
  return m;
}
samples good(std::size_t count) { return samples(count, sample{{1, 2}, 1}); }

/// What a call throws; nothing: "".
template <class F>
std::string thrown(const F& f) {
  try {
    f();
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a pass without samples is an error") {
  auto m = positive_model();
  const lamina::optimizer::sgd sgd;
  const auto empty = Contains("expected at least one mini-batch");
  CHECK_THROWS_WITH(sgd.train(m, samples{} | reader::batch(4), {.passes = 10}), empty);
  CHECK_THROWS_WITH(sgd.train(m, good(5) | reader::batch(32, true)), empty);
  CHECK_THROWS_WITH(sgd.train(m, std::vector<samples>(3)), empty);
  CHECK_THROWS_WITH(lamina::evaluator{m}.test(samples{} | reader::batch(4)), empty);
  CHECK_THROWS_WITH(lamina::evaluator{m}.test(good(5) | reader::batch(32, true)), empty);
  // A reader that has nothing left for a second pass.
  int begun = 0;
  const auto once = [&begun] { return begun++ == 0 ? good(4) : samples{}; };
  auto fresh = positive_model();
  CHECK(sgd.train(fresh, good(4) | reader::batch(2), {.passes = 0}).steps == 0);
  CHECK_THROWS_WITH(sgd.train(fresh, once | reader::batch(2), {.passes = 2}),
                    Contains("in pass 1, found none: the reader ended for good"));
}

TEST_CASE("an error in a mini-batch names it and the sample") {
  samples data = good(64);
  data[41].label = 7;
  for (const int threads : {1, 2}) {
    auto m = positive_model();
    CHECK(thrown([&] {
            lamina::optimizer::sgd{.learning_rate = 0}.train(m, data | reader::batch(8),
                                                             {.threads = threads});
          }) ==
          "lamina: layer softmax_with_cross_entropy_0, feed 'label': label in row 1: expected 0 to "
          "2, found 7 (mini-batch 5 of pass 0, sample 41)");
    CHECK_THROWS_WITH(lamina::evaluator{m}.test(data | reader::batch(8)),
                      Contains("(mini-batch 5, sample 41)"));
  }
  // A field of another size.
  std::vector<std::tuple<std::vector<float>, int>> ragged(10, {{1, 2}, 1});
  std::get<0>(ragged[7]).push_back(3);
  auto m = positive_model();
  CHECK_THROWS_WITH(lamina::train(m, ragged | reader::batch(4)),
                    Contains("data layer x, row 3: expected 2 values, found 3 (mini-batch 1 of "
                             "pass 0, sample 7)"));
  CHECK_THROWS_WITH(lamina::evaluator{m}.test(ragged | reader::batch(4)),
                    Contains("(mini-batch 1, sample 7)"));
}

TEST_CASE("a row of sequences is traced to its sample") {
  constexpr auto words_net = lamina::program([](lamina::block& main) {
    auto words = layer::sequence<"words", std::int64_t>(main);
    auto found = layer::sequence_pool(layer::embedding<10, 3>(words));
    return layer::mean(found);
  });
  // Row 4 of the second mini-batch: its first sample has no words, the second four.
  const std::vector<std::vector<int>> data = {{1}, {2}, {}, {1, 2, 3, 4}, {5, 10}, {6}};
  for (const int threads : {1, 2}) {
    lamina::model m{words_net};
    CHECK_THROWS_WITH(
        lamina::optimizer::sgd{}.train(m, data | reader::batch(2), {.threads = threads}),
        Contains(
            "layer embedding_0, feed 'words': id in row 1: expected 0 to 9, found 10 (mini-batch "
            "2 of pass 0, sample 4, position 1)"));
  }
  lamina::model m{words_net};
  CHECK_THROWS_WITH(lamina::evaluator{m}.test(data | reader::batch(6)),
                    Contains("id in row 7") && Contains("(mini-batch 0, sample 4, position 1)"));
  lamina::evaluator e{m};
  e.forward(lamina::feed<"words">(std::vector<std::vector<std::int64_t>>{{1, 2}, {3}}));
  const auto sequences = e.sequences<"words">();
  CHECK(sequences.count == 2);
  CHECK(sequences.end(1) == 3);
  if constexpr (lamina::detail::checks_indices) {
    CHECK_THROWS_WITH(sequences.begin(2), "lamina: sequences, index 0: expected 0 to 1, found 2");
    CHECK_THROWS_AS(sequences.length(-1), lamina::error);
  }
}

TEST_CASE("check_nan stops at the first NaN, and names it") {
  const lamina::optimizer::sgd sgd{.learning_rate = 1e-3f};
  for (const int threads : {1, 2}) {
    CAPTURE(threads);
    const auto train = [&threads](auto& m, const samples& data, auto with) {
      lamina::train_options options{.threads = threads};
      with(options);
      return thrown([&] {
        lamina::optimizer::sgd{.learning_rate = 1e-3f}.train(m, data | reader::batch(8), options);
      });
    };
    const auto nans = [](auto& o) { o.check_nan = true; };
    const auto infinities = [](auto& o) { o.check_infinity = true; };

    samples data = good(64);
    auto m = positive_model();
    CHECK(train(m, data, nans) == "");
    data[41].x[1] = not_a_number;
    auto before = positive_model(), after = positive_model();
    sgd.train(before, samples(data.begin(), data.begin() + 40) | reader::batch(8));
    CHECK(train(after, data, nans) ==
          "lamina: check_nan: data layer x: expected numbers, found NaN in row 1, column 1 "
          "(mini-batch 5 of pass 0, sample 41)");
    CHECK(test::distance(before, after) < 1e-6);  // the model of before the mini-batch

    data[41].x = {-1, -1};  // the logarithm of what is below zero
    m = positive_model();
    CHECK(train(m, data, nans) ==
          "lamina: check_nan: layer positive, variable positive.tmp_0: expected numbers, found NaN "
          "in row 1, column 0, computed by mul, elementwise_add, log (mini-batch 5 of pass 0, "
          "sample 41)");
    data = good(64);
    data[3].x = {0, 0};  // the logarithm of zero
    m = positive_model();
    CHECK_THAT(train(m, data, infinities),
               Contains("layer positive") && Contains("found infinity in row 3"));
    data[3].x = {infinity, 1};
    m = positive_model();
    CHECK_THAT(train(m, data, infinities), Contains("data layer x") && Contains("sample 3"));
  }
  // Without the option training goes on, as in other libraries, and the model is NaN; the accuracy
  // is that of no hit.
  auto m = positive_model();
  samples data = good(8);
  data[4].x[0] = not_a_number;
  sgd.train(m, data | reader::batch(8));
  REQUIRE(std::isnan(m.parameter<"output.w_0">()(0, 0)));
  for (std::int64_t label : {0, 1, 2}) {
    const samples all(8, sample{{1, 2}, label});
    const auto found = lamina::evaluator{m}.test(all | reader::batch(4));
    CHECK(found.metric("accuracy") == 0);
    CHECK(std::isnan(found.cost));
  }
  lamina::evaluator e{m};
  e.check_nan();
  CHECK_THROWS_WITH(e.forward(lamina::feed<"x">({1.f, 2.f})),
                    Contains("layer hidden") && Contains("parameter hidden.w_0 has NaN in it"));
  CHECK_THROWS_WITH(e.test(good(8) | reader::batch(4)), Contains("(mini-batch 0, sample 0)"));
}

TEST_CASE("check_nan finds what an update makes, and NaN in gradients") {
  auto m = positive_model();
  const lamina::optimizer::sgd huge{.learning_rate = 3e38f};
  CHECK_THROWS_WITH(huge.train(m, good(8) | reader::batch(8), {.check_infinity = true}),
                    Contains("after the update: expected numbers, found infinity"));
  // The square root of 0 is a number, its slope is infinite, and that times an input of 0 is NaN.
  constexpr auto root = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 1>(main);
    return layer::mean(layer::sqrt(layer::fc<1>(x, {.bias = false, .name = "y"})));
  });
  lamina::model r{root};
  const std::vector<float> zeros(4);
  CHECK_THROWS_WITH(
      lamina::optimizer::sgd{}.train(r, zeros | reader::batch(4), {.check_nan = true}),
      Contains("check_nan: gradient of variable y.w_0"));
}

TEST_CASE("check_nan looks into loops") {
  constexpr auto countdown = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 1>(main);
    auto left = layer::mean(x), zero = layer::fill_constant<float>(main, 0);
    auto roots = layer::fill_constant<float>(main, 0);
    auto going = layer::greater_than(left, zero);
    layer::while_loop(going, [&](lamina::block&) {
      left = left - 1.f;
      roots = roots + layer::sqrt(left, {.name = "root"});
      layer::greater_than(left, zero, going);
    });
    return roots;
  });
  lamina::model m{countdown};
  lamina::evaluator e{m};
  e.check_nan();
  e.forward(lamina::feed<"x">(3.f));
  CHECK(e.cost() == Approx(std::sqrt(2.f) + 1.f));
  CHECK_THROWS_WITH(e.forward(lamina::feed<"x">(2.5f)), Contains("found NaN") && Contains("sqrt"));
}

TEST_CASE("indices outside of an activation or an array are errors, unless NDEBUG is defined") {
  auto m = positive_model();
  lamina::evaluator e{m};
  e.forward(lamina::feed<"x">({1.f, 2.f}));
  const auto y = e.activation<"output">();
  const auto w = m.parameter<"output.w_0">();
  CHECK(std::isfinite(y(0, 2)));
  CHECK(*y.begin() == y.flat(0));
  if constexpr (lamina::detail::checks_indices) {
    CHECK_THROWS_WITH(y(0, 3), "lamina: activation, index 1: expected 0 to 2, found 3");
    CHECK_THROWS_WITH(y(-1, 0), "lamina: activation, index 0: expected 0 to 0, found -1");
    CHECK_THROWS_AS(y.flat(3), lamina::error);
    CHECK_THROWS_AS(y.shape(2), lamina::error);
    CHECK_THROWS_WITH(w(5, 0), "lamina: array, index 0: expected 0 to 4, found 5");
    CHECK_THROWS_AS(w(0, 0, 0), lamina::error);
    CHECK_THROWS_AS(w(0), lamina::error);
    CHECK_THROWS_AS(w.flat(15), lamina::error);
    CHECK_THROWS_AS(w.shape(2), lamina::error);
    CHECK_THROWS_AS(lamina::array<float>{}(0), lamina::error);
    CHECK_THROWS_WITH(lamina::array<float>(std::vector<std::size_t>{0, 2})(0, 0),
                      Contains("expected elements in this dimension, found 0"));
  }
  CHECK_THROWS_AS(lamina::worker_pool(0), lamina::error);
}

TEST_CASE("numbers that a data layer of integers cannot hold are errors") {
  constexpr auto narrow = lamina::program([](lamina::block& main) {
    auto small = layer::data<"small", std::int32_t>(main);
    return layer::mean(layer::fc<1>(layer::cast<float>(small)));
  });
  lamina::model m{narrow};
  lamina::evaluator e{m};
  std::vector<std::int64_t> data(4, std::numeric_limits<std::int32_t>::min());
  CHECK(e.test(data | reader::batch(2)).samples == 4);
  data[3] = 1ll << 32;
  CHECK_THROWS_WITH(e.test(data | reader::batch(2)),
                    "lamina: data layer small, row 1: expected numbers of int32, found 4294967296 "
                    "(mini-batch 1, sample 3)");
  const std::vector<std::uint32_t> large(2, 4294967295u);
  CHECK_THROWS_WITH(e.test(large | reader::batch(2)), Contains("found 4294967295"));
  const std::vector<int> fits{1, -1};
  CHECK(e.test(fits | reader::batch(2)).samples == 2);
}

TEST_CASE("a model and an evaluator that were moved from are errors") {
  auto a = positive_model();
  lamina::evaluator first{a};
  auto b = std::move(a);
  const auto moved = Contains("model that was moved from");
  CHECK_THROWS_WITH(a.save("moved.model"), moved);
  CHECK_THROWS_WITH(a.parameter<"output.w_0">(), moved);
  CHECK_THROWS_WITH(a.set_parameter<"output.w_0">(b.parameter<"output.w_0">()), moved);
  CHECK_THROWS_WITH(a.entries(), moved);
  CHECK_THROWS_WITH(lamina::evaluator{a}, moved);
  CHECK_THROWS_WITH(lamina::train(a, good(4) | reader::batch(4)), moved);
  // What was moved to computes as before, and so does the evaluator of the model.
  lamina::evaluator fresh{b};
  const float x[] = {1, 2};
  fresh.forward(lamina::feed<"x">(x));
  const float expected = fresh.activation<"output">()(0, 1);
  first.forward(lamina::feed<"x">(x));
  CHECK(first.activation<"output">()(0, 1) == expected);
  std::vector<lamina::evaluator<std::remove_cv_t<decltype(net)>>> many;
  for (int i = 0; i < 3; ++i) many.emplace_back(b);  // moves those before
  for (auto& e : many) {
    e.forward(lamina::feed<"x">(x));
    CHECK(e.activation<"output">()(0, 1) == expected);
  }
  auto taken = std::move(many[0]);
  taken.forward(lamina::feed<"x">(x));
  CHECK(taken.activation<"output">()(0, 1) == expected);
  CHECK_THROWS_WITH(many[0].forward(lamina::feed<"x">(x)), Contains("moved from"));
  a = std::move(b);
  CHECK(lamina::evaluator{a}.test(good(4) | reader::batch(4)).samples == 4);
}

TEST_CASE("counts below zero are errors of all decorators of readers") {
  CHECK_THROWS_WITH(reader::batch(-5),
                    "lamina: reader::batch: expected at least 1 element, found -5");
  CHECK_THROWS_AS(reader::batch(0), lamina::error);
  CHECK_THROWS_AS(reader::shuffle(-1), lamina::error);
  CHECK_THROWS_AS(reader::buffered(-1ll), lamina::error);
  CHECK_THROWS_AS(reader::first_n(-1), lamina::error);
  CHECK_THROWS_AS(reader::skip_n(std::int8_t{-1}), lamina::error);
  const auto same = [](int x) { return x; };
  CHECK_THROWS_AS(reader::xmap(same, -1, 4), lamina::error);
  CHECK_THROWS_AS(reader::xmap(same, 1, -4), lamina::error);
  CHECK_NOTHROW(reader::batch(std::numeric_limits<std::size_t>::max()));
  CHECK_NOTHROW(reader::batch(std::uint8_t{200}));
}
