// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/distributed/step.hpp - what benchmarks/distributed/run measures of a net: its
// steps, and when its buckets of gradients are complete.
#pragma once

#include <cstddef>
#include <vector>

#include <lamina/train/world.hpp>

/// What to run: `steps` steps with Adam on mini-batches of `rows` samples.
struct step_request {
  int rows, steps, threads;
  lamina::world* world;  // null: this process alone
};

/// Microseconds of each step. Each of the nets defines this function.
std::vector<double> time_steps(const step_request& request);

/// A bucket in a run of half a mini-batch, as the first of two processes runs it: its bytes, and
/// the microseconds from the start to where the table says that its gradients are complete, and
/// that its parameters may change.
struct bucket_times {
  std::size_t bytes;
  double complete, free;
};
/// The medians over all steps; `run` receives the microseconds of a run.
std::vector<bucket_times> time_buckets(const step_request& request, std::size_t bucket_bytes,
                                       double& run);
