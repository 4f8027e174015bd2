// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/sync/bucket_exchange.hpp - sums gradients over threads and processes, bucket
// by bucket, and sends updated parameters to all processes, while backward still computes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <lamina/core/arrays/owned_array.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/threads/threading.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/distributed/sync/bucket_memory.hpp>
#include <lamina/distributed/sync/communication_thread.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Moves the gradients and parameters of a training through the stages below, bucket by bucket. Any
/// thread may sum and update. Only one thread sends and receives: thread 0, or the communication
/// thread of the group until thread 0 calls finish(). A thread calls advance() between its groups
/// of operators, and finish() after the last one.
class bucket_exchange {
 public:
  /// One training step: the weight of each part of the mini-batch, over all processes, and the
  /// function that updates parameters (null: the step only sums gradients, until update_by()).
  struct step {
    std::vector<double> weight;
    parameter_sync::update_function update = nullptr;
    void* trainer = nullptr;
    int samples = 0;
  };

  LAMINA_COLD bucket_exchange(process_group& group, bucket_arrays of, gradient_shards shards)
      : group_(group),
        memory_(group.rank(), group.size(), std::move(of), std::move(shards)),
        count_(memory_.buckets()),
        threads_(memory_.arrays().threads),
        states_(static_cast<std::size_t>(count_)),
        passed_(static_cast<std::size_t>(threads_)),
        samples_(static_cast<std::size_t>(group.size())) {
    if (group.has_communication_thread() && group.bucket_bytes() > 0 && count_ > 0)
      communication_ = std::make_unique<communication_thread>([this] { return work(0); });
  }

  /// Returns the memory of the buckets, with their arrays and sums.
  bucket_memory& memory() { return memory_; }

  /// Begins a step. With `early`, the processes compare the sizes of their mini-batches before they
  /// update any parameter.
  void begin(step s, bool early) {
    step_ = std::move(s);
    const std::size_t threads = static_cast<std::size_t>(threads_), ranks = samples_.size();
    has_.assign(ranks, false);
    for (std::size_t p = 0; p < step_.weight.size(); ++p)
      if (step_.weight[p] != 0) has_[p / threads] = true;
    for (int b = 0; b < count_; ++b) states_[b].stage.store(waiting, std::memory_order_relaxed);
    for (int t = 0; t < threads_; ++t) passed_[t].store(-1, std::memory_order_relaxed);
    summed_ = received_from_ = spread_ = arrived_ = 0;
    has_failed_.store(false, std::memory_order_relaxed);
    has_updated_.store(false, std::memory_order_relaxed);
    is_open_ = true;
    // The comparison progresses only while threads work on buckets, so it needs at least one.
    compares_ = early && ranks > 1 && count_ > 0;
    if (compares_) start_sizes();
    if (early && communication_) communication_->resume();
  }
  bool is_open() const { return is_open_; }
  bool updates() const { return step_.update != nullptr; }
  /// Sets the update function; from now on the step also updates parameters.
  void update_by(parameter_sync::update_function how, void* trainer) {
    step_.update = how;
    step_.trainer = trainer;
  }

  /// Records that `thread` has run all groups up to `group`, and does the work that is ready. A
  /// group of an inner block (-1) may take less time than polling for messages, so thread 0 polls
  /// only after every eighth of these.
  void advance(int thread, int group) {
    if (group >= 0)
      passed_[thread].store(group, std::memory_order_release);
    else if (thread > 0 || ++inner_groups_ % groups_per_look != 0)
      return;
    if (thread > 0 || !communication_) work(thread);
  }
  /// Works until all buckets are summed or, if the step updates, until their parameters are updated
  /// and sent to all processes.
  void finish(int thread) {
    passed_[thread].store(last_group, std::memory_order_release);
    try {
      if (thread == 0 && communication_) {
        // Thread 0 is idle now and polls more often than the communication thread.
        communication_->pause();
        communication_->require();
      }
      for (int i = 0; !is_finished(thread); ++i) {
        if (has_failed_.load(std::memory_order_acquire)) return;
        if (work(thread)) continue;
        if (thread == 0)
          group_.wait_awhile();
        else
          threading::wait_step(i);
      }
    } catch (...) {
      has_failed_.store(true, std::memory_order_release);
      throw;
    }
  }
  /// Ends the step after all threads have finished.
  void end() { is_open_ = false; }
  /// Abandons the step after an error. Returns whether it has already changed parameters.
  bool drop() noexcept {
    if (!is_open_) return false;
    if (communication_) communication_->pause();
    is_open_ = false;
    group_.drop();
    return has_updated_.load(std::memory_order_acquire);
  }

  /// Makes arrays equal on all ranks: each rank sends its shards to all others.
  LAMINA_COLD void all_gather(float* const* of) {
    memory_.list_arrays(of, list_);
    group_.exchange(list_.sends, list_.receives);
  }
  /// Gathers arrays on rank 0: each rank sends its shards. With `back`, rank 0 sends the shards to
  /// their ranks instead.
  LAMINA_COLD void gather(float* const* of, bool back) {
    memory_.list_at_first(of, back, list_);
    group_.exchange(list_.sends, list_.receives);
  }

 private:
  /// The progress of a bucket. To claim the work of a stage, a thread sets the stage to its -ing
  /// form.
  enum stage_of_bucket : int {
    waiting,  // a thread still computes its gradients
    adding,
    added,     // the gradients are summed over the threads of this process
    sent,      // messages with gradients are in flight
    received,  // the gradients of all processes have arrived
    summing,
    summed,  // the gradients are summed over all processes
    updating,
    updated,  // the parameters of this process are updated
    spread,   // messages with parameters are in flight
    finished
  };
  enum : int { sums, news, sizes };  // channels of the group
  static constexpr int last_group = 1 << 30;
  static constexpr unsigned groups_per_look = 8;

