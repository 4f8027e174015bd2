// SPDX-License-Identifier: Apache-2.0
// lamina/train/checkpoints/training_position.hpp - the position of a training run, and how much of
// a pass its processes have read.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <lamina/core/files/checksum.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/train/world.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// How much of a pass one process has read, if each process reads its shard.
struct shard_position {
  std::int64_t samples = 0;
  std::uint64_t checksum = 0;
};

/// The position of a training run: the next mini-batch is number `batch` of pass `pass`. A resumed
/// run reads the earlier mini-batches of the pass again. They must have `samples` samples in total
/// and this checksum; if each process reads its shard, each shard must match `shards`, in the order
/// of the ranks. With shared_tasks, a resumed run reads the unfinished chunks instead.
struct training_position {
  int pass = 0;
  std::int64_t batch = 0;
  std::int64_t samples = -1;             // -1: not counted
  std::uint64_t checksum = 0;            // 0: not computed
  std::string finished{};                // result of shared_tasks::finished(); empty: no tasks
  std::uint64_t tasks = 0;               // shared_tasks::checksum()
  std::vector<shard_position> shards{};  // empty: all processes read the same, or it is not known
  int readers = -1;  // the processes that read shards; 0: all read the same; -1: not known
};

/// Counts the part of a pass that a run has read: mini-batches, samples, and a running checksum.
/// The checksum covers all samples in their order and the ends of mini-batches.
class samples_of_pass {
 public:
  LAMINA_API LAMINA_COLD void add(int rows, checksum sum);
  /// Adds a mini-batch without a checksum.
  void add(int rows) {
    ++batches_;
    samples_ += rows;
  }
  std::int64_t batches() const { return batches_; }
  /// Returns the position in pass `pass` after the mini-batches that were read.
  training_position position(int pass) const { return {pass, batches_, samples_, sum_}; }
  /// Continues from a position without having read the samples before it.
  LAMINA_API LAMINA_COLD void go_on(const training_position& at);
  /// Throws lamina::error unless the stopped run had read the same samples. `readers` are the
  /// processes that each read a shard, null if there are none: all of them must call it, and all
  /// throw the same error, which names the first rank that has read other samples. `alone`: the
  /// training is asynchronous, so the other processes are not compared.
  LAMINA_API LAMINA_COLD void require(const training_position& stopped, const std::string& place,
                                      world* readers = nullptr, bool alone = false) const;
  /// Adds to a position how much each of the processes `readers` has read of its shard; null: all
  /// read the same samples. All of them must call it.
  LAMINA_API LAMINA_COLD void add_shards(training_position& at, world* readers) const;

 private:
  LAMINA_API LAMINA_COLD std::vector<shard_position> shards(world& all) const;
  LAMINA_API LAMINA_COLD void require_shards(const training_position& stopped,
                                             const std::string& place, world& all) const;
  std::int64_t batches_ = 0, samples_ = 0;
  std::uint64_t sum_ = 0;
};

namespace detail {

/// Throws lamina::error if a position in the middle of a pass was reached by a different number of
/// processes that each read a shard. `processes`: the number that read shards now; 0: all read the
/// same samples.
LAMINA_API_COLD void require_same_shards(const training_position& at, const std::string& place,
                                         int processes);

}  // namespace detail

#if LAMINA_DEFINES

void detail::require_same_shards(const training_position& at, const std::string& place,
                                 int processes) {
  if (at.batch == 0 || at.readers < 0 || at.readers == processes) return;
  const auto name = [](int readers) {
    if (readers == 0) return std::string("processes that all read the same");
    return std::string(text() << readers
                              << (readers == 1 ? " process that reads its shard"
                                               : " processes that read their shards"));
  };
  LAMINA_THROW error(text() << "lamina: train: the checkpoint in " << place
                            << " was made after mini-batch " << at.batch << " of pass " << at.pass
                            << ": expected " << name(at.readers)
                            << " (.reads_shard) as then, found " << name(processes)
                            << "; a checkpoint at the end of a pass goes on with any number");
}

void samples_of_pass::add(int rows, checksum sum) {
  ++batches_;
  samples_ += rows;
  const std::uint64_t both[2] = {sum_, sum.value()};
  checksum combined;
  combined.add_numbers(both, sizeof both, sizeof both[0]);
  sum_ = combined.value();
}

void samples_of_pass::go_on(const training_position& at) {
  batches_ = at.batch;
  samples_ = at.samples;
  sum_ = at.checksum;
}

std::vector<shard_position> samples_of_pass::shards(world& all) const {
  const shard_position mine{samples_, sum_};
  std::vector<shard_position> found(static_cast<std::size_t>(all.trainers()));
  all.gather_trainers(&mine, sizeof mine, found.data());
  return found;
}

void samples_of_pass::require_shards(const training_position& stopped, const std::string& place,
                                     world& all) const {
  // An older checkpoint has only the shard of rank 0.
  const std::vector<shard_position> expected =
      !stopped.shards.empty() ? stopped.shards
                              : std::vector<shard_position>{{stopped.samples, stopped.checksum}};
  const std::vector<shard_position> found = shards(all);
  for (std::size_t r = 0; r < expected.size() && r < found.size(); ++r) {
    const shard_position &then = expected[r], &now = found[r];
    const bool same_count = then.samples < 0 || now.samples == then.samples;
    if (same_count && (then.checksum == 0 || now.checksum == then.checksum)) continue;
    text t;
    t << "lamina: train: the checkpoint in " << place << " was made after mini-batch "
      << stopped.batch << " of pass " << stopped.pass << ": expected that rank " << r
      << " reads the same " << then.samples << " samples as then, in the same order and "
      << "mini-batches, found ";
    std::size_t other = 0;
    while (other < expected.size() &&
           (expected[other].samples != now.samples || expected[other].checksum != now.checksum))
      ++other;
    if (other < expected.size())
      t << "those of rank " << other;
    else if (!same_count)
      t << now.samples;
    else
      t << "others";
    LAMINA_THROW error(t << ": does each process read the files of its rank?");
  }
}

void samples_of_pass::add_shards(training_position& at, world* readers) const {
  if (readers != nullptr) at.shards = shards(*readers);
  at.readers = static_cast<int>(at.shards.size());
}

void samples_of_pass::require(const training_position& stopped, const std::string& place,
                              world* readers, bool alone) const {
  if (!alone)
    detail::require_same_shards(stopped, place, readers != nullptr ? readers->trainers() : 0);
  if (readers != nullptr) return require_shards(stopped, place, *readers);
  const auto found = [&](const char* what, std::int64_t expected, std::int64_t read) {
    LAMINA_THROW error(text() << "lamina: train: the checkpoint in " << place
                              << " was made after mini-batch " << stopped.batch << " of pass "
                              << stopped.pass << ": expected the same reader, which had read "
                              << expected << " " << what << " by then, found " << read);
  };
  if (batches_ != stopped.batch) found("mini-batches", stopped.batch, batches_);
  if (stopped.samples < 0) return;
  if (samples_ != stopped.samples)
    found("samples (is the batch size another one?)", stopped.samples, samples_);
  if (stopped.checksum != 0 && sum_ != stopped.checksum)
    LAMINA_THROW error(text() << "lamina: train: the checkpoint in " << place
                              << " was made after mini-batch " << stopped.batch << " of pass "
                              << stopped.pass << ": expected the same " << samples_
                              << " samples in the same order and mini-batches, found others");
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
