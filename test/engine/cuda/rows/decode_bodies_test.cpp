// SPDX-License-Identifier: Apache-2.0
// The bodies of CUDA kernels compute the rows of this group.
#include "laws/cuda_laws.hpp"
#include "operators/decode/decode_rows.hpp"
#include <catch2/catch.hpp>

TEST_CASE("bodies of CUDA kernels compute the rows of decode") {
  const laws::cuda_laws<> laws;
  rows::decode(laws);
}
