// SPDX-License-Identifier: Apache-2.0
// The bodies of CUDA kernels compute the rows of this group.
#include "laws/cuda_laws.hpp"
#include "operators/pool/pool_rows.hpp"
#include <catch2/catch.hpp>

TEST_CASE("bodies of CUDA kernels compute the rows of pool") {
  const laws::cuda_laws<> laws;
  rows::pool(laws);
}
