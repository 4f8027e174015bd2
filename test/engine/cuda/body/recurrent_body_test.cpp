// SPDX-License-Identifier: Apache-2.0
// Sequences on a device compute what the CPU's engine does.
#include <vector>

#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/sequence_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/body/recurrent_body.cuh>

namespace cuda = lamina::engine::cuda;
namespace optimizer = lamina::optimizer;

TEST_CASE("programs on sequences on a device learn what they do on the CPU") {
  const std::vector<int> sizes = {5, 3, 5, 7};
  cuda::host_backend<1> one;
  SECTION("sentences") {
    CHECK(test::train_both(test::sentences, optimizer::adam{.learning_rate = 0.01f}, one, sizes)
              .worst() < 5e-5);
  }
  SECTION("recurrences") {
    CHECK(test::train_both(test::recurrences, optimizer::sgd{.learning_rate = 0.1f}, one, sizes)
              .worst() < 1e-5);
  }
  SECTION("paragraphs") {
    CHECK(test::train_both(test::paragraphs, optimizer::sgd{.learning_rate = 0.1f}, one, sizes)
              .worst() < 1e-5);
  }
}

TEST_CASE("programs on sequences on a device tell what they do on the CPU") {
  CHECK(test::test_both<cuda::host_backend<1>>(test::sentences, 6) < 1e-5);
  CHECK(test::test_both<cuda::host_backend<1>>(test::recurrences, 6) < 1e-5);
}

TEST_CASE("recurrences with initial states learn on a device what they do on the CPU") {
  const optimizer::sgd how{.learning_rate = 0.1f};
  cuda::host_backend<1> backend;
  CHECK(test::train_both(test::recurrences_of<16>, how, backend, {5, 1, 5}).worst() < 1e-4);
  CHECK(test::train_both(test::recurrences_of<67>, how, backend, {5, 1, 5}).worst() < 1e-4);
  CHECK(test::test_both<cuda::host_backend<1>>(test::recurrences_of<67>, 6) < 1e-5);
}
