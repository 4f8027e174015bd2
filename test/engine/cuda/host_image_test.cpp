// SPDX-License-Identifier: Apache-2.0
// Convolutions, pooling and normalisation at a place compute what the CPU's engine does.
#include <vector>

#include "engine/cuda/image_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/host_backend.hpp>

namespace cuda = lamina::engine::cuda;
namespace optimizer = lamina::optimizer;

TEST_CASE("convolutional networks at a place learn what they do on the CPU") {
  const std::vector<int> sizes = {5, 3, 5};
  cuda::host_backend<1> one;
  SECTION("lenet") {
    CHECK(
        test::train_both(test::lenet, optimizer::adam{.learning_rate = 0.01f}, one, sizes).worst() <
        5e-5);
  }
  SECTION("residual blocks") {
    CHECK(test::train_both(test::residual, optimizer::momentum{.learning_rate = 0.05f}, one, sizes)
              .worst() < 5e-5);
  }
  SECTION("windows of every kind") {
    CHECK(
        test::train_both(test::windows, optimizer::sgd{.learning_rate = 0.1f}, one, sizes).worst() <
        1e-5);
  }
}

TEST_CASE("convolutional networks at a place tell what they do on the CPU") {
  CHECK(test::test_both<cuda::host_backend<1>>(test::residual, 6) < 1e-5);
  CHECK(test::test_both<cuda::host_backend<1>>(test::windows, 6) < 1e-5);
}
