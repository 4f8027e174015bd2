// SPDX-License-Identifier: Apache-2.0
// Training at several places computes what training by as many threads of the CPU does, and leaves
// the same bits at each of them.
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/places_both.hpp"
#include "model/samples.hpp"
#include "train/costs_of_rows.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/host_backend.hpp>
#include <lamina/engine/cuda/place.hpp>
#include <lamina/optimizer/lars_momentum.hpp>
#include <lamina/reader/reader.hpp>
#include <lamina/train/train.hpp>

namespace cuda = lamina::engine::cuda;
namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
namespace reader = lamina::reader;

namespace {

using backend = cuda::host_backend<1>;
using test::several;
constexpr optimizer::momentum momentum{.learning_rate = 0.1f};

/// Mini-batches that do not divide by two or three, and ones with fewer rows than places.
const std::vector<int> sizes = {7, 12, 1, 2, 7};

/// Moving statistics of a batch_norm (a bias before one has no gradient but noise), and a parameter
/// before the first and behind the last that are not trained.
constexpr auto normed = lamina::program([](lamina::block& main) {
  constexpr lamina::param_attr fixed{.trainable = false};
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto frozen = layer::fc<9>(x, {.param = fixed, .bias = false});
  auto h =
      layer::batch_norm(layer::fc<20>(frozen, {.bias = false}), {.act = lamina::activation::relu});
  auto logits = layer::fc<5>(layer::batch_norm(layer::fc<8>(h, {.bias = false})));
  auto last = layer::fc<5>(logits, {.param = fixed, .bias = false});
  layer::accuracy(last, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(last, label));
});

/// A cost of every word: parts count by their words, and may have none.
constexpr auto words = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto tag = layer::sequence<"tag", std::int64_t>(word);
  auto e = layer::batch_norm(layer::fc<7>(layer::embedding<5, 9>(word), {.bias = false}));
  auto h = std::get<0>(layer::dynamic_lstm<12>(layer::fc<12>(e, {.bias = false})));
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<5>(h), tag));
});

/// A sum over words beside moving statistics, which are means all the same.
constexpr auto normed_sum = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto tag = layer::sequence<"tag", std::int64_t>(word);
  auto e = layer::batch_norm(layer::fc<7>(layer::embedding<5, 9>(word), {.bias = false}));
  return layer::reduce_sum(layer::softmax_with_cross_entropy(layer::fc<5>(e), tag)) * 0.03f;
});

}  // namespace

TEST_CASE("training at several places computes what several threads do") {
  for (const int count : {1, 2, 3}) {
    INFO(count << " places");
    const several<backend> places(count);
    CHECK(test::train_at_all(test::classes, momentum, places, sizes).worst() < 1e-5);
    CHECK(test::train_at_all(test::classes, optimizer::adam{.learning_rate = 0.01f}, places, sizes)
              .worst() < 5e-5);
  }
}

TEST_CASE("moving statistics are the mean over the places, and frozen parameters stay") {
  for (const int count : {2, 3}) {
    const several<backend> places(count);
    // A place has two rows or more: few, which enlarge what rounding leaves.
    CHECK(test::train_at_all(normed, momentum, places, {7, 12, 9}).worst() < 5e-5);
  }
}

TEST_CASE("sequences are shared by their words, and places count by them") {
  for (const int count : {2, 3}) {
    const several<backend> places(count);
    CHECK(test::train_at_all(words, momentum, places, {5, 9, 1, 2, 5}).worst() < 2e-5);
  }
}

TEST_CASE("means over rows of two kinds, and sums over rows, count as on several threads") {
  for (const int count : {2, 3}) {
    const several<backend> places(count);
    const std::vector<int> uneven = {5, 9, 1, 2, 5};
    const optimizer::sgd sgd{.learning_rate = 0.1f};
    CHECK(test::train_at_all(test::cost_of_two_kinds, sgd, places, uneven).worst() < 2e-5);
    CHECK(test::train_at_all(test::cost_that_is_a_sum, sgd, places, uneven).worst() < 2e-5);
    CHECK(test::train_at_all(normed_sum, sgd, places, uneven).worst() < 5e-5);
    CHECK(test::train_at_all(test::cost_that_is_a_quotient, sgd, places, uneven).worst() < 2e-5);
  }
}

TEST_CASE("a mini-batch of sequences without words changes nothing at several places") {
  using P = std::remove_const_t<decltype(words)>;
  const several<backend> places(2);
  lamina::model m{words, 3};
  const optimizer::sgd sgd{.learning_rate = 0.1f};
  lamina::places_trainer<P, optimizer::sgd, backend> t(places.all(), sgd, m, 11);
  lamina::feeder<P> empty, full;
  using sample = std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>;
  empty.fill(std::vector<sample>(3));
  full.fill(std::vector<sample>{{{1, 2}, {0, 4}}, {{3}, {2}}});
  CHECK(std::isfinite(t.step(full.view())));
  t.bring_back();
  const auto before = test::bytes_of(m);
  CHECK(t.step(empty.view()) == 0);
  CHECK(test::places_agree<P>(t, 2));
  CHECK(test::bytes_of(m) == before);
}

