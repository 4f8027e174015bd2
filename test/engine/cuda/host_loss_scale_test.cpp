// SPDX-License-Identifier: Apache-2.0
// Training with products of float16: gradients are scaled so that they are not lost, a step with
// one that is too large updates nothing, and the scale follows.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/places_both.hpp"
#include "engine/cuda/selected_rows_programs.hpp"
#include "model/samples.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/host_backend.hpp>
#include <lamina/engine/cuda/tensor_backend.hpp>
#include <lamina/optimizer/lamb.hpp>
#include <lamina/reader/reader.hpp>
#include <lamina/train/train.hpp>

namespace cuda = lamina::engine::cuda;
namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
namespace reader = lamina::reader;

namespace {

using backend = cuda::backend_of<cuda::host_backend<1>, lamina::cuda::float16_type>;
constexpr optimizer::momentum momentum{.learning_rate = 0.1f};

/// A cost so small that its gradients are less than the smallest float16.
constexpr auto faint = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::fc<20>(x, {.act = lamina::activation::tanh});
  auto cost = layer::mean(layer::softmax_with_cross_entropy(layer::fc<5>(h), label));
  return layer::scale(cost, 1e-7f);
});

template <class P, class Opt = optimizer::momentum>
struct training {
  explicit training(P program, const Opt& opt = momentum)
      : m(program, 3), t(place, opt, m, 11), s(64, 5) {}
  backend place;
  lamina::model<P> m;
  lamina::device_trainer<P, Opt, backend> t;
  test::random_samples<P> s;

  std::vector<std::string> bytes() {
    t.bring_back();
    std::vector<std::string> all = test::bytes_of(m);
    std::vector<lamina::tensor_entry> states;
    t.arrays().append_to(states);
    for (const auto& e : states) all.emplace_back(e.bytes.view());
    return all;
  }
};

}  // namespace

TEST_CASE("gradients too small for a float16 are kept by the scale") {
  using P = std::remove_const_t<decltype(faint)>;
  const optimizer::sgd sgd{.learning_rate = 3e6f};
  const auto apart_with = [&](float scale) {
    lamina::model a{faint, 3}, b{faint, 3};
    backend place;
    lamina::trainer<P, optimizer::sgd> expected(sgd, a, 1, 11);
    lamina::device_trainer<P, optimizer::sgd, backend> found(place, sgd, b, 11);
    CHECK(found.loss_scale().scale == 32768);
    found.set_loss_scale({scale, 1, 0, 0});
    return test::train_side_by_side<P>(expected, found, {7, 12, 7}).parameters;
  };
  CHECK(apart_with(0x1p23f) < 1e-2);
  // Without it the weights behind the products do not learn.
  CHECK(apart_with(1) > 0.05);
}

TEST_CASE("a step that overflows updates nothing and halves the scale") {
  using P = std::remove_const_t<decltype(test::classes)>;
  training<P, optimizer::adam> run(test::classes, optimizer::adam{.learning_rate = 0.01f});
  const auto before = run.bytes();
  run.t.set_loss_scale({0x1p60f, 1, 5, 0});
  CHECK(std::isfinite(run.t.step(run.s.batch(0, 7))));
  CHECK(run.t.steps() == 0);
  CHECK(run.t.loss_scale().scale == 0x1p59f);
  CHECK(run.t.loss_scale().good == 0);
  CHECK(run.bytes() == before);
  int skipped = 1;
  for (; run.t.steps() == 0 && skipped < 60; ++skipped) run.t.step(run.s.batch(0, 7));
  CHECK(skipped < 60);
  CHECK(run.bytes() != before);
  CHECK(run.t.steps() == 1);
  // The steps that were skipped are no steps of adam's: from here on it learns what the CPU does.
  lamina::model m{test::classes, 3};
  lamina::trainer<P, optimizer::adam> expected({.learning_rate = 0.01f}, m, 1, 11);
  expected.step(run.s.batch(0, 7));
  expected.step(run.s.batch(7, 12));
  run.t.step(run.s.batch(7, 12));
  run.t.bring_back();
  CHECK(test::parameters_apart(m, run.m) < 1e-2);
}

TEST_CASE("the scale is doubled after 2,000 good steps, and is never less than 1") {
  using P = std::remove_const_t<decltype(test::classes)>;
  training<P> run(test::classes);
  run.t.set_loss_scale({1024, 1, 1998, 0});
  run.t.step(run.s.batch(0, 7));
  CHECK(run.t.loss_scale().scale == 1024);
  CHECK(run.t.loss_scale().good == 1999);
  run.t.step(run.s.batch(0, 7));
  CHECK(run.t.loss_scale().scale == 2048);
  CHECK(run.t.loss_scale().good == 0);
  // Activations that are too large overflow with any scale.
  test::dense_samples s(3);
  for (float& x : s.x) x *= 1e30f;
  const auto before = run.bytes();
  for (int i = 0; i < 15; ++i) run.t.step(s.batch<P>(0, 3));
  CHECK(run.t.loss_scale().scale == 1);
  CHECK(run.t.steps() == 2);
  CHECK(run.bytes() == before);
}

