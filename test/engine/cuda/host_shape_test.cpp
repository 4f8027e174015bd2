// SPDX-License-Identifier: Apache-2.0
// Data movement, reductions, normalised rows and products of batches at a place compute what the
// CPU's engine does.
#include <vector>

#include "engine/cuda/shape_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/host_backend.hpp>

namespace cuda = lamina::engine::cuda;
namespace optimizer = lamina::optimizer;

TEST_CASE("programs that move data at a place learn what they do on the CPU") {
  const std::vector<int> sizes = {5, 3, 5};
  cuda::host_backend<1> one;
  const optimizer::sgd sgd{.learning_rate = 0.1f};
  SECTION("attention") { CHECK(test::train_both(test::attention, sgd, one, sizes).worst() < 1e-5); }
  SECTION("shapes") { CHECK(test::train_both(test::shapes, sgd, one, sizes).worst() < 1e-5); }
  SECTION("reductions") {
    CHECK(test::train_both(test::reductions, sgd, one, sizes).worst() < 1e-5);
  }
  SECTION("lookups") { CHECK(test::train_both(test::lookups, sgd, one, {5, 6, 5}).worst() < 1e-5); }
}

TEST_CASE("teams of threads move, reduce and multiply as one does", "[threads]") {
  cuda::host_backend<4> backend;
  CHECK(test::train_both(test::attention, optimizer::sgd{.learning_rate = 0.1f}, backend, {3})
            .worst() < 1e-5);
}
