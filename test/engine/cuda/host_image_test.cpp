// SPDX-License-Identifier: Apache-2.0
// Convolutions, pooling and normalisation at a place compute what the CPU's engine does.
#include <type_traits>
#include <vector>

#include "engine/cuda/conv_host.hpp"
#include "engine/cuda/image_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/host_backend.hpp>
#include <lamina/engine/cuda/tensor_backend.hpp>

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

namespace {
/// Which way filters of some sizes choose.
constexpr cuda::conv_way forward_of(int filters, int groups = 1) {
  const int dims[] = {filters, 7, 3, 3};
  return cuda::way_of_images<cuda::conv_kind::forward>({dims, 4, groups});
}
constexpr cuda::conv_way spread_of(int channels) {
  const int dims[] = {100, channels, 3, 3};
  return cuda::way_of_images<cuda::conv_kind::spread>({dims, 4, 1});
}
constexpr cuda::conv_way filters_of(int filters, int channels) {
  const int dims[] = {filters, channels, 3, 3};
  return cuda::way_of_filters({dims, 4, 1});
}
}  // namespace

TEST_CASE("a convolution takes the tile that fits its channels") {
  using enum cuda::conv_way;
  STATIC_REQUIRE(forward_of(8) == direct);
  STATIC_REQUIRE(forward_of(9) == quarter);
  STATIC_REQUIRE(forward_of(16) == quarter);
  STATIC_REQUIRE(forward_of(17) == half);
  STATIC_REQUIRE(forward_of(32) == half);
  STATIC_REQUIRE(forward_of(33) == whole);
  STATIC_REQUIRE(forward_of(33, 3) == quarter);
  STATIC_REQUIRE(spread_of(8) == direct);
  STATIC_REQUIRE(spread_of(16) == quarter);
  STATIC_REQUIRE(spread_of(32) == half);
  STATIC_REQUIRE(spread_of(33) == whole);
  STATIC_REQUIRE(filters_of(4, 16) == direct);
  STATIC_REQUIRE(filters_of(16, 16) == quarter);
  STATIC_REQUIRE(filters_of(32, 32) == half);
  STATIC_REQUIRE(filters_of(64, 64) == whole);
  // Bits do not stand for so many taps.
  constexpr int broad[] = {64, 64, 15, 15}, long_ones[] = {64, 64, 1, 40};
  STATIC_REQUIRE(cuda::way_of_images<cuda::conv_kind::forward>({broad, 4, 1}) == whole);
  STATIC_REQUIRE(cuda::way_of_images<cuda::conv_kind::spread>({long_ones, 4, 1}) == direct);
  STATIC_REQUIRE(cuda::way_of_filters({long_ones, 4, 1}) == direct);
  // Filters that see little: what is empty is the same, and the whole tile reads the least.
  STATIC_REQUIRE(filters_of(16, 3) == whole);
}

TEST_CASE("low tiles have the threads of high ones, and room in shared memory") {
  using tile = cuda::tile_shape<64, 64, 16, 4>;
  STATIC_REQUIRE(std::is_same_v<tile::flat<1>, tile>);
  STATIC_REQUIRE(std::is_same_v<tile::flat<2>, cuda::tile_shape<32, 128, 16, 4>>);
  STATIC_REQUIRE(std::is_same_v<tile::flat<4>, cuda::tile_shape<16, 256, 16, 4>>);
  STATIC_REQUIRE(tile::flat<4>::threads == tile::threads);
  using tensor = cuda::tensor_shape<cuda::tf32_format, 64, 64, 32, 2, 2>;
  STATIC_REQUIRE(std::is_same_v<tensor::flat<1>, tensor>);
  STATIC_REQUIRE(
      std::is_same_v<tensor::flat<2>, cuda::tensor_shape<cuda::tf32_format, 32, 128, 16, 1, 4>>);
  STATIC_REQUIRE(
      std::is_same_v<tensor::flat<4>, cuda::tensor_shape<cuda::tf32_format, 16, 128, 16, 1, 4>>);
  STATIC_REQUIRE(tensor::flat<4>::threads == tensor::threads);
  STATIC_REQUIRE(sizeof(tensor::flat<2>::memory) <= 48 * 1024);
  STATIC_REQUIRE(sizeof(tensor::flat<4>::memory) <= 48 * 1024);
  // Those of a host of one thread, and of four.
  using one = cuda::host_backend<1>::product_tile;
  STATIC_REQUIRE(std::is_same_v<one::flat<2>, cuda::tile_shape<2, 4, 4, 2>>);
  STATIC_REQUIRE(std::is_same_v<one::flat<4>, cuda::tile_shape<1, 4, 4, 1>>);
  using four = cuda::host_backend<4>::product_tile;
  STATIC_REQUIRE(std::is_same_v<four::flat<2>, cuda::tile_shape<4, 16, 4, 4>>);
  STATIC_REQUIRE(std::is_same_v<four::flat<4>, cuda::tile_shape<2, 16, 4, 2>>);
}

