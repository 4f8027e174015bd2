// SPDX-License-Identifier: Apache-2.0
// Sums over the elements of each channel against those in long double.
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
