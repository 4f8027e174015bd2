// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/distributed/step.hpp - measures a network for benchmarks/distributed/run: the
// times of its steps, and when each bucket of gradients is complete.
#pragma once

#include <cstddef>
#include <vector>

#include <lamina/train/world.hpp>

/// A measurement: `steps` steps with Adam on mini-batches of `rows` samples.
struct step_request {
  int rows, steps, threads;
  lamina::world* world;  // null: only this process trains
};

/// Returns the microseconds of each step. nets.cpp defines this function for one network per
/// compilation.
std::vector<double> time_steps(const step_request& request);

/// A bucket of gradients in a run of half a mini-batch, which rank 0 of two processes would
/// compute. It has its size in bytes, and two times in microseconds after the start of the run:
/// when, by the table of buckets, its gradients are complete, and when its parameters may change.
struct bucket_times {
  std::size_t bytes;
  double complete, free;
};
/// Returns the medians over all steps. Sets `run` to the median duration of a run in microseconds.
std::vector<bucket_times> time_buckets(const step_request& request, std::size_t bucket_bytes,
                                       double& run);
