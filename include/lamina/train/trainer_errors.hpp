// SPDX-License-Identifier: Apache-2.0
// lamina/train/trainer_errors.hpp - errors of trainers and of their passes.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Throws lamina::error for options of `train` outside of their range.
[[noreturn]] LAMINA_COLD inline void fail_passes(int found) {
  LAMINA_THROW error(text() << "lamina: train: expected 0 passes or more, found " << found);
}
[[noreturn]] LAMINA_COLD inline void fail_threads(int found) {
  LAMINA_THROW error(text() << "lamina: train: expected 1 to 256 threads, found " << found);
}
[[noreturn]] LAMINA_COLD inline void fail_host_place() {
  LAMINA_THROW error(
      "lamina: train: expected the CPU as place, found a device: include <lamina/lamina.cuh> where "
      "train is called");
}
/// Throws lamina::error: the gradients of this cost cannot be accumulated one mini-batch at a time.
[[noreturn]] LAMINA_API_COLD void fail_second_backward();
/// Throws lamina::error: gradients wait for an update.
[[noreturn]] LAMINA_API_COLD void fail_pending(const char* what, int minibatches);
/// Throws lamina::error: `accumulate` has no effect here. `may_accumulate`: the machine accumulates
/// gradients.
[[noreturn]] LAMINA_API_COLD void fail_accumulate(bool may_accumulate, int found);
/// Throws lamina::error: there are no gradients for an update.
[[noreturn]] LAMINA_API_COLD void fail_no_backward();

[[noreturn]] LAMINA_API_COLD void fail_partially_updated();

/// Throws lamina::error: this process has only the accumulators of its shard.
[[noreturn]] LAMINA_API_COLD void fail_part_of_state();

/// Throws lamina::error because a pass has no samples. `was_read`: an earlier pass had some.
[[noreturn]] LAMINA_API_COLD void fail_empty_pass(int pass, bool was_read);

/// Throws lamina::error: asynchronous trainers with parameter servers make separate steps.
[[noreturn]] LAMINA_API_COLD void fail_apart_in_world();
/// Throws lamina::error: gradient machines do not exchange gradients with other processes.
[[noreturn]] LAMINA_API_COLD void fail_machines_in_world();
/// Throws lamina::error: no process knows the rows of all shards in advance.
[[noreturn]] LAMINA_API_COLD void fail_shards_ahead();

/// Throws lamina::error: parts of a mini-batch may run the block a different number of times.
[[noreturn]] LAMINA_API_COLD void fail_statistics_of_block();
/// Throws lamina::error: the weights of parts in the cost are not known in its backward pass.
[[noreturn]] LAMINA_API_COLD void fail_statistics_of_cost();
/// Throws lamina::error: parameter servers do not compute parts of a mini-batch.
[[noreturn]] LAMINA_API_COLD void fail_statistics_with_servers(int servers);

#if LAMINA_DEFINES

void fail_second_backward() {
  LAMINA_THROW error(
      "lamina: trainer: a cost that adds means over rows of several kinds needs all "
      "mini-batches of an update at once: expected the option accumulate and pass(), found a "
      "second backward() before update()");
}

void fail_pending(const char* what, int minibatches) {
  LAMINA_THROW error(text() << "lamina: trainer: expected update() before " << what
                            << ", found the gradients of " << minibatches
                            << " mini-batches that are not used yet");
}

void fail_accumulate(bool may_accumulate, int found) {
  LAMINA_THROW error(text() << "lamina: train: expected accumulate to be 1"
                            << (may_accumulate ? " or more" : " on a device") << ", found "
                            << found);
}

void fail_no_backward() {
  LAMINA_THROW error(
      "lamina: trainer: expected backward() before update(), found none since the last "
      "update");
}

void fail_partially_updated() {
  LAMINA_THROW error(
      "lamina: train: an error in the middle of an earlier step left some parameters updated "
      "and others not: expected that a checkpoint is loaded before the next step, found none");
}

void fail_part_of_state() {
  LAMINA_THROW error(
      "lamina: train: expected the .world of the earlier training, of whose state this process has "
      "a part and rank 0 all, found none or another rank; forget_training() begins anew");
}

void fail_empty_pass(int pass, bool was_read) {
  LAMINA_THROW error(
      text() << "lamina: train: expected at least one mini-batch in pass " << pass << ", found none"
             << (was_read ? ": the reader ended for good, but each pass reads it again"
                          : ": the reader is empty, or drop_last left nothing of it"));
}

void fail_apart_in_world() {
  LAMINA_THROW error(
      "lamina: train: expected whole steps with a staleness above 0, found gradients apart from "
      "updates (accumulate above 1, backward() or update())");
}

void fail_machines_in_world() {
  LAMINA_THROW error(
      "lamina: trainer: expected one process for an update with gradient machines, found several: "
      "backward() and update() work in several");
}

void fail_shards_ahead() {
  LAMINA_THROW error(
      "lamina: train: expected accumulate to be 1 with reads_shard for a cost that adds means over "
      "rows of several kinds, found more");
}

void fail_statistics_of_block() {
  LAMINA_THROW error(
      "lamina: train: sync_batch_norm: expected batch_norm outside of loops and branches, found it "
      "in one");
}

void fail_statistics_of_cost() {
  LAMINA_THROW error(
      "lamina: train: sync_batch_norm: expected a cost that is a mean or a sum over rows of the "
      "data, found a quotient, or one over rows that the program makes");
}

void fail_statistics_with_servers(int servers) {
  LAMINA_THROW error(
      text() << "lamina: train: sync_batch_norm: expected no parameter servers, found " << servers);
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::detail
