// SPDX-License-Identifier: Apache-2.0
// Labels out of range on a device are errors as on the CPU.

#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/host_backend.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/place.hpp>
#include <lamina/engine/cuda/schedule/index_range_check.hpp>
#include <lamina/model/device/device_machine.hpp>
#include <lamina/model/gradient_machine.hpp>
#include <lamina/train/train.hpp>

namespace cuda = lamina::engine::cuda;

TEST_CASE("a label out of range on a device is an error as on the CPU") {
  cuda::host_backend<1> backend;
  CHECK(test::message_of_wrong_label(backend) == test::wrong_label_message);
}
