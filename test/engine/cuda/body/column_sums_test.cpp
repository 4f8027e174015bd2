// SPDX-License-Identifier: Apache-2.0
// Sums over rows and over channels, against long double.
#include <vector>

#include "engine/cuda/body/summed_array.hpp"
#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/norm_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/body/channel_sums.cuh>
#include <lamina/engine/cuda/body/column_sums.cuh>
#include <lamina/engine/cuda/body/element_sum.cuh>

namespace cuda = lamina::engine::cuda;
using summed_array::array;
using summed_array::is_near;
using summed_array::serial;
using summed_array::team;

namespace {

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
