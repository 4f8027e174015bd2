// SPDX-License-Identifier: Apache-2.0
// The bodies of CUDA kernels compute the rows of this group.
#include "laws/cuda_laws.hpp"
#include "operators/control/control_rows.hpp"
#include <catch2/catch.hpp>

TEST_CASE("bodies of CUDA kernels compute the rows of control") {
  const laws::cuda_laws<> laws;
  rows::control(laws);
  rows::nested_control(laws);
}
