// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/task_queue.hpp - distributes chunks of data to the processes while they train.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <lamina/core/files/checksum.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/distributed/servers/trainer_group.hpp>
#include <lamina/reader/shuffle.hpp>
#include <lamina/reader/tasks.hpp>
#include <lamina/train/shared_tasks.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Options of a task_queue.
struct task_queue_options {
  std::uint64_t seed = 0;  // the order of the chunks in each pass depends on it and on the pass
  bool shuffles = true;    // false: the order of the list, in each pass
};

/// Distributes chunks of data dynamically, like the task queue of the master of PaddlePaddle v2,
/// but without a master process. In each pass, a process takes the next chunk when it has read its
/// last one. So each chunk is read by one process, and a fast process reads more chunks:
///
///   lamina::distributed::task_queue queue{world, files, {.seed = 1}};
///   auto samples = lamina::reader::tasks(queue, [](const std::string& file) { ... });
///   adam.train(model, samples | lamina::reader::batch(32),
///              {.world = &world, .reads_shard = true, .tasks = &queue});
///
/// A checkpoint in the middle of a pass contains the finished chunks: those of which updates have
/// used all samples. A run that continues from it distributes the others, also over another number
/// of processes. A chunk of which only some samples were used is distributed again as a whole.
///
/// Only the thread that has made the queue may use it and its readers.
class task_queue final : public shared_tasks {
 public:
  /// All ranks must make the queue with the same chunks and options, and the group must outlive it.
  /// `chunks` are the names of files, or other names that the readers understand. Throws
  /// lamina::error if there are no chunks, or if they differ from those of rank 0.
  LAMINA_COLD task_queue(process_group& group, std::vector<std::string> chunks,
                         const task_queue_options& options = {})
      : group_(group), chunks_(std::move(chunks)), options_(options) {
    lamina::checksum sum(1);
    for (const std::string& c : chunks_) {
      const std::uint64_t length = c.size();
      sum.add(&length, sizeof length);
      sum.add(c.data(), c.size());
    }
    checksum_ = sum.value() | 1;
    const facts mine{chunks_.size(), checksum_, options_.seed, options_.shuffles ? 1u : 0u};
    std::vector<facts> all(static_cast<std::size_t>(group.size()));
    group.gather(&mine, sizeof mine, all.data());
    for (std::size_t r = 1; r < all.size(); ++r) require_equal(all[0], all[r], r);
    if (chunks_.empty()) throw error("lamina: task_queue: expected at least one chunk, found none");
    number_ = group.share_number();
  }
  task_queue(const task_queue&) = delete;
  task_queue& operator=(const task_queue&) = delete;

  /// Returns the number of chunks.
  std::size_t size() const { return chunks_.size(); }
  const std::string& chunk(std::size_t number) const { return chunks_[number]; }
  std::uint64_t checksum() const override { return checksum_; }

  LAMINA_COLD void begin(int pass, const std::string& finished) override {
    require_thread();
    if (!finished.empty()) require_fitting(finished);
    finished_ = finished.empty() ? std::string(size(), '0') : finished;
    // When all processes are here, none takes a chunk of an earlier pass any more.
    lamina::checksum sum;
    sum.add(finished_.data(), finished_.size());
    const std::vector<begun> all = gather(begun{static_cast<std::uint64_t>(pass), sum.value()});
    for (std::size_t r = 1; r < all.size(); ++r)
      if (all[r].pass != all[0].pass || all[r].finished != all[0].finished)
        throw error(text() << "lamina: task_queue: expected the same pass and the same finished "
                              "chunks in each process, found pass "
                           << all[0].pass << " in rank 0 and pass " << all[r].pass << " in rank "
                           << r
                           << (all[r].pass == all[0].pass ? ", with other finished chunks" : ""));
    std::int64_t first = group_.rank() == 0 ? group_.add_to_number(number_, 0) : 0;
    first_ = gather(first)[0];
    order_.clear();
    for (std::size_t c = 0; c < size(); ++c)
      if (finished_[c] == '0') order_.push_back(c);
    if (options_.shuffles) {
      reader::detail::shuffle_engine engine(options_.seed, static_cast<std::uint64_t>(pass));
      reader::detail::permute(order_, engine);
    }
    pass_ = static_cast<std::uint64_t>(pass);
    has_begun_ = true;
    at_end_ = false;
    handed_ = used_ = 0;
    ended_.clear();
  }
  void use(std::int64_t samples) override {
    used_ += samples;
    if (used_ > handed_)
      throw error(text() << "lamina: task_queue: expected mini-batches of the samples of "
                            "reader::tasks alone, which were "
                         << handed_ << " in rank " << group_.rank() << " so far, found " << used_);
    // Samples may wait in buffers after the reader, in any order. If none waits, updates have used
    // all chunks that were read to their ends.
    if (used_ < handed_) return;
    for (const std::size_t c : ended_) finished_[c] = '1';
    ended_.clear();
  }
  LAMINA_COLD std::string finished() override {
    require_thread();
    std::string all(size() * static_cast<std::size_t>(group_.trainers()), '0');
    trainers().gather(finished_.data(), size(), all.data());
    std::string merged(size(), '0');
    for (std::size_t k = 0; k < all.size(); ++k)
      if (all[k] == '1') merged[k % size()] = '1';
    return merged;
  }