  struct state {
    std::atomic<int> stage{waiting};
    int exchange = -1;  // the number of its exchange; -1: none
  };

  std::size_t me() const { return static_cast<std::size_t>(group_.rank()); }
  const gradient_times& times(int b) const { return memory_.bucket(b).times; }
  int stage(int b) const { return states_[b].stage.load(std::memory_order_acquire); }
  void set(int b, int stage) { states_[b].stage.store(stage, std::memory_order_release); }
  bool claims(int b, int from, int to) {
    return states_[b].stage.compare_exchange_strong(from, to, std::memory_order_acq_rel);
  }
  bool is_finished(int thread) const {
    const int last = step_.update == nullptr ? summed : thread == 0 ? finished : updated;
    for (int b = count_; b-- > 0;)
      if (stage(b) < last) return false;
    return true;
  }

  /// Does the work that is ready, without waiting. Returns whether there was any.
  bool work(int thread) {
    bool found = false;
    int all = last_group;
    for (int t = 0; t < threads_; ++t)
      all = (std::min)(all, passed_[t].load(std::memory_order_acquire));
    for (int b = 0; b < count_ && times(b).complete <= all; ++b) {
      if (!work_on(b, all)) continue;
      found = true;
      if (thread == 0) communicate();
    }
    return (thread == 0 && communicate()) || found;
  }
  bool work_on(int b, int all) {
    if (stage(b) == waiting && claims(b, waiting, adding)) {
      if (threads_ > 1 && has_[me()]) memory_.add_threads(b, step_.weight);
      set(b, added);
      return true;
    }
    bool found = false;
    if (stage(b) == received && claims(b, received, summing)) {
      memory_.add_ranks(b, step_.weight, has_);
      set(b, summed);
      found = true;
    }
    if (step_.update == nullptr || stage(b) != summed || times(b).last_read > all ||
        !claims(b, summed, updating))
      return found;
    update(b);
    set(b, updated);
    return true;
  }
  bool communicate() {
    bool found = false;
    for (; summed_ < count_ && stage(summed_) == added; ++summed_)
      start_sums(summed_), found = true;
    if (compares_ && group_.poll(compared_)) require_same_sizes();
    for (; !compares_ && received_from_ < summed_ && is_done(received_from_); ++received_from_)
      set(received_from_, received), found = true;
    for (; spread_ < count_ && stage(spread_) == updated; ++spread_)
      start_news(spread_), found = true;
    for (; arrived_ < spread_ && is_done(arrived_); ++arrived_) end_news(arrived_), found = true;
    return found;
  }
  bool is_done(int b) {
    if (states_[b].exchange >= 0 && !group_.poll(states_[b].exchange)) return false;
    states_[b].exchange = -1;
    return true;
  }
  void start_sizes() {
    list_.clear();
    for (std::size_t r = 0; r < samples_.size(); ++r) {
      if (r == me()) continue;
      list_.sends.push_back({static_cast<int>(r), &step_.samples, sizeof step_.samples});
      list_.receives.push_back({static_cast<int>(r), &samples_[r], sizeof samples_[r]});
    }
    compared_ = group_.start(sizes, list_.sends, list_.receives);
  }
  LAMINA_COLD void require_same_sizes() {
    compares_ = false;
    for (std::size_t r = 0; r < samples_.size(); ++r)
      if (r != me() && samples_[r] != step_.samples)
        throw error(text() << "lamina: train: expected the same mini-batch in each process, found "
                           << step_.samples << " samples in rank " << me() << " and " << samples_[r]
                           << " in rank " << r);
  }

  void start(int b, int channel, int stage) {
    states_[b].exchange = list_.sends.empty() && list_.receives.empty()
                              ? -1
                              : group_.start(channel, list_.sends, list_.receives);
    set(b, stage);
  }
  void start_sums(int b) {
    memory_.list_sums(b, has_, list_);
    start(b, sums, sent);
  }
  void start_news(int b) {
    memory_.list_news(b, list_);
    start(b, news, spread);
  }
  void end_news(int b) {
    memory_.store_news(b);
    has_updated_.store(true, std::memory_order_relaxed);
    set(b, finished);
  }
  void update(int b) {
    has_updated_.store(true, std::memory_order_relaxed);
    float* sum = memory_.total(b, 0);
    for (const gradient_shards::range& a : memory_.mine(b).ranges) {
      step_.update(step_.trainer, a.array, a.first, a.size(), sum);
      sum += a.size();
    }
  }

  process_group& group_;
  bucket_memory memory_;
  int count_, threads_;
  owned_array<state> states_;             // the state of each bucket
  owned_array<std::atomic<int>> passed_;  // by thread: the last group that it has run
  step step_;
  std::vector<bool> has_;  // by rank: whether it has gradients in this step
  // Numbers of buckets, counted from bucket 0, whose gradients are sent, whose gradients are
  // received from all, whose parameters are sent, and whose parameters are received.
  int summed_ = 0, received_from_ = 0, spread_ = 0, arrived_ = 0;
  std::atomic<bool> has_failed_{false}, has_updated_{false};
  unsigned inner_groups_ = 0;
  bool is_open_ = false, compares_ = false;
  int compared_ = -1;         // the exchange of the sizes of mini-batches
  std::vector<int> samples_;  // the mini-batch size of each rank
  bucket_memory::messages list_;
  std::unique_ptr<communication_thread> communication_;  // the last member: it uses all others
};

}}}  // namespace lamina::distributed
