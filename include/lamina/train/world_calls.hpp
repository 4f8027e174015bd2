// SPDX-License-Identifier: Apache-2.0
// lamina/train/world_calls.hpp - the collective calls of processes that run one program together.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/common/process_calls.hpp>
#include <lamina/train/world.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The mini-batch that a process has read in a run of several processes.
struct minibatch_shard {
  std::int64_t samples = 0;    // samples that this process computes
  std::int64_t read = 0;       // samples that it has read
  std::uint64_t checksum = 0;  // checksum of the samples that it has read
  bool more = false;           // whether its reader has another mini-batch in this pass
};

/// Implements the collective calls of processes that run one program together. Before each call the
/// processes compare what they are about to do. If a process does something else, for example
/// because it has left the training loop, all of them throw an error, and none waits forever.
class world_calls final : public engine::process_calls {
 public:
  LAMINA_API LAMINA_COLD explicit world_calls(world& all);

  /// Compares a number in all processes. Throws lamina::error, which names `what`, if they differ.
  LAMINA_API LAMINA_COLD void require_equal(const char* what, std::uint64_t mine);
  /// Broadcasts the array of rank 0 to all processes.
  LAMINA_API LAMINA_COLD void give(float* of, std::size_t floats);

  /// Tells the others about a mini-batch, and checks theirs. With `shards`, each process has read
  /// its own samples, and `more` is set to whether any of them has more. Returns the number of
  /// samples of all processes. With `all_have`, throws unless each process has samples.
  LAMINA_API LAMINA_COLD std::int64_t read(minibatch_shard& mine, bool shards, bool all_have);
  /// Sets first[d] to the number of rows of domain d that lower ranks have.
  LAMINA_API LAMINA_COLD void rows_before(const int* count, std::int64_t* first, int domains);
  /// Ends the program; `parameters` is a checksum of the parameters, which must be equal in all
  /// processes.
  LAMINA_API LAMINA_COLD void end(std::uint64_t parameters);

  void* array(std::size_t bytes) override {
    const std::size_t floats =
        bytes / sizeof(float) + 1 + 32 * static_cast<std::size_t>(world_.size()) * 2;
    if (array_.size() < floats) array_.resize(floats);
    return array_.data();
  }
  void reduce(const engine::reduction_call& call) override {
    meet({.kind = step_kind::reduce,
          .place = call.place,
          .count = static_cast<std::int64_t>(call.count),
          .how = static_cast<std::int64_t>(call.kind) * 1000 +
                 static_cast<std::int64_t>(call.type) * 2 + (call.of_samples ? 1 : 0)});
    for (const step& s : steps_)
      if (s.count != steps_[0].count || s.place != steps_[0].place || s.how != steps_[0].how)
        fail(steps_[0], s);
    world_.reduce(call, array_.data(), call.of_samples ? has_samples_.get() : all_take_part_.get());
  }

 private:
  enum class step_kind : std::int64_t { compare, read, reduce, end };
  /// The call that a process is about to make.
  struct step {
    step_kind kind;
    std::int64_t place = 0, count = 0, read = 0;
    std::int64_t how = 0;
    std::uint64_t fact = 0;
    std::int64_t more = 0;
  };

  int rank_of(const step& s) const { return static_cast<int>(&s - steps_.data()); }
  /// Gathers the steps of all processes, which must be of one kind.
  void meet(const step& mine) {
    world_.gather(&mine, sizeof mine, steps_.data());
    for (const step& s : steps_)
      if (s.kind != steps_[0].kind) fail(steps_[0], s);
  }
  [[noreturn]] LAMINA_API LAMINA_COLD void fail(const step& a, const step& b) const;
  LAMINA_API LAMINA_COLD std::string name_of(const step& s) const;

  world& world_;
  std::unique_ptr<bool[]> has_samples_, all_take_part_;  // flags by rank
  std::vector<step> steps_;                              // the announced call of each rank
  std::int64_t minibatches_ = 0;
  engine::aligned_buffer array_;
};

#if LAMINA_DEFINES

world_calls::world_calls(world& all)
    : world_(all),
      has_samples_(new bool[static_cast<std::size_t>(all.size())]),
      all_take_part_(new bool[static_cast<std::size_t>(all.size())]),
      steps_(static_cast<std::size_t>(all.size())) {
  for (std::size_t r = 0; r < steps_.size(); ++r) has_samples_[r] = all_take_part_[r] = true;
}

