// SPDX-License-Identifier: Apache-2.0
// With sync_batch_norm several threads train as one does: statistics are those of the whole
// mini-batch.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "io/temporary_folder.hpp"
#include "train/net.hpp"

#include <lamina/model/check_nan.hpp>
#include <lamina/train/trainer.hpp>

namespace layer = lamina::layer;

namespace {

template <class Real>
constexpr auto dense_in = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", Real, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::batch_norm(layer::fc<9>(x), {.act = lamina::activation::tanh});
  auto logits = layer::fc<3>(layer::batch_norm(layer::fc<70>(h)));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});
constexpr auto& dense = dense_in<float>;

// The same without batch_norm.
constexpr auto plain = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<3>(layer::fc<9>(x, {.act = lamina::activation::tanh}));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

constexpr auto conv = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1, 6, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::batch_norm(layer::conv2d<4, 3, lamina::window{.padding = 1}>(x),
                             {.act = lamina::activation::tanh});
  h = layer::batch_norm(layer::conv2d<4, 3, lamina::window{.padding = 1}>(h)) + h;
  auto logits = layer::fc<2>(layer::pool2d<2, lamina::window{.stride = 2}>(h));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

// Statistics of words, where a sample may have none; the cost is a sum over samples.
constexpr auto words = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::batch_norm(layer::fc<7>(layer::embedding<9, 5>(word)),
                             {.act = lamina::activation::tanh});
  auto logits = layer::fc<3>(layer::sequence_pool(h));
  return layer::reduce_sum(layer::softmax_with_cross_entropy(logits, label));
});

// A cost that adds means over samples and over words.
constexpr auto mixed = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::batch_norm(layer::fc<7>(layer::embedding<9, 5>(word)),
                             {.act = lamina::activation::tanh});
  auto logits = layer::fc<3>(layer::batch_norm(layer::fc<8>(layer::sequence_pool(h))));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label)) +
         0.3f * layer::mean(layer::square(layer::fc<2>(h)));
});

template <class Real, std::size_t N>
std::vector<std::tuple<std::array<Real, N>, std::int64_t>> samples(int count, int classes) {
  std::vector<std::tuple<std::array<Real, N>, std::int64_t>> all;
  std::uint32_t state = 5;
  for (int i = 0; i < count; ++i) {
    std::array<Real, N> x;
    for (Real& v : x) {
      state = state * 1664525u + 1013904223u;
      v = static_cast<Real>(state >> 16) / Real(32768) - Real(1) + static_cast<Real>(i % 5);
    }
    all.push_back({x, (i * 7 + i / 3) % classes});
  }
  return all;
}
std::vector<std::tuple<std::vector<std::int64_t>, std::int64_t>> sentences(int count) {
  std::vector<std::tuple<std::vector<std::int64_t>, std::int64_t>> all;
  for (int i = 0; i < count; ++i) {
    std::vector<std::int64_t> of;
    for (int k = 0; k < (i % 7 + i / 7) * 2 % 13; ++k) of.push_back((i * 5 + k * 3) % 9);
    all.push_back({of, i % 3});
  }
  return all;
}

template <class P, class Samples, class Opt>
auto trained(const P& program, const Samples& all, const Opt& opt, int batch,
             const lamina::train_options& options) {
  lamina::model<P> m{program, 3};
  opt.train(m, all | test::reader::batch(batch), options);
  return m;
}
/// Trains on one thread and on several, which the option makes alike; without it they differ. Then
/// makes one step of two samples, and one of three: further steps of so few samples amplify the
/// rounding, because their variances are nearly 0.
template <class P, class Samples, class Opt>
void check_threads(const P& program, const Samples& all, const Opt& opt, double most,
                   int accumulate = 1) {
  for (const int batch : {11, 2, 3}) {
    const bool is_long = batch == 11;
    const auto given =
        is_long ? all : Samples(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(batch));
    const int passes = is_long ? 2 : 1;
    const auto one =
        trained(program, given, opt, batch, {.passes = passes, .accumulate = accumulate});
    CHECK(test::distance(one, lamina::model<P>{program, 3}) > (is_long ? 1e-2 : 1e-4));
    for (const int threads : {2, 3, 4}) {
      INFO(threads << " threads, mini-batches of " << batch);
      lamina::train_options options{
          .passes = passes, .threads = threads, .accumulate = accumulate, .sync_batch_norm = true};
      const auto some = trained(program, given, opt, batch, options);
      CHECK(test::distance(some, one) < most);
      CHECK(test::bytes_of(some) == test::bytes_of(trained(program, given, opt, batch, options)));
      options.sync_batch_norm = false;
      if (is_long) CHECK(test::distance(trained(program, given, opt, batch, options), one) > 1e-3);
    }
  }
}

