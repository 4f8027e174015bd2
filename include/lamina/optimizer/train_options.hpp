// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/train_options.hpp - the options of a training loop, and the directory of its
// checkpoints.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <cstdint>
#include <string>

#include <lamina/core/place.hpp>
#include <lamina/optimizer/event_handler.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Pointers to the functions that write and read checkpoints
/// (lamina/train/checkpoints/checkpoint.hpp).
struct checkpoint_files;
inline const checkpoint_files& checkpoint_functions();

namespace optimizer {

/// The directory of a training run's checkpoints; empty if none are written. Only the constructor
/// from a path refers to the code for checkpoints, so a program that names no directory does not
/// contain this code.
class checkpoint_directory {
 public:
  checkpoint_directory() = default;
  template <class Path>
  requires(std::constructible_from<std::string, const Path&> &&
           !std::same_as<Path, checkpoint_directory>)
      checkpoint_directory(const Path& path)  // NOLINT: a path converts
      : path_(path), files_(&checkpoint_functions()) {}

  bool empty() const { return path_.empty(); }
  const std::string& string() const { return path_; }
  /// Returns null if no path was given.
  const checkpoint_files* files() const { return files_; }

 private:
  std::string path_;
  const checkpoint_files* files_ = nullptr;
};

}  // namespace optimizer

class world;
class shared_tasks;
}}  // namespace lamina

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// The options of checkpoints. A checkpoint contains the parameters, the optimizer's states, the
/// step, the pass and the seed, so that a training that was stopped can continue from it.
struct checkpoint_options {
  checkpoint_directory directory{};  // empty: no checkpoints
  int every_passes = 1;              // write one after this many passes; 0: none after passes
  std::int64_t every_batches = 0;    // also write one after this many mini-batches; 0: none
  int keep = 3;                      // the number of newest checkpoints that are kept; 0: all
  // Continue from the newest undamaged checkpoint, if there is one. Without `resume`, train throws
  // lamina::error if the directory already has a checkpoint.
  bool resume = false;
};

/// The options of a training loop: `adam.train(model, reader, {.passes = 20, .threads = 2})`.
struct train_options {
  int passes = 1;   // how many times the reader is read from its start
  int threads = 1;  // number of gradient machines; each computes a part of every mini-batch
  // The number of mini-batches per update; on a device only 1 is supported, other numbers are an
  // error. The gradients are accumulated as if the samples of these mini-batches were one
  // mini-batch. If a pass ends earlier, the last update uses the mini-batches that were read.
  int accumulate = 1;
  event_handler on_event{};
  std::uint64_t seed = 0;  // seed of dropout and other random operators
  // With check_nan, training ends with an error at the first NaN in data, activations, gradients or
  // parameters; with check_infinity, also at the first infinity. The error names the layer,
  // operator, mini-batch and sample, and the model has the parameters from before the mini-batch.
  // The check takes time, works on the CPU only, and needs the include of
  // <lamina/model/check_nan.hpp>.
  bool check_nan = false;
  bool check_infinity = false;
  checkpoint_options checkpoint{};
  // The processes that train the model together: a lamina::distributed::session, from
  // <lamina/distributed/session.hpp>. Each process computes its part of every mini-batch, so all
  // processes must read the same mini-batches, unless reads_shard is set. Null: this process trains
  // alone.
  lamina::world* world = nullptr;
  // Set it, together with `world`, if the reader yields only this process's shard of the data, as
  // lamina::reader::shard(world) does. A mini-batch of the training then consists of the
  // mini-batches that all processes have read, in the order of the ranks.
  bool reads_shard = false;
  // The lamina::distributed::task_queue from which lamina::reader::tasks takes its chunks; it
  // requires reads_shard. Checkpoints then contain the finished chunks. Null: the reader has no
  // task queue.
  lamina::shared_tasks* tasks = nullptr;
  // Whether batch_norm normalises by the statistics of the whole mini-batch, over all threads and
  // all processes of `world`, instead of the statistics of the part that one thread computes. Each
  // batch_norm then waits for all parts, forward and backward, which takes time.
  bool sync_batch_norm = false;
  lamina::place place{};  // lamina::cuda::place{0}: a device, with <lamina/lamina.cuh>
};

/// The options of a training loop with one thread, one process and one update per mini-batch.
/// `adam.train(model, reader, {.passes = 20})` takes them if the braces name no options but these;
/// the program then contains no code for the other options and compiles faster. Each option has the
/// same meaning as in train_options.
struct serial_options {
  int passes = 1;
  event_handler on_event{};
  std::uint64_t seed = 0;
  checkpoint_options checkpoint{};
  lamina::place place{};

  /// Returns train_options with these options, and the defaults for all others.
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
