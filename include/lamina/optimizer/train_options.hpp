// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/train_options.hpp - the options of a training loop.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/core/place.hpp>
#include <lamina/optimizer/checkpoint_directory.hpp>
#include <lamina/optimizer/event_handler.hpp>

namespace lamina { inline namespace LAMINA_ABI {
class world;
class shared_tasks;
}}  // namespace lamina

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// The options of checkpoints, from which a training loop can continue after a stop. A checkpoint
/// contains the parameters, the optimizer's states, the step, the pass and the seed.
struct checkpoint_options {
  checkpoint_directory directory{};  // empty: no checkpoints
  int every_passes = 1;              // 0: not by passes
  std::int64_t every_batches = 0;    // 0: not by mini-batches
  int keep = 3;                      // keep this many of the newest, remove older ones; 0: keep all
  // Continue from the newest intact checkpoint, if there is one. Without `resume`, an existing
  // checkpoint is an error.
  bool resume = false;
};

/// The options of a training loop: `adam.train(model, reader, {.passes = 20, .threads = 2})`.
struct train_options {
  int passes = 1;   // how many times the reader is read from its start
  int threads = 1;  // number of gradient machines; each computes a part of every mini-batch
  // The number of mini-batches per update; it must be 1 on a device. Their gradients are
  // accumulated as if all their samples were one mini-batch. If a pass ends earlier, the update
  // uses the mini-batches that were read.
  int accumulate = 1;
  event_handler on_event{};
  std::uint64_t seed = 0;  // seed of dropout and other random operators
  // Stop with an error at the first NaN, with check_infinity also at the first infinity, in data,
  // activations, gradients or parameters. The error names layer, operator, mini-batch and sample,
  // and the model is as it was before the mini-batch. This costs time, works on the CPU only, and
  // needs <lamina/model/check_nan.hpp>.
  bool check_nan = false;
  bool check_infinity = false;
  checkpoint_options checkpoint{};
  // The processes that train the model together: a lamina::distributed::session, with
  // <lamina/distributed/session.hpp>. Each computes its part of every mini-batch, so all must read
  // the same mini-batches. Null: this process trains alone.
  lamina::world* world = nullptr;
  // With `world`: the reader yields only this process's share of each mini-batch, as
  // lamina::reader::shard(world) does. A mini-batch of the training then consists of the
  // mini-batches of all processes, in the order of the ranks.
  bool reads_shard = false;
  // With `reads_shard`: the source of the reader's chunks, a lamina::distributed::task_queue.
  // Checkpoints then contain the finished chunks. Null: the reader has no such chunks.
  lamina::shared_tasks* tasks = nullptr;
  // Whether batch_norm normalises by the statistics of the whole mini-batch, over all threads and
  // all processes of `world`, instead of those of the part that a thread computes. Each batch_norm
  // then waits for all parts, forward and backward.
  bool sync_batch_norm = false;
  lamina::place place{};  // lamina::cuda::place{0}: a device, with <lamina/lamina.cuh>
};

/// The options of a training loop with one thread in one process and one update per mini-batch.
/// `adam.train(model, reader, {.passes = 20})` uses them if the braces name no other options, so
/// the program contains no code for the others and compiles faster. Each option has the same
/// meaning as in train_options.
struct serial_options {
  int passes = 1;
  event_handler on_event{};
  std::uint64_t seed = 0;
  checkpoint_options checkpoint{};
  lamina::place place{};

  /// Returns the same options, with the defaults of all others.
  LAMINA_COLD train_options with_defaults() const {
    train_options all;
    all.passes = passes;
    all.on_event = on_event;
    all.seed = seed;
    all.checkpoint = checkpoint;
    all.place = place;
    return all;
  }
};

}}}  // namespace lamina::optimizer

namespace lamina { inline namespace LAMINA_ABI {
using optimizer::checkpoint_options;
using optimizer::serial_options;
using optimizer::train_options;
}}  // namespace lamina