const test::optimizer::momentum momentum{.learning_rate = 0.05f, .momentum = 0.9f};

}  // namespace

TEST_CASE("sync_batch_norm: threads train a dense net as one does", "[threads]") {
  check_threads(dense, samples<float, 6>(25, 3), momentum, 3e-5);
}

TEST_CASE("sync_batch_norm: threads train convolutions as one does", "[threads]") {
  check_threads(conv, samples<float, 36>(25, 2), momentum, 3e-5);
}

TEST_CASE("sync_batch_norm: words, and a cost that is a sum", "[threads]") {
  check_threads(words, sentences(25), test::optimizer::sgd{.learning_rate = 0.02f}, 3e-5);
}

TEST_CASE("sync_batch_norm: a cost that adds means over rows of two kinds", "[threads]") {
  check_threads(mixed, sentences(25), test::optimizer::sgd{.learning_rate = 0.1f}, 3e-5);
}

TEST_CASE("sync_batch_norm: several mini-batches per update, and a clip by norm", "[threads]") {
  const test::optimizer::sgd clipped{.learning_rate = 0.3f,
                                     .clip = lamina::clip_by_global_norm(0.5f)};
  check_threads(dense, samples<float, 6>(25, 3), clipped, 3e-5);
  check_threads(dense, samples<float, 6>(50, 3), clipped, 3e-5, 3);
}

TEST_CASE("sync_batch_norm in double: the digits of one thread", "[threads]") {
  check_threads(dense_in<double>, samples<double, 6>(25, 3), momentum, 1e-11);
}

TEST_CASE("sync_batch_norm: gradients are differences of costs", "[threads]") {
  using model_type = lamina::model<std::remove_cvref_t<decltype(dense_in<double>)>>;
  const auto all = samples<double, 6>(11, 3);
  const lamina::train_options options{.threads = 3, .sync_batch_norm = true};
  const auto cost_of = [&](model_type& m) {
    const test::optimizer::sgd none{.learning_rate = 0};
    lamina::trainer t{m, none, options};
    return t.step(all);
  };
  model_type before{dense_in<double>, 3}, after{dense_in<double>, 3};
  const test::optimizer::sgd whole{.learning_rate = 1};
  lamina::trainer{after, whole, options}.step(all);
  int compared = 0;
  for (int i = 0; i < before.parameter_arrays(); ++i) {
    const auto a = before.get(i), b = after.get(i);
    for (std::size_t k = 0; k < a.size(); k += 1 + a.size() / 5) {
      const double gradient = a.data()[k] - b.data()[k];
      double cost[2];
      for (const int side : {0, 1}) {
        model_type m{dense_in<double>, 3};
        auto moved = m.get(i);
        moved.data()[k] += side == 0 ? -1e-5 : 1e-5;
        m.set(i, moved);
        cost[side] = cost_of(m);
      }
      const double slope = (cost[1] - cost[0]) / 2e-5;
      if (slope == 0) continue;  // moving statistics, which no cost depends on
      INFO("array " << i << ", element " << k);
      CHECK(gradient == Approx(slope).epsilon(1e-5).margin(1e-8));
      compared += gradient != 0 ? 1 : 0;
    }
  }
  CHECK(compared > 20);
}

TEST_CASE("sync_batch_norm: a mini-batch of one sample passes unchanged", "[threads]") {
  const auto all = samples<float, 6>(3, 3);
  const auto one = trained(dense, all, momentum, 1, {});
  for (const int threads : {2, 3}) {
    const auto some =
        trained(dense, all, momentum, 1, {.threads = threads, .sync_batch_norm = true});
    CHECK(test::distance(some, one) < 1e-6);
  }
}

