// SPDX-License-Identifier: Apache-2.0
// Teams of threads, which wait for each other as those of a device do, compute what the CPU's
// engine does.

#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/dynamic_sequence_programs.hpp"
#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/image_programs.hpp"
#include "engine/cuda/kept_weights_check.hpp"
#include "engine/cuda/loop_programs.hpp"
#include "engine/cuda/norm_programs.hpp"
#include "engine/cuda/product_programs.hpp"
#include "engine/cuda/selected_rows_programs.hpp"
#include "engine/cuda/sequence_programs.hpp"
#include "engine/cuda/training_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/body/team.cuh>
#include <lamina/optimizer/lamb.hpp>

namespace cuda = lamina::engine::cuda;
namespace optimizer = lamina::optimizer;

namespace {

constexpr optimizer::sgd sgd{.learning_rate = 0.1f};

}  // namespace

TEST_CASE("teams of threads multiply and update as the CPU does", "[threads]") {
  cuda::host_backend<4> backend;
  CHECK(test::train_both(test::classes, optimizer::lamb{.learning_rate = 0.02f}, backend, {7, 3})
            .worst() < 2e-5);
  CHECK(test::train_both(test::classes, optimizer::momentum{.learning_rate = 0.1f}, backend, {7, 3})
            .worst() < 1e-5);
}

TEST_CASE("teams of threads multiply odd widths", "[threads]") {
  cuda::host_backend<4> backend;
  CHECK(test::train_both(test::uneven, sgd, backend, {7, 3}).worst() < 1e-5);
  CHECK(test::train_both(test::weighed, sgd, backend, {7, 1}).worst() < 1e-5);
  CHECK(test::test_both<cuda::host_backend<4>>(test::uneven, 9) < 1e-5);
}

TEST_CASE("teams of threads convolve", "[threads]") {
  cuda::host_backend<4> backend;
  CHECK(test::train_both(test::lenet, sgd, backend, {2}).worst() < 1e-5);
  CHECK(test::train_both(test::filters, sgd, backend, {2}).worst() < 1e-5);
}

TEST_CASE("teams of threads normalise in parts", "[threads]") {
  cuda::host_backend<4> backend;
  CHECK(test::train_both(test::normalised_images<28, 28>, sgd, backend, {11}).worst() < 1e-4);
  CHECK(test::train_both(test::normalised_images<27, 31>, sgd, backend, {10}).worst() < 1e-4);
  // Channels that are shorter than a step of the team, and columns.
  CHECK(test::train_both(test::normalised_columns, sgd, backend, {40, 300}).worst() < 5e-5);
  CHECK(test::train_both(test::normalised_rows, sgd, backend, {60}).worst() < 5e-5);
  CHECK(test::train_both(test::normalised_groups<27, 31>, sgd, backend, {10}).worst() < 5e-5);
}

TEST_CASE("teams of threads walk along sequences", "[threads]") {
  cuda::host_backend<4> backend;
  CHECK(test::train_both(test::sentences, sgd, backend, {4}).worst() < 1e-5);
  CHECK(test::train_both(test::recurrences, sgd, backend, {3}).worst() < 1e-5);
}

TEST_CASE("teams of threads keep weights", "[threads]") {
  namespace kept = test::kept;
  for (const int n : {1, 36, 101, 128})
    for (const bool flag : {false, true}) {
      kept::compare<kept::lstm_case, 4>({n, flag, !flag, flag});
      kept::compare<kept::gru_case, 4>({n, flag, !flag, flag});
    }
  cuda::host_backend<4> backend;
  CHECK(test::train_both(test::recurrent_operators<65>, sgd, backend, {3}).worst() < 1e-5);
}

TEST_CASE("teams of threads make sequences", "[threads]") {
  cuda::host_backend<4> backend;
  CHECK(test::train_both(test::pieces, sgd, backend, {4}).worst() < 1e-5);
  CHECK(test::train_both(test::words, sgd, backend, {3}).worst() < 1e-5);
}

TEST_CASE("teams of threads walk through loops and branches", "[threads]") {
  cuda::host_backend<4> backend;
  CHECK(test::train_both(test::ragged, sgd, backend, {4}).worst() < 1e-5);
  CHECK(test::train_both(test::choices, sgd, backend, {5}).worst() < 1e-5);
}

TEST_CASE("teams of threads train by a program", "[threads]") {
  static constexpr optimizer::adam limited{.learning_rate = 0.02f,
                                           .clip = lamina::clip_by_global_norm(0.2f)};
  cuda::host_backend<4> backend;
  CHECK(test::run_both(test::trained<limited>, backend, test::row_minibatches()).worst() < 5e-5);
}

TEST_CASE("teams of threads update rows", "[threads]") {
  cuda::host_backend<4> backend;
  const optimizer::lamb lamb{.learning_rate = 0.02f};
  CHECK(test::train_both(test::tables, lamb, backend, {4, 2}).worst() < 2e-5);
  const optimizer::adam lazy{.learning_rate = 0.01f, .lazy_mode = true};
  CHECK(test::train_both(test::tables, lazy, backend, {4, 2}).worst() < 5e-5);
}
