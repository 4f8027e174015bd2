// SPDX-License-Identifier: Apache-2.0
// The bodies of CUDA kernels compute the rows of this group.
#include "laws/cuda_laws.hpp"
#include "operators/fill/fill_rows.hpp"
#include <catch2/catch.hpp>

TEST_CASE("bodies of CUDA kernels compute the rows of fill") {
  const laws::cuda_laws<> laws;
  rows::fill(laws);
}