TEST_CASE("sync_batch_norm: a variance that overflows float", "[threads]") {
  auto all = samples<float, 6>(12, 3);
  for (auto& s : all)
    for (float& x : std::get<0>(s)) x *= 1e22f;
  const auto one = trained(dense, all, momentum, 6, {});
  const auto two = trained(dense, all, momentum, 6, {.threads = 2, .sync_batch_norm = true});
  for (int i = 0; i < one.parameter_arrays(); ++i) {
    const auto a = one.get(i), b = two.get(i);
    for (std::size_t k = 0; k < a.size(); ++k) {
      const float x = a.data()[k], y = b.data()[k];
      CHECK((x == y || y == Approx(x).epsilon(1e-3).margin(1e-4)));
    }
  }
}

TEST_CASE("sync_batch_norm changes nothing without batch_norm, or with one thread", "[threads]") {
  const auto all = samples<float, 6>(25, 3);
  for (const int threads : {1, 3})
    CHECK(test::bytes_of(trained(plain, all, momentum, 7, {.threads = threads})) ==
          test::bytes_of(
              trained(plain, all, momentum, 7, {.threads = threads, .sync_batch_norm = true})));
  CHECK(test::bytes_of(trained(dense, all, momentum, 7, {})) ==
        test::bytes_of(trained(dense, all, momentum, 7, {.sync_batch_norm = true})));
}

TEST_CASE("sync_batch_norm: an error in one thread ends the step of all", "[threads]") {
  const auto all = samples<float, 6>(12, 3);
  for (const std::size_t bad : {std::size_t{0}, std::size_t{5}, std::size_t{11}}) {
    lamina::model m{dense, 3}, other{dense, 3};
    lamina::trainer t{m, momentum, {.threads = 3, .sync_batch_norm = true}};
    lamina::trainer undisturbed{other, momentum, {.threads = 3, .sync_batch_norm = true}};
    auto wrong = all;
    std::get<1>(wrong[bad]) = 3;
    t.step(all);
    CHECK_THROWS_WITH(t.step(wrong), Catch::Contains("label") && Catch::Contains("3"));
    t.step(all);
    undisturbed.step(all);
    undisturbed.step(all);
    CHECK(test::bytes_of(m) == test::bytes_of(other));
  }
}

TEST_CASE("sync_batch_norm with check_nan names what is NaN", "[threads]") {
  const auto all = samples<float, 6>(12, 3);
  lamina::model m{dense, 3}, other{dense, 3};
  lamina::trainer t{m, momentum, {.threads = 3, .check_nan = true, .sync_batch_norm = true}};
  lamina::trainer unchecked{other, momentum, {.threads = 3, .sync_batch_norm = true}};
  t.step(all);
  unchecked.step(all);
  CHECK(test::bytes_of(m) == test::bytes_of(other));
  auto wrong = all;
  std::get<0>(wrong[5])[1] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH(t.step(wrong), Catch::Contains("check_nan"));
}

TEST_CASE("sync_batch_norm: a checkpoint goes on with another number of threads", "[threads]") {
  const auto all = samples<float, 6>(25, 3);
  const temporary_folder folder;
  const auto options = [&](int passes, int threads) {
    return lamina::train_options{.passes = passes,
                                 .threads = threads,
                                 .checkpoint = {.directory = folder.path(), .resume = true},
                                 .sync_batch_norm = true};
  };
  const auto batches = all | test::reader::batch(6);
  lamina::model first{dense, 3}, rest{dense, 3}, whole{dense, 3};
  momentum.train(first, batches, options(1, 2));
  momentum.train(rest, batches, options(2, 3));
  momentum.train(whole, batches, {.passes = 2});
  CHECK(test::distance(rest, whole) < 3e-5);
}

namespace {

constexpr auto in_loop = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto state = layer::fc<6>(x);
  auto i = layer::fill_constant<std::int64_t>(main, 0),
       n = layer::fill_constant<std::int64_t>(main, 2);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](lamina::block&) {
    state = layer::batch_norm(layer::fc<6>(state));
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<3>(state), label));
});

