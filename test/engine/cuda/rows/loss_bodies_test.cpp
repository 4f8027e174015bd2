// SPDX-License-Identifier: Apache-2.0
// The bodies of CUDA kernels compute the rows of this group.
#include "laws/cuda_laws.hpp"
#include "operators/loss/in_batch_rows.hpp"
#include "operators/loss/loss_rows.hpp"
#include <catch2/catch.hpp>

TEST_CASE("bodies of CUDA kernels compute the rows of loss") {
  const laws::cuda_laws<> laws;
  rows::loss(laws);
  rows::in_batch(laws);
}
