// SPDX-License-Identifier: Apache-2.0
// Teams of threads, which wait for each other as those of a device do, compute operators that few
// networks need as the CPU's engine does.
#include "engine/beam_programs.hpp"
#include "engine/cuda/check_areas.hpp"
#include "engine/cuda/choice_programs.hpp"
#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/operator_programs.hpp"
#include "engine/cuda/shape_programs.hpp"
#include <catch2/catch.hpp>

namespace cuda = lamina::engine::cuda;
namespace optimizer = lamina::optimizer;

namespace {
constexpr optimizer::sgd sgd{.learning_rate = 0.1f};
}  // namespace

TEST_CASE("teams of threads compute operators that few networks need", "[threads]") {
  cuda::host_backend<4> backend;
  CHECK(test::train_both(test::likenesses, sgd, backend, {3}).worst() < 1e-5);
  CHECK(test::train_both(test::patches, sgd, backend, {2}).worst() < 1e-5);
  CHECK(test::train_both(test::regions, sgd, backend, {2}).worst() < 1e-5);
  CHECK(test::train_both(test::units, sgd, backend, {2}).worst() < 1e-5);
  CHECK(test::train_both(test::costs, sgd, backend, {3}).worst() < 1e-5);
  CHECK(test::train_both(test::tags, sgd, backend, {3}).worst() < 1e-5);
  CHECK(
      test::train_both(test::spoken, sgd, backend, {3}, 5, test::sequence_lengths::halves).worst() <
      1e-5);
}

TEST_CASE("teams of threads order, choose and measure", "[threads]") {
  const optimizer::sgd slow{.learning_rate = 0.05f};
  cuda::host_backend<4> backend;
  CHECK(test::train_both(test::orders, slow, backend, {4}).worst() < 1e-5);
  CHECK(test::train_both(test::chosen_rows, slow, backend, {4}).worst() < 1e-5);
  CHECK(test::train_both(test::volumes, slow, backend, {2}).worst() < 2e-5);
  CHECK(test::train_both(test::measures, slow, backend, {4}).worst() < 1e-5);
}

TEST_CASE("teams of threads move, reduce and multiply", "[threads]") {
  cuda::host_backend<4> backend;
  CHECK(test::train_both(test::attention, sgd, backend, {3}).worst() < 1e-5);
}

TEST_CASE("teams of threads count on from mini-batch to mini-batch", "[threads]") {
  test::check_areas<cuda::host_backend<4>>();
}

TEST_CASE("teams of threads select candidates", "[threads]") {
  using team = cuda::host_backend<4>;
  CHECK(test::outputs_apart<team>(test::beam::equal_scores, {5, 9}) < 1e-6);
  CHECK(test::outputs_apart<team>(test::beam::few_candidates, {5, 9}) < 1e-6);
}