constexpr auto weighted = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto weight = layer::cast<float>(label);
  auto h = layer::batch_norm(layer::fc<3>(x));
  auto cost = layer::softmax_with_cross_entropy(h, label) * weight;
  return layer::reduce_sum(cost) / layer::reduce_sum(weight);
});

// A sample without words has no row in the cost, but statistics.
constexpr auto tagged = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::batch_norm(layer::fc<5>(layer::embedding<3, 4>(label)));
  auto scores = layer::fc<9>(layer::embedding<9, 5>(word) + layer::sequence_expand(h, word));
  return layer::mean(layer::softmax_with_cross_entropy(scores, word));
});

}  // namespace

TEST_CASE("sync_batch_norm: errors where it cannot be", "[threads]") {
  const auto all = samples<float, 6>(12, 3);
  const lamina::train_options options{.threads = 2, .sync_batch_norm = true};
  const auto train = [&](const auto& program, const auto& of) {
    lamina::model m{program};
    momentum.train(m, of | test::reader::batch(6), options);
  };
  CHECK_THROWS_WITH(train(in_loop, all), Catch::Contains("outside of loops and branches"));
  CHECK_THROWS_WITH(train(weighted, all), Catch::Contains("found a quotient"));
  auto empty = sentences(12);
  for (auto& s : empty) std::get<0>(s) = {1, 2};
  CHECK_NOTHROW(train(tagged, empty));
  for (auto& s : empty) std::get<0>(s).clear();
  std::get<0>(empty[0]) = {1, 2};
  std::get<0>(empty[6]) = {1, 2};
  CHECK_THROWS_WITH(train(tagged, empty), Catch::Contains("rows of the cost in each part"));
}

namespace {

// Three channels of Size numbers; the moving statistics are those of the last mini-batch.
template <int Size>
constexpr auto far_from_0 = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3, Size>(main);
  auto h = layer::batch_norm(
      x, {.momentum = 0, .moving_mean_name = "mean", .moving_variance_name = "variance"});
  return layer::mean(layer::fc<1>(h, {.param = {.name = "w"}}));
});

template <int Size>
void check_far_from_0() {
  constexpr std::array<double, 3> offset{10000, -1000, 5}, spread{0.03, 0.02, 1};
  std::vector<std::tuple<std::array<float, 3 * Size>>> all(37);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < 3 * Size; ++k)
      std::get<0>(all[i])[k] =
          static_cast<float>(offset[k / Size] + spread[k / Size] * lamina::uniform_at(7, i, k));
  for (const int threads : {1, 2, 3, 4, 5, 7}) {
    lamina::model m{far_from_0<Size>};
    lamina::optimizer::sgd{.learning_rate = 0.f}.train(
        m, std::vector<std::vector<std::tuple<std::array<float, 3 * Size>>>>{all},
        {.passes = 1, .threads = threads, .sync_batch_norm = true});
    for (std::size_t c = 0; c < 3; ++c) {
      CAPTURE(Size, threads, c);
      const double count = static_cast<double>(all.size()) * Size;
      double mean = 0, variance = 0;
      for (const auto& [row] : all)
        for (std::size_t k = 0; k < Size; ++k)
          mean += static_cast<double>(row[c * Size + k]) / count;
      for (const auto& [row] : all)
        for (std::size_t k = 0; k < Size; ++k) {
          const double off = static_cast<double>(row[c * Size + k]) - mean;
          variance += off * off / count;
        }
      CHECK(std::abs(m.template parameter<"mean">()(c) / mean - 1) < 1.2e-7);
      CHECK(std::abs(m.template parameter<"variance">()(c) / variance - 1) < 1e-6);
    }
  }
}

}  // namespace

// Means that are rounded to float before they are merged, or before squares are taken around them,
// are half a unit in the last place off: 5e-4 at 10000, which is much where the spread is 0.03.
TEST_CASE("statistics of channels far from 0 are exact on any number of threads", "[threads]") {
  check_far_from_0<1>();
  check_far_from_0<21>();
}
