// SPDX-License-Identifier: Apache-2.0
// lamina/train/passes/run_tasks.hpp - tracks the chunks that a training run has finished.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <utility>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/optimizer/train_options.hpp>
#include <lamina/train/checkpoints/checkpoint.hpp>
#include <lamina/train/shared_tasks.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// The shared_tasks of a training run, if its options have some.
class run_tasks {
 public:
  /// A run with serial_options has no tasks.
  explicit run_tasks(const serial_options&) {}
  /// Throws lamina::error if there are tasks but processes do not read shards.
  LAMINA_API LAMINA_COLD explicit run_tasks(const train_options& options);

  bool has_any() const { return tasks_ != nullptr; }
  /// Begins the pass of a position. Returns whether the pass continues after finished chunks, so
  /// that the run does not read its earlier mini-batches again; then `seen` continues from the
  /// position. Throws lamina::error if only one of the position and the run has tasks, or if their
  /// tasks differ.
  LAMINA_API LAMINA_COLD bool begin(const training_position& at, const std::string& source,
                                    samples_of_pass& seen);
  /// Counts a mini-batch. `pending`: its gradients wait for an update.
  void use(std::int64_t samples, bool pending) {
    if (tasks_ == nullptr) return;
    waiting_ += samples;
    if (!pending) tasks_->use(std::exchange(waiting_, 0));
  }
  /// Adds the finished chunks to a position within a pass. All training processes must call it.
  LAMINA_API LAMINA_COLD training_position with(training_position at) const;

 private:
  [[noreturn]] LAMINA_COLD static void fail(const training_position& at, const std::string& source,
                                            const char* expected, const char* found) {
    LAMINA_THROW error(text() << "lamina: train: " << source
                              << " was written in the middle of pass " << at.pass << ": expected "
                              << expected << ", found " << found);
  }

  shared_tasks* tasks_ = nullptr;
  std::int64_t waiting_ = 0;  // samples whose gradients wait for an update
};

#if LAMINA_DEFINES

run_tasks::run_tasks(const train_options& options) : tasks_(options.tasks) {
  if (tasks_ != nullptr && (options.world == nullptr || !options.reads_shard))
    LAMINA_THROW error(
        text() << "lamina: train: expected .world and .reads_shard with .tasks, found no "
               << (options.world == nullptr ? ".world" : ".reads_shard"));
}

bool run_tasks::begin(const training_position& at, const std::string& source,
                      samples_of_pass& seen) {
  waiting_ = 0;
  if (tasks_ == nullptr) {
    if (!at.finished.empty())
      fail(at, source, "the task queue of that run in the options, .tasks", "none");
    return false;
  }
  const bool goes_on = at.batch > 0;
  if (goes_on && at.finished.empty())
    fail(at, source, "finished chunks in it, because the options have .tasks", "none");
  if (goes_on && at.tasks != tasks_->checksum())
    fail(at, source, "the chunks of that run in the same order", "others");
  tasks_->begin(at.pass, goes_on ? at.finished : std::string());
  if (goes_on) seen.go_on(at);
  return goes_on;
}

training_position run_tasks::with(training_position at) const {
  if (tasks_ == nullptr || at.batch == 0) return at;
  at.finished = tasks_->finished();
  at.tasks = tasks_->checksum();
  return at;
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::detail