  /// Returns the number of the next chunk of a pass, for reader::tasks; size() if none is left.
  /// Throws lamina::error for a pass that begin() has not begun.
  std::size_t take(std::uint64_t pass) {
    require_thread();
    if (!has_begun_ || pass != pass_)
      throw error(
          text() << "lamina: task_queue: expected a training with the queue in its options, "
                    ".tasks, found a reader that begins pass "
                 << pass << " without it");
    if (at_end_) return size();
    const std::int64_t next = group_.add_to_number(number_, 1) - first_;
    at_end_ = next >= static_cast<std::int64_t>(order_.size());
    return at_end_ ? size() : order_[static_cast<std::size_t>(next)];
  }
  /// Counts samples of a chunk, for reader::tasks. `last`: the chunk has no more samples.
  void hand_out(std::size_t number, std::int64_t samples, bool last) {
    handed_ += samples;
    if (last) ended_.push_back(number);
  }
  /// Throws lamina::error because a chunk cannot be read; for reader::tasks.
  [[noreturn]] LAMINA_COLD void fail(std::size_t number, std::string_view why) const {
    throw error(text() << "lamina: task_queue: chunk " << chunk(number) << ": " << why);
  }

 private:
  struct facts {
    std::uint64_t chunks, checksum, seed, shuffles;
  };
  struct begun {
    std::uint64_t pass, finished;
  };

  LAMINA_COLD static void require_equal(const facts& first, const facts& other, std::size_t rank) {
    const auto require = [&](std::uint64_t a, std::uint64_t b, const char* what) {
      if (a != b)
        throw error(text() << "lamina: task_queue: expected the same chunks, seed and order in "
                              "each process, found "
                           << what << " in rank " << rank << " than in rank 0");
    };
    require(first.chunks, other.chunks, "another number of chunks");
    require(first.checksum, other.checksum, "other chunks");
    require(first.seed, other.seed, "another seed");
    require(first.shuffles, other.shuffles, "another order");
  }
  LAMINA_COLD void require_fitting(const std::string& finished) const {
    const bool fits =
        finished.size() == size() &&
        std::all_of(finished.begin(), finished.end(), [](char c) { return c == '0' || c == '1'; });
    if (!fits)
      throw error(text() << "lamina: task_queue: expected 0 or 1 for each of " << size()
                         << " chunks as finished chunks, found "
                         << (finished.size() == size() ? std::string("other packets")
                                                       : std::string(text() << finished.size())));
  }
  void require_thread() const {
    if (std::this_thread::get_id() != thread_)
      throw error(
          "lamina: task_queue: expected calls in the thread that has made it, found another "
          "thread: put buffered and xmap into the function of reader::tasks");
  }
  trainer_group trainers() { return trainer_group::trainers_of(group_); }
  template <class T>
  LAMINA_COLD std::vector<T> gather(const T& mine) {
    std::vector<T> all(static_cast<std::size_t>(group_.trainers()));
    trainers().gather(&mine, sizeof mine, all.data());
    return all;
  }

  process_group& group_;
  std::vector<std::string> chunks_;
  task_queue_options options_;
  std::uint64_t checksum_ = 0;
  std::thread::id thread_ = std::this_thread::get_id();
  int number_ = 0;          // the shared counter of chunks taken in all passes
  std::int64_t first_ = 0;  // the value of the counter at the beginning of the pass
  std::uint64_t pass_ = 0;
  bool has_begun_ = false, at_end_ = false;
  std::vector<std::size_t> order_;      // the chunks of the pass, in order
  std::string finished_;                // finished chunks, as far as this process knows
  std::vector<std::size_t> ended_;      // chunks whose last sample was handed out
  std::int64_t handed_ = 0, used_ = 0;  // samples of this process in this pass
};

}}}  // namespace lamina::distributed