TEST_CASE("norms are those of the gradients without their scale") {
  const std::vector<int> sizes = {7, 12, 7};
  backend place;
  for (const float limit : {0.1f, 100.0f})
    CHECK(test::train_both(test::classes,
                           optimizer::momentum{.learning_rate = 0.1f,
                                               .clip = lamina::clip_by_global_norm(limit)},
                           place, sizes)
              .worst() < 2e-3);
  CHECK(test::train_both(
            test::classes,
            optimizer::momentum{.learning_rate = 0.1f, .clip = lamina::clip_by_value(0.01f)}, place,
            sizes)
            .worst() < 2e-3);
  CHECK(test::train_both(test::classes, optimizer::lamb{.learning_rate = 0.02f}, place, sizes)
            .worst() < 5e-3);
}

TEST_CASE("gradients of rows are scaled, and skipped, as others are") {
  using P = std::remove_const_t<decltype(test::tables)>;
  backend place;
  CHECK(test::train_both(test::tables, momentum, place, {7, 3, 12}).worst() < 5e-3);
  training<P> run(test::tables);
  const auto before = run.bytes();
  run.t.set_loss_scale({0x1p60f, 1, 0, 0});
  run.t.step(run.s.batch(0, 7));
  CHECK(run.bytes() == before);
  CHECK(run.t.steps() == 0);
}

TEST_CASE("a place that works late and repeats what it recorded decides the same") {
  using P = std::remove_const_t<decltype(test::classes)>;
  const auto train = [](bool late) {
    training<P> run(test::classes);
    if (late) {
      run.place.defer();
      run.place.record();
    }
    run.t.set_loss_scale({0x1p22f, 1, 1990, 0});
    for (int i = 0; i < 40; ++i) run.t.step(run.s.batch(i % 3, 7));
    CHECK(run.t.steps() > 0);
    CHECK(run.t.steps() < 40);
    return run.bytes();
  };
  CHECK(train(true) == train(false));
}

TEST_CASE("an overflow at one of several places skips the step at all of them") {
  using P = std::remove_const_t<decltype(test::classes)>;
  const test::several<backend> places(2);
  lamina::model m{test::classes, 3};
  lamina::places_trainer<P, optimizer::momentum, backend> t(places.all(), momentum, m, 11);
  test::dense_samples s(8);
  t.step(s.batch<P>(0, 8));
  CHECK(t.steps() == 1);
  t.bring_back();
  const auto before = test::bytes_of(m);
  s.x[7 * 13] = std::numeric_limits<float>::infinity();
  t.step(s.batch<P>(0, 8));
  CHECK(t.steps() == 1);
  CHECK(t.loss_scale().scale == 16384);
  CHECK(test::places_agree<P>(t, 2));
  CHECK(test::bytes_of(m) == before);
  CHECK(test::train_at_all(test::classes, momentum, places, {7, 12, 1, 7}).worst() < 2e-3);
}

TEST_CASE("a run goes on from a checkpoint with its scale, bit for bit") {
  using P = std::remove_const_t<decltype(faint)>;
  const auto train = [](const test::folder& folder, int passes) {
    training<P> run(faint);
    run.t.set_loss_scale({0x1p50f, 1, 1993, 0});  // of a run that begins
    auto batches = test::samples(50) | reader::batch(8);
    lamina::train_options options{.passes = passes, .seed = 9};
    options.checkpoint.directory = folder.string();
    options.checkpoint.resume = true;
    lamina::detail::train_loop<P>(run.t, batches, options);
    auto all = run.bytes();
    all.push_back(std::to_string(run.t.loss_scale().scale));
    all.push_back(std::to_string(run.t.loss_scale().good));
    all.push_back(std::to_string(run.t.steps()));
    return all;
  };
  const test::folder whole, parts;
  const auto expected = train(whole, 6);
  const auto half = train(parts, 4);
  CHECK(half.back() != "0");
  CHECK(half != expected);
  CHECK(train(parts, 6) == expected);
  // A place of floats goes on from it, too.
  cuda::host_backend<1> place;
  lamina::model m{faint, 3};
  lamina::device_trainer<P, optimizer::momentum, cuda::host_backend<1>> t(place, momentum, m, 9);
  lamina::training_position at;
  CHECK(lamina::load_checkpoint(parts.string(), t, at, 9));
  CHECK(at.pass == 6);
}
