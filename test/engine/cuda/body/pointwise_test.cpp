// SPDX-License-Identifier: Apache-2.0
// Every pointwise function and every optimizer's update on a device computes what it does on the
// CPU.
#include <vector>

#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/function_programs.hpp"
#include "engine/cuda/host_backend.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/body/pointwise.cuh>
#include <lamina/optimizer/optimizers.hpp>

namespace cuda = lamina::engine::cuda;
namespace optimizer = lamina::optimizer;

namespace {

const std::vector<int> sizes = {4, 7, 4};

template <class Opt>
void check_update(const Opt& opt) {
  cuda::host_backend<1> one;
  const test::difference d = test::train_both(test::classes, opt, one, sizes);
  CAPTURE(Opt::type, d.cost, d.metric, d.parameters);
  CHECK(d.worst() < 5e-5);
}

}  // namespace

TEST_CASE("functions of numbers and of pairs on a device are those of the CPU") {
  cuda::host_backend<1> one;
  const optimizer::sgd sgd{.learning_rate = 0.001f};
  CHECK(test::train_both(test::unary, sgd, one, sizes).worst() < 2e-5);
  CHECK(test::train_both(test::pairs, sgd, one, sizes).worst() < 2e-5);
}

TEST_CASE("decisions on a device are those of the CPU") {
  CHECK(test::outputs_apart<cuda::host_backend<1>>(test::decisions, sizes) < 1e-6);
}

TEST_CASE("updates of every optimizer on a device are those of the CPU") {
  check_update(optimizer::adadelta{.learning_rate = 0.5f});
  check_update(optimizer::adagrad{.learning_rate = 0.1f});
  check_update(optimizer::adamax{.learning_rate = 0.01f});
  // Divided by their own size alone, gradients of next to nothing would count as much as others.
  check_update(optimizer::decayed_adagrad{.learning_rate = 0.1f, .epsilon = 0.01f});
  check_update(optimizer::ftrl{.learning_rate = 0.1f});
  check_update(optimizer::proximal_adagrad{.learning_rate = 0.1f});
  check_update(optimizer::proximal_gd{.learning_rate = 0.1f});
  check_update(optimizer::rmsprop{.learning_rate = 0.01f});
}
