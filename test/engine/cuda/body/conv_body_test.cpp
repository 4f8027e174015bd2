// SPDX-License-Identifier: Apache-2.0
// Convolutions, pooling and normalisation on a device compute what the CPU's engine does.
#include <cmath>
#include <vector>

#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/image_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/body/conv_body.cuh>
#include <lamina/operators/conv/cuda.cuh>

namespace cuda = lamina::engine::cuda;
namespace optimizer = lamina::optimizer;

TEST_CASE("convolutional networks on a device learn what they do on the CPU") {
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

TEST_CASE("convolutional networks on a device tell what they do on the CPU") {
  CHECK(test::test_both<cuda::host_backend<1>>(test::residual, 6) < 1e-5);
  CHECK(test::test_both<cuda::host_backend<1>>(test::windows, 6) < 1e-5);
}

TEST_CASE("convolutions on a device learn what they do on the CPU") {
  const optimizer::sgd sgd{.learning_rate = 0.01f};
  SECTION("by a thread for each tile") {
    cuda::host_backend<1> one;
    CHECK(test::train_both(test::channels, sgd, one, {3}).worst() < 1e-5);
    CHECK(test::train_both(test::filters, sgd, one, {3, 1}).worst() < 1e-5);
    CHECK(test::train_both(test::deep_windows, sgd, one, {3, 1, 3}).worst() < 1e-5);
  }
  SECTION("by some threads") {
    cuda::host_backend<4> four;
    CHECK(test::train_both(test::channels, sgd, four, {1}).worst() < 1e-5);
    CHECK(test::train_both(test::filters, sgd, four, {2}).worst() < 1e-5);
    CHECK(test::train_both(test::deep_windows, sgd, four, {2}).worst() < 1e-5);
  }
}

TEST_CASE("the gradient of filters keeps its digits where images are large") {
  // One filter of 1 x 1 over 3 images of 400 x 400: 480,000 equal terms. A float that
  // adds them one after the other is wrong by 4 in 1000.
  constexpr int side = 400, size = side * side, images = 3;
  std::vector<float> large(images * size, 1.1f), small(images * size, 1.3f);
  alignas(16) float gradient[16];
  const double expected = images * size * static_cast<double>(large[0]) * small[0];
  lamina::engine::conv_shape s;
  for (int d = 1; d < 3; ++d) s.side[d] = {side, side, 1, 1, 0, 1};
  const auto operand_of = [](float* data, int rows, int columns, int stride) {
    lamina::engine::operand o{};
    o.data = data;
    o.rows = rows;
    o.columns = columns;
    o.stride = stride;
    return o;
  };
  cuda::host_backend<1> one;
  const cuda::detail::filter_gradient made(s, images);
  constexpr cuda::conv_folds fold = cuda::fold_of_filters({});
  std::vector<double> scratch(made.scratch<fold, cuda::host_backend<1>>() / 2);
  made.run<fold>(one, operand_of(large.data(), images, size, size),
                 operand_of(small.data(), images, size, size), operand_of(gradient, 1, 1, 16),
                 reinterpret_cast<float*>(scratch.data()));
  CHECK(std::abs(gradient[0] - expected) < 1e-5 * expected);
}
