// SPDX-License-Identifier: Apache-2.0
// Products of every layout against plain loops.

#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/product_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/body/product.cuh>
#include <lamina/operators/matrix/matmul/cuda.cuh>

namespace cuda = lamina::engine::cuda;

TEST_CASE("products of every layout agree with plain loops") {
  cuda::host_backend<1> backend;
  CHECK(test::product_faults(backend) == "");
}

TEST_CASE("a product without terms is 0, or its bias") {
  cuda::host_backend<1> backend;
  for (const test::product_case& c : test::empty_products())
    CHECK(test::product_fault(backend, c) == "");
}
