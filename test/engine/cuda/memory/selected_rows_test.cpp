// SPDX-License-Identifier: Apache-2.0
// Gradients of embeddings of which only some rows are there train on a device as on the CPU.
#include <type_traits>
#include <vector>

#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/selected_rows_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/memory/selected_rows.cuh>
#include <lamina/engine/cuda/place.hpp>
#include <lamina/model/device/device_machine.hpp>
#include <lamina/model/gradient_machine.hpp>
#include <lamina/optimizer/adagrad.hpp>
#include <lamina/optimizer/lamb.hpp>
#include <lamina/optimizer/rmsprop.hpp>

namespace cuda = lamina::engine::cuda;
namespace optimizer = lamina::optimizer;

namespace {

/// Mini-batches whose rows grow, come back and are recorded.
const std::vector<int> sizes = {7, 3, 7, 12, 12, 12, 7};

template <class Opt, class Backend>
double apart(const Opt& opt, Backend& backend, const std::vector<int>& batches = sizes) {
  return test::train_both(test::tables, opt, backend, batches, 5).worst();
}

template <class Opt>
double apart(const Opt& opt) {
  cuda::host_backend<1> recorder;
  recorder.record();
  recorder.defer();
  return apart(opt, recorder);
}

}  // namespace

TEST_CASE("optimizers update rows on a device as on the CPU") {
  SECTION("sgd") { CHECK(apart(optimizer::sgd{.learning_rate = 0.5f}) < 1e-5); }
  SECTION("momentum") { CHECK(apart(optimizer::momentum{.learning_rate = 0.1f}) < 1e-5); }
  SECTION("adagrad") { CHECK(apart(optimizer::adagrad{.learning_rate = 0.1f}) < 1e-5); }
  SECTION("rmsprop") { CHECK(apart(optimizer::rmsprop{.learning_rate = 0.01f}) < 1e-5); }
  SECTION("adam") { CHECK(apart(optimizer::adam{.learning_rate = 0.01f}) < 5e-5); }
  SECTION("lazy adam") {
    CHECK(apart(optimizer::adam{.learning_rate = 0.01f, .lazy_mode = true}) < 5e-5);
  }
  SECTION("lamb, which needs norms") {
    CHECK(apart(optimizer::lamb{.learning_rate = 0.02f}) < 2e-5);
  }
}

TEST_CASE("clips and decays of rows on a device are those of the CPU") {
  CHECK(apart(optimizer::sgd{.learning_rate = 0.5f, .regularization = lamina::l2_decay(0.1f)}) <
        1e-5);
  // A row without a gradient is not lifted to the lower bound.
  CHECK(apart(optimizer::momentum{.learning_rate = 0.1f, .clip = lamina::clip_by_value(1e-3f, 1)}) <
        1e-5);
  CHECK(apart(optimizer::sgd{.learning_rate = 0.5f, .clip = lamina::clip_by_norm(0.05f)}) < 1e-5);
  CHECK(apart(optimizer::adam{
            .learning_rate = 0.01f, .lazy_mode = true, .clip = lamina::clip_by_global_norm(0.1f)}) <
        5e-5);
  CHECK(apart(optimizer::lamb{.learning_rate = 0.02f, .clip = lamina::clip_by_global_norm(0.1f)}) <
        2e-5);
}

TEST_CASE("rows of sequences that a program makes are updated as on the CPU") {
  cuda::host_backend<1> backend;
  backend.defer();
  CHECK(test::train_both(test::kept_words, optimizer::sgd{.learning_rate = 0.1f}, backend,
                         {5, 3, 9, 3})
            .worst() < 1e-5);
}

TEST_CASE("a mini-batch without words leaves a table as it was") {
  using P = std::remove_const_t<decltype(test::kept_words)>;
  cuda::host_backend<1> backend;
  lamina::model m{test::kept_words, 3};
  lamina::device_trainer<P, optimizer::sgd, cuda::host_backend<1>> t(
      backend, {.learning_rate = 0.1f}, m, 11);
  const test::random_samples<P> s(6, 5);
  t.step(s.batch(0, 6));
  t.copy_to_host();
  const auto words = [&] {
    const auto w = m.template parameter<"words">();
    return std::vector<float>(w.data(), w.data() + w.size());
  };
  const std::vector<float> before = words();
  lamina::feeder<P> empty;
  empty.fill(std::vector<std::vector<std::int64_t>>(3));
  t.step(empty.view());
  t.copy_to_host();
  CHECK(words() == before);
}

TEST_CASE("a gradient machine on a device shows gradients of rows") {
  using P = std::remove_const_t<decltype(test::tables)>;
  using on_device = lamina::device_machine<P, cuda::host_backend<1>, lamina::gradient_program<P>>;
  const lamina::model model{test::tables, 3};
  const test::random_samples<P> s(9, 5);
  lamina::gradient_machine expected{model};
  lamina::gradient_machine<P, on_device> found(model, lamina::place{});
  for (const int n : {9, 2}) {
    CHECK(found.backward(s.batch(0, n)) == Approx(expected.backward(s.batch(0, n))));
    const auto same = [](const auto& a, const auto& b) {
      double worst = 0, largest = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        worst = std::max(worst, static_cast<double>(std::abs(a.data()[i] - b.data()[i])));
        largest = std::max(largest, static_cast<double>(std::abs(a.data()[i])));
      }
      CHECK(largest > 0);
      CHECK(worst <= 1e-5 * largest);
    };
    same(expected.gradient<"words">(), found.gradient<"words">());
    same(expected.gradient<"users">(), found.gradient<"users">());
    same(expected.gradient<"both">(), found.gradient<"both">());
  }
}