void world_calls::require_equal(const char* what, std::uint64_t mine) {
  meet({.kind = step_kind::compare, .fact = mine});
  for (const step& s : steps_)
    if (s.fact != steps_[0].fact)
      LAMINA_THROW error(text() << "lamina: run: expected " << what << " in each process, found "
                                << "another one in rank " << rank_of(s) << " than in rank 0");
}

void world_calls::give(float* of, std::size_t floats) {
  std::unique_ptr<bool[]> first(new bool[static_cast<std::size_t>(world_.size())]());
  first[0] = true;
  std::byte* const mine = static_cast<std::byte*>(array(floats * sizeof(float)));
  std::memcpy(mine, of, floats * sizeof(float));
  world_.reduce({engine::process_reduction::sum, false, -1, dtype::float32, floats}, mine,
                first.get());
  std::memcpy(of, mine, floats * sizeof(float));
}

std::int64_t world_calls::read(minibatch_shard& mine, bool shards, bool all_have) {
  meet({.kind = step_kind::read,
        .count = mine.samples,
        .read = mine.read,
        .fact = mine.checksum,
        .more = mine.more});
  std::int64_t samples = 0;
  bool same = world_.size() > 1, more = false;
  for (const step& s : steps_) {
    has_samples_[static_cast<std::size_t>(rank_of(s))] = s.count > 0;
    samples += s.count;
    more = more || s.more != 0;
    same = same && s.fact == steps_[0].fact && s.read == steps_[0].read;
  }
  for (const step& s : steps_) {
    if (all_have && s.count == 0 && samples > 0)
      LAMINA_THROW error(text() << "lamina: run: expected samples for each of " << world_.size()
                                << " processes in mini-batch " << minibatches_ << ", found "
                                << samples << " in all of them");
    if (shards) continue;
    if (s.read != steps_[0].read || s.more != steps_[0].more)
      LAMINA_THROW error(
          text() << "lamina: run: expected the same mini-batch " << minibatches_
                 << " in each process, found " << steps_[0].read << " samples in rank 0 "
                 << "and " << s.read << " in rank " << rank_of(s)
                 << (s.more != steps_[0].more ? ", of which one ends the pass" : ""));
    if (minibatches_ == 0 && s.fact != steps_[0].fact)
      LAMINA_THROW error(
          text() << "lamina: run: expected the same first mini-batch in each process, "
                    "found other samples in rank "
                 << rank_of(s)
                 << " than in rank 0; for shards of a process's own say .reads_shard");
  }
  if (shards && minibatches_ == 0 && same)
    LAMINA_THROW error(
        "lamina: run: expected samples of its own in each process with .reads_shard, found the "
        "same first mini-batch in all");
  mine.more = more;
  ++minibatches_;
  return samples;
}

void world_calls::rows_before(const int* count, std::int64_t* first, int domains) {
  const std::size_t n = static_cast<std::size_t>(domains);
  std::vector<int> all(n * static_cast<std::size_t>(world_.size()));
  world_.gather(count, n * sizeof(int), all.data());
  for (std::size_t d = 0; d < n; ++d) {
    first[d] = 0;
    for (std::size_t r = 0; r < static_cast<std::size_t>(world_.rank()); ++r)
      first[d] += all[r * n + d];
  }
}

void world_calls::end(std::uint64_t parameters) {
  meet({.kind = step_kind::end, .fact = parameters});
  for (const step& s : steps_)
    if (s.fact != steps_[0].fact)
      LAMINA_THROW error(
          text() << "lamina: run: expected the same parameters in each process at the "
                    "end, found others in rank "
                 << rank_of(s)
                 << " than in rank 0: the program stores what a process has computed "
                    "from its own samples; take layer::all_reduce of it");
}

void world_calls::fail(const step& a, const step& b) const {
  LAMINA_THROW error(text() << "lamina: run: expected each process to do the same, found rank "
                            << rank_of(a) << " " << name_of(a) << " and rank " << rank_of(b) << " "
                            << name_of(b));
}

std::string world_calls::name_of(const step& s) const {
  text t;
  if (s.kind == step_kind::compare) t << "at its begin";
  if (s.kind == step_kind::read) t << "reading mini-batch " << minibatches_;
  if (s.kind == step_kind::end)
    t << "at the end of its program, after " << minibatches_ << " mini-batches";
  if (s.kind == step_kind::reduce) {
    t << (s.how >= 1000 ? "in the maximum" : "in the sum") << " of " << s.count << " elements";
    if (s.place >= 0) t << ", operator " << s.place;
  }
  return t;
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
