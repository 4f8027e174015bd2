// SPDX-License-Identifier: Apache-2.0
// Sums over all rows that are cut into parts, those of normalisation and of channels, are what they
// are on the CPU.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "engine/cuda/norm_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/host_backend.hpp>
#include <lamina/engine/cuda/part_sums.hpp>

namespace cuda = lamina::engine::cuda;
namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;

namespace {

const optimizer::sgd sgd{.learning_rate = 0.1f};

template <class Body>
inline constexpr bool is_channel_parts = false;
template <class Sum>
inline constexpr bool is_channel_parts<cuda::channel_parts_body<Sum>> = true;
template <class Body>
inline constexpr bool is_column_parts = false;
template <class Sum, class Shape>
inline constexpr bool is_column_parts<cuda::column_parts_body<Sum, Shape>> = true;
template <class Body>
inline constexpr bool is_joined_parts = false;
template <class Sum>
inline constexpr bool is_joined_parts<cuda::joined_parts_body<Sum>> = true;

/// A host that notes into how many parts sums by channels and by columns are cut, whether these are
/// packs, and how many sums are joined.
struct noting : cuda::host_backend<1> {
  using host = cuda::host_backend<1>;
  using host::host;
  std::vector<int> channels, columns;
  int packs = 0, joined = 0;

  template <class Body>
  void lines(const typename Body::arguments& a) {
    if constexpr (is_channel_parts<Body>) {
      channels.push_back(a.parts);
      packs += a.packs ? 1 : 0;
      CHECK(a.lines == a.channels * a.parts);
    }
    joined += is_joined_parts<Body> ? 1 : 0;
    host::template lines<Body>(a);
  }
  template <class Body>
  void teams(const typename Body::arguments& a) {
    if constexpr (is_column_parts<Body>) {
      columns.push_back(a.parts);
      packs += a.packs ? 1 : 0;
      CHECK(Body::teams(a) % a.parts == 0);
    }
    host::template teams<Body>(a);
  }
};
using numbers = std::vector<int>;
// Offsets and moving means are near 0, sums of thousands of terms of both signs.
constexpr double most = 1e-4;
/// Tiles of columns as those of a device.
struct cuda_tiles {
  using sum_tile = cuda::sum_shape<8, 32>;
};

}  // namespace

TEST_CASE("images that are normalised in parts learn at a place what they do on the CPU") {
  noting place;
  SECTION("whole packs") {
    CHECK(test::train_both(test::normalised_images<28, 28>, sgd, place, {11, 4, 30}).worst() <
          most);
    // Of each mini-batch: moments, the gradient's sums, the sums of the bias.
    CHECK(place.channels == numbers{2, 2, 2, 1, 1, 1, 5, 5, 5});
    CHECK(place.packs == 9);
    CHECK(place.joined == 6);
  }
  SECTION("odd sides") {
    CHECK(test::train_both(test::normalised_images<27, 31>, sgd, place, {25, 9, 11}).worst() <
          most);
    CHECK(place.channels == numbers{5, 5, 5, 1, 1, 1, 2, 2, 2});
    CHECK(place.packs == 0);
    CHECK(place.joined == 6);
  }
  CHECK(place.columns.empty());
}

TEST_CASE("few and large images are cut inside of a row") {
  noting place;
  CHECK(test::train_both(test::normalised_images<90, 95>, sgd, place, {1, 2}).worst() < most);
  CHECK(place.channels == numbers{2, 2, 2, 4, 4, 4});
}

TEST_CASE("columns that are normalised in parts learn at a place what they do on the CPU") {
  noting place;
  CHECK(test::train_both(test::normalised_columns, sgd, place, {300, 40, 900}).worst() < 5e-5);
  // Of 20, 24, 21 and 9 columns; few rows are taken by channels.
  CHECK(place.columns == numbers{50, 38, 12, 18, 18, 12, 38, 50, 50, 41, 12, 28, 28, 12, 41, 50});
  CHECK(place.channels == numbers(8, 1));
  CHECK(place.joined == 16);
}

TEST_CASE("rows that are normalised learn at a place what they do on the CPU") {
  noting place;
  CHECK(test::train_both(test::normalised_rows, sgd, place, {60, 1, 7}).worst() < 5e-5);
  // The gradients' sums, of the last layer first.
  CHECK(place.columns == numbers{3, 45, 18, 15, 1, 1, 1, 1, 1, 5, 2, 1});
  CHECK(place.packs == 6);
  CHECK(place.joined == 6);
}

