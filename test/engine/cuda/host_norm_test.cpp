// SPDX-License-Identifier: Apache-2.0
// Programs that normalise on a device.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/norm_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/body/channel_sums.cuh>
#include <lamina/engine/cuda/body/column_sums.cuh>
#include <lamina/engine/cuda/body/element_sum.cuh>

namespace cuda = lamina::engine::cuda;
namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;

namespace {

const optimizer::sgd sgd{.learning_rate = 0.1f};

using serial = cuda::host_backend<1>;

// Offsets and moving means are near 0, sums of thousands of terms of both signs.
constexpr double most = 1e-4;

}  // namespace

TEST_CASE("images that are normalised learn on a device what they do on the CPU") {
  serial place;
  CHECK(test::train_both(test::normalised_images<28, 28>, sgd, place, {11, 4, 30}).worst() < most);
  CHECK(test::train_both(test::normalised_images<27, 31>, sgd, place, {25, 9, 11}).worst() < most);
  CHECK(test::train_both(test::normalised_images<90, 95>, sgd, place, {1, 2}).worst() < most);
}

TEST_CASE("columns that are normalised learn on a device what they do on the CPU") {
  serial place;
  CHECK(test::train_both(test::normalised_columns, sgd, place, {300, 40, 900}).worst() < 5e-5);
}

TEST_CASE("rows that are normalised learn on a device what they do on the CPU") {
  serial place;
  CHECK(test::train_both(test::normalised_rows, sgd, place, {60, 1, 7}).worst() < 5e-5);
}

TEST_CASE("groups that are normalised learn on a device what they do on the CPU") {
  serial place;
  CHECK(test::train_both(test::normalised_groups<28, 28>, sgd, place, {11, 4, 16}).worst() < 5e-5);
  CHECK(test::train_both(test::normalised_groups<27, 31>, sgd, place, {11}).worst() < 5e-5);
}

TEST_CASE("a mini-batch without images teaches nothing on a device either") {
  serial place;
  CHECK(test::train_both(test::normalised_images<28, 28>, sgd, place, {11, 0, 11}).worst() < most);
  CHECK(test::train_both(test::normalised_columns, sgd, place, {0, 300, 0}).worst() < 5e-5);
  CHECK(test::train_both(test::normalised_rows, sgd, place, {0, 9, 0}).worst() < 5e-5);
}

TEST_CASE("what is normalised tells in test mode what it does on the CPU") {
  CHECK(test::test_both<serial>(test::normalised_images<28, 28>, 12) < 1e-5);
  CHECK(test::test_both<serial>(test::normalised_columns, 300) < 1e-5);
  CHECK(test::test_both<serial>(test::normalised_rows, 60) < 1e-5);
  CHECK(test::test_both<serial>(test::normalised_groups<27, 31>, 12) < 1e-5);
}

namespace {

/// What is normalised by itself; the moving statistics are those of the last mini-batch.
template <int... D>
constexpr auto far_off = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3, D...>(main);
  return layer::mean(layer::square(layer::batch_norm(x, {.momentum = 0})));
});

/// How far variances are from those in double, of themselves, of numbers around 1000; that means
/// are as near as floats are.
template <class P>
double variances_apart(P program, int rows, float deviation) {
  constexpr int size = lamina::matrix_of(P::desc.variables[P::desc.data[0]], P::desc.dims).columns;
  constexpr int channels = 3, each = size / channels;
  std::mt19937 random(5);
  std::normal_distribution<float> normal(1000, deviation);
  std::vector<float> x(static_cast<std::size_t>(rows * size));
  for (float& v : x) v = normal(random);
  // The first one tells little of the others.
  x[0] = 0;
  lamina::model m{program, 3};
  serial place;
  lamina::device_trainer<P, optimizer::sgd, serial> t(place, sgd, m, 11);
  lamina::batch_view<P> batch;
  batch.rows.count[lamina::batch::domain] = rows;
  batch.data[0] = reinterpret_cast<const std::byte*>(x.data());
  t.step(batch);
  t.copy_to_host();
  double worst = 0;
  for (int c = 0; c < channels; ++c) {
    const auto sum_over = [&](const auto& f) {
      double sum = 0;
      for (int r = 0; r < rows; ++r)
        for (int j = 0; j < each; ++j)
          sum += f(static_cast<double>(x[static_cast<std::size_t>(r * size + c * each + j)]));
      return sum / (rows * each);
    };
    const double mean = sum_over([](double v) { return v; });
    const double variance = sum_over([=](double v) { return (v - mean) * (v - mean); });
    const double found = static_cast<double>(m.get(2).data()[c]);
    const double spread = static_cast<double>(m.get(3).data()[c]);
    CHECK(std::abs(found - mean) < 1e-4);
    worst = std::max(worst, std::abs(spread - variance) / variance);
  }
  return worst;
}

}  // namespace

TEST_CASE("numbers far from 0 have the variance that they have in double") {
  for (const float deviation : {0.1f, 0.01f}) {
    CHECK(variances_apart(far_off<40, 50>, 30, deviation) < 1e-4);
    CHECK(variances_apart(far_off<41, 47>, 30, deviation) < 1e-4);
    CHECK(variances_apart(far_off<>, 5000, deviation) < 1e-4);
    CHECK(variances_apart(far_off<2, 2>, 5000, deviation) < 1e-4);
  }
}
