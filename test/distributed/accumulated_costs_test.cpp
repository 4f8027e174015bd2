// SPDX-License-Identifier: Apache-2.0
// Ranks that accumulate gradients of costs whose mini-batches have other weights than their
// samples, as threads of this process.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "distributed/thread_group.hpp"
#include "train/costs_of_rows.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace {

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
namespace reader = lamina::reader;
using words = std::vector<std::int64_t>;
const optimizer::sgd sgd{.learning_rate = 0.1f};

/// Sentences of 0 to 12 words; no tag of the first seven is 1, so a mask by it is empty there.
template <class Sample>
std::vector<Sample> sentences(int count) {
  std::vector<Sample> all;
  for (int i = 0; i < count; ++i) {
    words word, tag;
    for (int k = 0; k < (i % 7 + i / 7) * 2 % 13; ++k) {
      word.push_back((i * 5 + k * 3) % 9);
      tag.push_back(i < 7 ? 2 : (i + k * 2) % 5);
    }
    if constexpr (std::tuple_size_v<Sample> == 3)
      all.push_back({word, tag, i % 5});
    else
      all.push_back({word, tag});
  }
  return all;
}

/// All parameters of a model after a training.
template <class T, class P, class Reader>
std::vector<T> train(const P& program, const Reader& batches,
                     const lamina::train_options& options) {
  lamina::model m{program, 3};
  sgd.train(m, batches, options);
  std::vector<T> all;
  for (int i = 0; i < m.parameter_arrays(); ++i) {
    const auto a = m.get(i);
    all.insert(all.end(), a.data(), a.data() + a.size());
  }
  return all;
}
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}
template <class T>
double distance(const std::vector<T>& a, const std::vector<T>& b) {
  double worst = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    worst = (std::max)(worst, std::abs(static_cast<double>(a[k] - b[k])));
  return worst;
}

/// Trains with 4 parts in all on mini-batches that all ranks read: the bits are those of one
/// process, and the last update of a pass takes two mini-batches.
template <class T, class P, class Sample>
void check_bits(const P& program, const std::vector<Sample>& samples) {
  const auto batches = samples | reader::batch(7);
  const auto options = [](int threads, lamina::world* w) {
    return lamina::train_options{
        .passes = 2, .threads = threads, .accumulate = 3, .seed = 5, .world = w};
  };
  const std::vector<T> expected = train<T>(program, batches, options(4, nullptr));
  // As one large mini-batch.
  CHECK(distance(expected, train<T>(program, samples | reader::batch(21),
                                    {.passes = 2, .seed = 5})) < (sizeof(T) == 8 ? 1e-12 : 1e-6));
  std::mutex mutex;
  for (const int ranks : {2, 4})
    test::in_ranks(ranks, [&](test::thread_group& w) {
      const std::vector<T> found = train<T>(program, batches, options(4 / ranks, &w));
      const std::lock_guard lock(mutex);
      CHECK(same(found, expected));
    });
}
/// The same with shards: all ranks have the same bits, and those of one process to rounding.
template <class P, class Sample>
void check_shards(const P& program, const std::vector<Sample>& samples) {
  const auto batches = samples | reader::batch(6);
  const std::vector<float> expected =
      train<float>(program, batches, {.passes = 2, .accumulate = 3, .seed = 5});
  std::mutex mutex;
  std::vector<float> first;
  test::in_ranks(3, [&](test::thread_group& w) {
    const std::vector<float> found =
        train<float>(program, samples | reader::shard(w, 2) | reader::batch(2),
                     {.passes = 2, .accumulate = 3, .seed = 5, .world = &w, .reads_shard = true});
    const std::lock_guard lock(mutex);
    if (first.empty()) first = found;
    CHECK(same(found, first));
    CHECK(distance(found, expected) < 1e-6);
  });
}

constexpr auto wide_net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", double, 3>(main);
  auto y = layer::data<"y", double>(main);
  return layer::mean(layer::square_error_cost(layer::fc<1>(x), y));
});

}  // namespace

TEST_CASE("ranks accumulate gradients of means over rows of several kinds", "[threads]") {
  const auto samples = sentences<std::tuple<words, words, std::int64_t>>(35);
  check_bits<float>(test::cost_of_two_kinds, samples);
  std::mutex mutex;
  int refused = 0;
  test::in_ranks(2, [&](test::thread_group& w) {
    try {
      train<float>(test::cost_of_two_kinds, samples | reader::shard(w, 2) | reader::batch(2),
                   {.accumulate = 3, .world = &w, .reads_shard = true});
    } catch (const lamina::error& e) {
      const std::lock_guard lock(mutex);
      refused += std::string(e.what()).find("expected accumulate to be 1 with reads_shard") !=
                 std::string::npos;
    }
  });
  CHECK(refused == 2);
}

TEST_CASE("ranks accumulate gradients of sums and of quotients", "[threads]") {
  const auto samples = sentences<std::tuple<words, words>>(35);
  check_bits<float>(test::cost_that_is_a_sum, samples);
  check_shards(test::cost_that_is_a_sum, samples);
  // The first mini-batch has no weight.
  check_bits<float>(test::masked_cost<test::guard::clip>, samples);
  check_shards(test::masked_cost<test::guard::clip>, samples);
}

TEST_CASE("ranks accumulate gradients in double", "[threads]") {
  std::vector<std::tuple<std::array<double, 3>, double>> samples;
  for (int i = 0; i < 35; ++i)
    samples.push_back({{i % 3 / 7.0, i % 5 / 3.0, 0.1 * i}, i % 4 / 2.0});
  check_bits<double>(wide_net, samples);
}
