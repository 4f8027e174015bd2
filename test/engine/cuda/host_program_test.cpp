// SPDX-License-Identifier: Apache-2.0
// Training loops that are programs do on a device what they do on the CPU.
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/training_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/place.hpp>
#include <lamina/optimizer/adagrad.hpp>
#include <lamina/optimizer/lamb.hpp>

namespace cuda = lamina::engine::cuda;
namespace optimizer = lamina::optimizer;
namespace schedule = lamina::schedule;

namespace {

constexpr optimizer::momentum momentum{.learning_rate = 0.1f,
                                       .regularization = lamina::l2_decay(1e-2f)};
constexpr optimizer::sgd scheduled{
    .learning_rate = schedule::linear_lr_warmup{
        .learning_rate = schedule::piecewise_decay({3, 5}, {0.5f, 0.25f, 0.125f}),
        .warmup_steps = 2,
        .start_lr = 0.01f,
        .end_lr = 0.4f}};
constexpr optimizer::adam limited_adam{.learning_rate = 0.02f,
                                       .clip = lamina::clip_by_global_norm(0.2f)};
constexpr optimizer::lamb lamb{.learning_rate = schedule::exponential_decay{
                                   .learning_rate = 0.1f, .decay_steps = 2, .decay_rate = 0.5f}};
constexpr optimizer::adagrad adagrad{
    .learning_rate = 0.1f, .initial_accumulator_value = 0.25f, .clip = lamina::clip_by_norm(0.05f)};
constexpr optimizer::adam lazy{
    .learning_rate = 0.01f, .lazy_mode = true, .clip = lamina::clip_by_global_norm(0.3f)};

/// Work is done as late as it is waited for.
template <class P, class Batches>
double apart(P program, const Batches& batches) {
  cuda::host_backend<1> backend;
  backend.defer();
  return test::run_both(program, backend, batches).worst();
}

}  // namespace

TEST_CASE("a training loop that is a program learns on a device what it does on the CPU") {
  const auto batches = test::row_minibatches();
  SECTION("momentum and decay") { CHECK(apart(test::trained<momentum>, batches) < 1e-5); }
  SECTION("a schedule") { CHECK(apart(test::trained<scheduled>, batches) < 1e-5); }
  SECTION("adam, norms together") { CHECK(apart(test::trained<limited_adam>, batches) < 5e-5); }
  SECTION("lamb") { CHECK(apart(test::trained<lamb>, batches) < 2e-5); }
  SECTION("accumulators that begin with a number, norms apart") {
    CHECK(apart(test::trained<adagrad>, batches) < 1e-5);
  }
}

TEST_CASE("a place stores values, and updates what a choice of parameters names") {
  CHECK(apart(test::storing<momentum>, test::row_minibatches()) < 1e-5);
}

TEST_CASE("a place says when a training loop ends, where its values decide") {
  const auto batches = test::row_minibatches();
  CHECK(apart(test::until_learned<momentum>, batches) < 1e-5);
  cuda::host_backend<1> backend;
  lamina::model model{test::until_learned<momentum>, 3};
  const lamina::run_summary summary = lamina::run_by(backend, model, batches, {.seed = 11});
  CHECK(summary.minibatches > 1);
  CHECK(summary.minibatches < 12);
}

TEST_CASE("passes around mini-batches of sentences on a device are those of the CPU") {
  CHECK(apart(test::passes<lazy>, test::sentence_minibatches()) < 5e-5);
}

TEST_CASE("what a mini-batch on a device has wrong is told when the next one is read") {
  cuda::host_backend<1> backend;
  using P = std::remove_const_t<decltype(test::trained<momentum>)>;
  lamina::model<P> model{test::trained<momentum>, 3};
  auto batches = test::row_minibatches();
  std::get<1>(batches[1][2]) = 7;
  CHECK_THROWS_WITH(lamina::run_by(backend, model, batches, {}),
                    "lamina: layer softmax_with_cross_entropy_0, feed 'train_1': label in row 2: "
                    "expected 0 to 2, found another in a loop or branch");
  const auto good = test::row_minibatches();
  const lamina::run_program_options few{.iterations = 3};
  CHECK_THROWS_WITH(lamina::run_by(backend, model, good, few),
                    Catch::Contains("to be false after 3 iterations, found true"));
}

TEST_CASE("without lamina.cuh a device is no place to run a program at") {
  lamina::model model{test::trained<momentum>, 3};
  CHECK_THROWS_WITH(lamina::run(model, test::row_minibatches(), {.place = lamina::cuda::place{0}}),
                    Catch::Contains("expected the CPU as place"));
}