TEST_CASE("norms are limited over the gradients of all places") {
  const several<backend> places(3);
  const auto limited = [](lamina::gradient_clip clip) {
    return optimizer::momentum{.learning_rate = 0.1f, .clip = clip};
  };
  for (const float limit : {0.1f, 100.0f}) {
    CHECK(test::train_at_all(test::classes, limited(lamina::clip_by_norm(limit)), places, {7, 12})
              .worst() < 1e-5);
    CHECK(test::train_at_all(test::classes, limited(lamina::clip_by_global_norm(limit)), places,
                             {7, 12})
              .worst() < 1e-5);
  }
  CHECK(test::train_at_all(test::classes,
                           optimizer::lars_momentum{.learning_rate = 3.0f, .lars_coeff = 0.1f},
                           places, {7, 12, 7})
            .worst() < 2e-5);
}

TEST_CASE("places that work as late as they may, and repeat what they recorded, give the same bits",
          "[threads]") {
  using P = std::remove_const_t<decltype(normed)>;
  const auto train = [](bool late) {
    const several<backend> places(3);
    for (backend* const b : places.all()) {
      if (!late) continue;
      b->defer();
      b->record();
    }
    lamina::model m{normed, 3};
    lamina::places_trainer<P, optimizer::momentum, backend> t(places.all(), momentum, m, 11);
    auto batches = test::samples(60) | reader::batch(8);
    lamina::detail::train_loop<P>(t, batches, {.passes = 3});
    CHECK(test::places_agree<P>(t, 3));
    return test::bytes_of(m);
  };
  CHECK(train(true) == train(false));
}

TEST_CASE("a run at several places goes on from a checkpoint bit for bit") {
  using P = std::remove_const_t<decltype(normed)>;
  const auto train = [](const test::folder& folder, int passes) {
    const several<backend> places(2);
    lamina::model m{normed, 3};
    const optimizer::adam adam{.learning_rate = 0.01f};
    lamina::places_trainer<P, optimizer::adam, backend> t(places.all(), adam, m, 9);
    auto batches = test::samples(50) | reader::shuffle(50, 3) | reader::batch(8);
    lamina::train_options options{.passes = passes, .seed = 9};
    options.checkpoint.directory = folder.string();
    options.checkpoint.resume = true;
    CHECK(lamina::detail::train_loop<P>(t, batches, options).steps == 7 * passes);
    return test::bytes_of(m);
  };
  const test::folder whole, parts;
  const auto expected = train(whole, 4);
  train(parts, 2);
  CHECK(train(parts, 4) == expected);
}

TEST_CASE("a list of places has devices, and none of them twice") {
  namespace place = lamina::cuda;
  CHECK(place::places{0, 1}.numbers == std::vector<int>{0, 1});
  const place::places by_tensor_cores{{2, 0}, place::tf32};
  CHECK(by_tensor_cores.numbers == std::vector<int>{2, 0});
  static_assert(std::is_same_v<decltype(by_tensor_cores)::arithmetic, lamina::cuda::tf32_type>);
  CHECK(place::places(std::vector<int>{3}).numbers.size() == 1);
  CHECK_THROWS_WITH((place::places{1, 0, 1}),
                    "lamina: cuda: places: expected devices that differ, found 1 twice");
  CHECK_THROWS_WITH(place::places(std::vector<int>{}),
                    "lamina: cuda: places: expected the numbers of devices, found none");
}

namespace {

/// Places between which nothing can be copied.
struct lone_place : cuda::host_backend<1> {
  using host_backend::host_backend;
  void copy_from(const lone_place&, void*, const void*, std::size_t) {
    throw lamina::error("lamina: cuda: cudaMemcpyPeerAsync between devices 0 and 1: no way");
  }
};

}  // namespace

TEST_CASE("what goes wrong at one of several places is told as at one") {
  using P = std::remove_const_t<decltype(test::classes)>;
  lamina::model m{test::classes, 3};
  SECTION("a label") {
    const several<backend> places(2);
    lamina::places_trainer<P, optimizer::momentum, backend> t(places.all(), momentum, m);
    test::dense_samples s(9);
    s.label[7] = 5;
    CHECK_THROWS_WITH(t.step(s.batch<P>(0, 9)),
                      Catch::Contains("softmax_with_cross_entropy: label in row 3: expected 0 to "
                                      "4, found 5"));
  }
  SECTION("memory") {
    const several<backend> places(2);
    places[1].limit_memory(100'000);
    lamina::places_trainer<P, optimizer::momentum, backend> t(places.all(), momentum, m);
    const test::dense_samples s(1000);
    CHECK(std::isfinite(t.step(s.batch<P>(0, 6))));
    CHECK_THROWS_WITH(t.step(s.batch<P>(0, 1000)), Catch::Contains("out of memory: asked for "));
  }
  SECTION("a copy between them") {
    const several<lone_place> places(2);
    lamina::places_trainer<P, optimizer::momentum, lone_place> t(places.all(), momentum, m);
    const test::dense_samples s(6);
    CHECK_THROWS_WITH(t.step(s.batch<P>(0, 6)),
                      Catch::Contains("cudaMemcpyPeerAsync between devices 0 and 1"));
  }
}
