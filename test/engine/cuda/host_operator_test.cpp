// SPDX-License-Identifier: Apache-2.0
// Operators that few networks need compute at a place what they do on the CPU.
#include <vector>

#include "engine/cuda/operator_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/host_backend.hpp>

namespace cuda = lamina::engine::cuda;
namespace optimizer = lamina::optimizer;

TEST_CASE("operators that few networks need learn at a place what they do on the CPU") {
  const std::vector<int> sizes = {5, 3, 5};
  const optimizer::sgd sgd{.learning_rate = 0.1f};
  cuda::host_backend<1> one;
  SECTION("likenesses") {
    CHECK(test::train_both(test::likenesses, sgd, one, sizes).worst() < 1e-5);
  }
  SECTION("units") { CHECK(test::train_both(test::units, sgd, one, sizes).worst() < 1e-5); }
  SECTION("regions") { CHECK(test::train_both(test::regions, sgd, one, sizes).worst() < 1e-5); }
}

TEST_CASE("teams of threads compute operators that few networks need as one does", "[threads]") {
  cuda::host_backend<4> backend;
  const optimizer::sgd sgd{.learning_rate = 0.1f};
  CHECK(test::train_both(test::likenesses, sgd, backend, {3}).worst() < 1e-5);
  CHECK(test::train_both(test::regions, sgd, backend, {2}).worst() < 1e-5);
  CHECK(test::train_both(test::units, sgd, backend, {2}).worst() < 1e-5);
}
