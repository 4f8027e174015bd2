// SPDX-License-Identifier: Apache-2.0
// Sums over rows and over channels, against long double.
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

namespace {

using serial = cuda::host_backend<1>;

using team = cuda::host_backend<4>;

/// Rows of numbers around 1000, behind each other with some floats between.
struct array {
  int rows, columns;
  std::ptrdiff_t stride;
  std::vector<float> data;

  array(int r, int c)
      : rows(r), columns(c), stride(c + 3), data(static_cast<std::size_t>(r * stride + 1)) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal(1000, 300);
    for (float& x : data) x = normal(random);
  }
  long double sum(int first, int end) const {
    long double all = 0;
    for (int r = 0; r < rows; ++r)
      for (int c = first; c < end; ++c) all += data[static_cast<std::size_t>(r * stride + c)];
    return all;
  }
};

bool is_near(float found, long double expected) {
  return std::abs(found - expected) <= 1e-7L * std::abs(expected);
}

template <class Backend>
void check_columns(int rows, int columns) {
  CAPTURE(rows, columns);
  const array x(rows, columns);
  std::vector<float> to(static_cast<std::size_t>(columns + 1), -1.0f);
  std::vector<double> scratch(
      static_cast<std::size_t>(cuda::column_scratch<Backend>(1, rows, columns) / 2));
  Backend b;
  cuda::sum_columns(b, cuda::array_terms{x.data.data(), x.stride}, cuda::store_sums{to.data()},
                    rows, columns, reinterpret_cast<float*>(scratch.data()));
  bool equal = true;
  for (int c = 0; c < columns; ++c)
    equal = equal && is_near(to[static_cast<std::size_t>(c)], x.sum(c, c + 1));
  CHECK(equal);
  CHECK(to.back() == -1.0f);
}

template <class Backend>
void check_channels(int rows, int channels, int size) {
  CAPTURE(rows, channels, size);
  array x(rows, channels * size);
  std::vector<float> to(static_cast<std::size_t>(channels + 1), -1.0f);
  Backend b;
  lamina::engine::operand from{}, sums{};
  from.data = x.data.data();
  from.rows = rows;
  from.columns = x.columns;
  from.stride = x.stride;
  sums.data = to.data();
  sums.rows = 1;
  sums.columns = channels;
  std::vector<double> scratch(
      static_cast<std::size_t>(cuda::channel_scratch(1, {from, channels}) / 2));
  cuda::add_channels(b, from, sums, reinterpret_cast<float*>(scratch.data()));
  bool equal = true;
  for (int c = 0; c < channels; ++c)
    equal = equal && is_near(to[static_cast<std::size_t>(c)], x.sum(c * size, (c + 1) * size));
  CHECK(equal);
  CHECK(to.back() == -1.0f);
}

}  // namespace

TEST_CASE("sums of columns are those in long double") {
  for (const int columns : {1, 3, 16, 33})
    for (const int rows : {0, 1, 2, 31, 32, 33, 500, 2100, 9000}) {
      check_columns<serial>(rows, columns);
    }
}

TEST_CASE("teams sum columns", "[threads]") {
  for (const int rows : {0, 1, 33, 70, 300, 500}) check_columns<team>(rows, 5);
}

TEST_CASE("sums of channels are those in long double") {
  for (const int channels : {1, 3, 16})
    for (const int rows : {0, 1, 2, 33, 500})
      for (const int size : {1, 7, 16}) check_channels<serial>(rows, channels, size);
  // In parts.
  for (const int rows : {1366, 5000}) check_channels<serial>(rows, 3, 3);
}

TEST_CASE("teams sum channels", "[threads]") {
  for (const int rows : {0, 1, 33}) {
    check_channels<team>(rows, 3, 1);
    check_channels<team>(rows, 3, 7);
  }
  check_channels<team>(1366, 3, 3);
}

TEST_CASE("sums of millions of equal terms lose no digit") {
  serial b;
  // One number stands for all.
  const float each = 100.1f;
  constexpr int rows = 20'000'000;
  float sum = 0;
  std::vector<double> scratch(
      static_cast<std::size_t>(cuda::column_scratch<serial>(1, rows, 1) / 2));
  cuda::sum_columns(b, cuda::array_terms{&each, 0}, cuda::store_sums{&sum}, rows, 1,
                    reinterpret_cast<float*>(scratch.data()));
  CHECK(sum == static_cast<float>(rows * static_cast<double>(each)));
  cuda::channel_elements of;
  of.rows = rows, of.channels = 1;
  std::vector<double> parts(static_cast<std::size_t>(cuda::channel_scratch(1, of) / 2));
  cuda::sum_channels(b, cuda::channel_terms{&each, 0}, cuda::store_sums{&sum}, of,
                     reinterpret_cast<float*>(parts.data()));
  CHECK(sum == static_cast<float>(rows * static_cast<double>(each)));
  std::vector<float> x(1'000'000, 100.1f);
  float mean = 0;
  cuda::sum_terms(b, 1'000'000,
                  cuda::element_terms<cuda::element_itself>{x.data(), 1000, cuda::divider(1000)},
                  cuda::scaled_sum{&mean, 1e-6}, nullptr);
  CHECK(mean == 100.1f);
}

TEST_CASE("scratch memory for columns of some rows is enough for fewer") {
  std::ptrdiff_t room = 0;
  for (int rows = 0; rows < 9000; ++rows) {
    const std::ptrdiff_t next = cuda::column_scratch<serial>(2, rows, 5);
    if (next < room) FAIL_CHECK(rows << " rows");
    room = next;
  }
  CHECK(room == 2 * 2 * 256 * 5);
}