TEST_CASE("groups that are normalised in parts learn at a place what they do on the CPU") {
  noting place;
  CHECK(test::train_both(test::normalised_groups<28, 28>, sgd, place, {11, 4, 16}).worst() < 5e-5);
  CHECK(test::train_both(test::normalised_groups<27, 31>, sgd, place, {11}).worst() < 5e-5);
  CHECK(place.channels == numbers{2, 2, 2, 1, 1, 1, 3, 3, 3, 2, 2, 2});
  CHECK(place.packs == 9);
}

TEST_CASE("a mini-batch without images teaches nothing at a place either") {
  noting place;
  CHECK(test::train_both(test::normalised_images<28, 28>, sgd, place, {11, 0, 11}).worst() < most);
  CHECK(test::train_both(test::normalised_columns, sgd, place, {0, 300, 0}).worst() < 5e-5);
  CHECK(test::train_both(test::normalised_rows, sgd, place, {0, 9, 0}).worst() < 5e-5);
}

TEST_CASE("what is normalised in parts tells in test mode what it does on the CPU") {
  CHECK(test::test_both<noting>(test::normalised_images<28, 28>, 12) < 1e-5);
  CHECK(test::test_both<noting>(test::normalised_columns, 300) < 1e-5);
  CHECK(test::test_both<noting>(test::normalised_rows, 60) < 1e-5);
  CHECK(test::test_both<noting>(test::normalised_groups<27, 31>, 12) < 1e-5);
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
  noting place;
  lamina::device_trainer<P, optimizer::sgd, noting> t(place, sgd, m, 11);
  lamina::batch_view<P> batch;
  batch.rows.count[lamina::batch::domain] = rows;
  batch.data[0] = reinterpret_cast<const std::byte*>(x.data());
  t.step(batch);
  t.bring_back();
  CHECK(place.joined == 2);
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

TEST_CASE("parts of numbers far from 0 have the variance that they have in double") {
  for (const float deviation : {0.1f, 0.01f}) {
    CHECK(variances_apart(far_off<40, 50>, 30, deviation) < 1e-4);
    CHECK(variances_apart(far_off<41, 47>, 30, deviation) < 1e-4);
    CHECK(variances_apart(far_off<>, 5000, deviation) < 1e-4);
    CHECK(variances_apart(far_off<2, 2>, 5000, deviation) < 1e-4);
  }
}

TEST_CASE("parts of sums fit into the memory of as many rows, or of more") {
  using split = cuda::part_split;
  using shape = cuda_tiles::sum_tile;
  using lone = cuda::lone_float;
  // CIFAR's images in mini-batches of 256: 256 teams.
  CHECK(split::of_channels(256, 16, 1024) == 16);
  CHECK(split::of_channels(256, 32, 256) == 8);
  CHECK(split::of_channels(256, 64, 64) == 4);
  CHECK(split::of_channels(4, 16, 1024) == 1);
  CHECK(split::of_channels(256, 512, 1024) == 1);
  // Rows of 512 elements: 16 teams a part.
  CHECK(split::of_columns<shape, cuda::pack>(8192, 512) == 16);
  CHECK(split::of_columns<shape, cuda::pack>(255, 512) == 1);
  CHECK(split::of_columns<shape, lone>(8192, 511) == 4);
  using sum = cuda::added_parts<2>;
  for (const int channels : {1, 3, 16, 64, 300})
    for (const int size : {1, 2, 7, 8, 49, 1024}) {
      std::ptrdiff_t room = 0;
      for (int rows = 0; rows < 3000; rows += 1 + rows / 50) {
        const auto next = cuda::image_part_floats<sum, cuda_tiles>(rows, channels, size);
        if (next < room) FAIL_CHECK(rows << " rows of " << channels << " times " << size);
        room = next;
      }
    }
}

TEST_CASE("a line is a warp's, or, of very many that are short, a part's of one") {
  CHECK(cuda::line_team_bits(64, 10) == 5);
  CHECK(cuda::line_team_bits(8191, 10) == 5);
  CHECK(cuda::line_team_bits(8192, 16) == 2);
  CHECK(cuda::line_team_bits(8192, 17) == 3);
  CHECK(cuda::line_team_bits(1 << 18, 32) == 3);
  CHECK(cuda::line_team_bits(1 << 18, 33) == 5);
}