TEST_CASE("convolutions by every tile at a place learn what they do on the CPU") {
  test::conv_host<cuda::host_backend<1>> one;
  CHECK(test::train_both(test::channels, optimizer::sgd{.learning_rate = 0.01f}, one, {3}).worst() <
        1e-5);
  CHECK(one.small == test::small_of_channels);
  CHECK(one.large == test::large_of_channels);
  CHECK(one.filters == test::filters_of_channels);
}

TEST_CASE("a program has the kernels alone that its convolutions take") {
  // Of 9 and 17 channels, and no gradient of its images.
  test::conv_host<cuda::host_backend<1>, false> one;
  CHECK(test::train_both(test::lenet, optimizer::sgd{.learning_rate = 0.1f}, one, {3}).worst() <
        1e-5);
  CHECK(one.small == test::way_counts{0, 1, 1, 0});
  CHECK(one.large == test::way_counts{0, 1, 0, 0});
  CHECK(one.filters == test::way_counts{0, 0, 1, 1});
}

TEST_CASE("terms of a convolution are cut where it has few tiles") {
  test::conv_host<cuda::host_backend<1>> one;
  const optimizer::sgd sgd{.learning_rate = 0.01f};
  CHECK(test::train_both(test::channels, sgd, one, {1}).worst() < 2e-5);
  CHECK(one.cut > 0);
  const int of_few = one.cut;
  one.cut = 0;
  CHECK(test::train_both(test::channels, sgd, one, {40}).worst() < 1e-5);
  CHECK(one.cut < of_few);
}

TEST_CASE("parts of a convolution fit into the memory of as many images, or of more") {
  using shape = cuda::tensor_shape<cuda::float32_format, 64, 64, 32, 2, 2>;
  using split = cuda::detail::conv_split<cuda::conv_kind::spread, shape::flat<2>>;
  // LeNet's second convolution: 20 channels of 12 x 12 from 50 of 8 x 8.
  constexpr int dims[] = {50, 20, 5, 5};
  lamina::engine::conv_shape s(dims, 4, 1);
  for (int d = 1; d < 3; ++d) s.side[d] = {12, 8, 5, 1, 0, 1};
  const split of(s);
  CHECK(of.terms() == 1250);
  CHECK(of.parts(64) == 5);
  CHECK(of.parts(1) == 9);
  CHECK(of.parts(1000) == 1);
  CHECK(of.part_terms(5) == 256);
  for (int rows = 1; rows < 600; ++rows) {
    const auto needed = [&](int r) {
      return of.parts(r) > 1 ? std::ptrdiff_t{of.parts(r)} * r * 20 * 144 : 0;
    };
    if (needed(rows) > of.scratch(rows) || of.scratch(rows - 1) > of.scratch(rows))
      FAIL_CHECK(rows << " images");
  }
  // 20 channels of 7 x 7 are no whole packs; 9 of 3 x 3 not even one with all of them.
  for (int d = 1; d < 3; ++d) s.side[d] = {7, 3, 5, 1, 0, 1};
  CHECK(split(s).parts(1) == 9);
  constexpr int odd[] = {50, 9, 5, 5};
  lamina::engine::conv_shape t(odd, 4, 1);
  for (int d = 1; d < 3; ++d) t.side[d] = {7, 3, 5, 1, 0, 1};
  CHECK(split(t).parts(1) == 1);
  CHECK(split(t).scratch(1) == 0);
}
