// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/train_options.hpp - how a training loop runs.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/core/place.hpp>
#include <lamina/optimizer/checkpoint_directory.hpp>
#include <lamina/optimizer/event_handler.hpp>

namespace lamina::inline LAMINA_ABI::optimizer {

/// When a training loop writes checkpoints, from which it can continue after a stop: parameters,
/// the optimizer's states, the step, the pass and the seed.
struct checkpoint_options {
  checkpoint_directory directory{};  // none: no checkpoints
  int every_passes = 1;              // 0: not by passes
  std::int64_t every_batches = 0;    // 0: not by mini-batches
  int keep = 3;                      // keep this many of the newest, remove older ones; 0: keep all
  // Continue from the newest intact checkpoint, if there is one. Without `resume`, an existing
  // checkpoint is an error.
  bool resume = false;
};

/// `adam.train(model, reader, {.passes = 20, .threads = 2})`.
struct train_options {
  int passes = 1;   // how often the reader is read from its start
  int threads = 1;  // gradient machines, each for a part of every mini-batch
  // Mini-batches per update of a trainer: their gradients are those of one mini-batch of all their
  // samples. A pass that ends before updates with the rest.
  int accumulate = 1;
  event_handler on_event{};
  std::uint64_t seed = 0;  // of dropout and other random operators
  checkpoint_options checkpoint{};
  lamina::place place{};  // lamina::cuda::place{0}: a device, with <lamina/lamina.cuh>
};

}  // namespace lamina::inline LAMINA_ABI::optimizer

namespace lamina::inline LAMINA_ABI {
using optimizer::checkpoint_options;
using optimizer::train_options;
}  // namespace lamina::inline LAMINA_ABI
