// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/bucket_exchange.hpp - sums gradients over threads and processes, bucket by
// bucket, and sends what each process has updated to all others, while they compute.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/core/owned_array.hpp>
#include <lamina/core/text.hpp>
#include <lamina/core/threading.hpp>
#include <lamina/distributed/gradient_shards.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/train/tree_sum.hpp>

namespace lamina::inline LAMINA_ABI::distributed {

/// The gradients and parameters of a training in buckets. A step takes each bucket through the
/// stages below. Any thread sums and updates; thread 0 alone sends and receives. A thread calls
/// advance() between its groups, and finish() behind the last one.
class bucket_exchange {
 public:
  using range = gradient_shards::range;
  using shard = gradient_shards::shard;

  /// The arrays of a training. Those of thread t in `gradients` begin at t * count.
  struct arrays {
    std::vector<float*> gradients, values;
    int count = 0, threads = 1;
    bool is_double = false;
  };
  /// The step of a training: by part of all processes its weight; and how parameters are updated,
  /// null if they are not updated yet.
  struct step {
    std::vector<double> weight;
    shared_arrays::update_function update = nullptr;
    void* trainer = nullptr;
    int samples = 0;
  };

  LAMINA_COLD bucket_exchange(process_group& group, arrays of, gradient_shards shards)
      : group_(group),
        of_(std::move(of)),
        shards_(std::move(shards)),
        count_(static_cast<int>(shards_.buckets().size())),
        ranks_(static_cast<std::size_t>(group.size())),
        me_(static_cast<std::size_t>(group.rank())),
        states_(shards_.buckets().size()),
        passed_(static_cast<std::size_t>(of_.threads)) {
    std::size_t others = 0, own = 0, mixed = 0;
    for (int b = 0; b < count_; ++b) {
      state& s = states_[b];
      s.received = others, s.total = own, s.packed = mixed;
      others += mine(b).floats * (ranks_ - 1);
      own += mine(b).floats;
      for (std::size_t r = 0; r < ranks_; ++r) s.packs = s.packs || of_rank(b, r).ranges.size() > 1;
      if (s.packs) mixed += bucket(b).floats;
    }
    received_.resize(others);
    total_.resize(own);
    packed_.resize(mixed);
    samples_.resize(ranks_);
  }

  const arrays& all() const { return of_; }
  int buckets() const { return count_; }
  const shard& mine(int b) const { return of_rank(b, me_); }

  /// Begins a step. With `early`, processes compare the sizes of their mini-batches before they
  /// update anything.
  void begin(step s, bool early) {
    step_ = std::move(s);
    const std::size_t local = static_cast<std::size_t>(of_.threads);
    has_.assign(ranks_, false);
    for (std::size_t p = 0; p < step_.weight.size(); ++p)
      if (step_.weight[p] != 0) has_[p / local] = true;
    for (int b = 0; b < count_; ++b) states_[b].stage.store(waiting, std::memory_order_relaxed);
    for (std::size_t t = 0; t < local; ++t) passed_[t].store(-1, std::memory_order_relaxed);
    summed_ = received_from_ = spread_ = arrived_ = 0;
    has_failed_.store(false, std::memory_order_relaxed);
    has_updated_.store(false, std::memory_order_relaxed);
    is_open_ = true;
    compares_ = early && ranks_ > 1;
    if (!compares_) return;
    sends_.clear();
    receives_.clear();
    for (std::size_t r = 0; r < ranks_; ++r) {
      if (r == me_) continue;
      sends_.push_back({static_cast<int>(r), &step_.samples, sizeof step_.samples});
      receives_.push_back({static_cast<int>(r), &samples_[r], sizeof samples_[r]});
    }
    compared_ = group_.start(sizes, sends_, receives_);
  }
  bool is_open() const { return is_open_; }
  bool updates() const { return step_.update != nullptr; }
  /// From now on, updates parameters too.
  void update_by(shared_arrays::update_function how, void* trainer) {
    step_.update = how;
    step_.trainer = trainer;
  }

  /// Says that thread `thread` has run all groups up to `group`, and does what can be done.
  void advance(int thread, int group) {
    if (group >= 0) passed_[thread].store(group, std::memory_order_release);
    work(thread);
  }
  /// Works until all buckets are summed, or updated and sent to all.
  void finish(int thread) {
    passed_[thread].store(last_group, std::memory_order_release);
    try {
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
  /// The step is done.
  void end() { is_open_ = false; }
  /// Gives up a step. Returns whether it has changed parameters.
  bool drop() noexcept {
    if (!is_open_) return false;
    is_open_ = false;
    group_.drop();
    return has_updated_.load(std::memory_order_acquire);
  }

  /// The sum over range number k of this process in bucket b.
  float* total(int b, std::size_t k) {
    std::size_t at = states_[b].total;
    for (std::size_t i = 0; i < k; ++i) at += mine(b).ranges[i].size();
    return total_.data() + at;
  }
  /// Makes arrays equal on all ranks: each sends its shards to all others.
  LAMINA_COLD void collect(float* const* of) {
    sends_.clear();
    receives_.clear();
    for (int b = 0; b < count_; ++b)
      for (std::size_t r = 0; r < ranks_; ++r) {
        if (r == me_) continue;
        for (const range& a : mine(b).ranges)
          sends_.push_back({static_cast<int>(r), of[a.array] + a.first, a.size() * sizeof(float)});
        for (const range& a : of_rank(b, r).ranges)
          receives_.push_back(
              {static_cast<int>(r), of[a.array] + a.first, a.size() * sizeof(float)});
      }
    group_.exchange(sends_, receives_);
  }

 private:
  /// How far a bucket is. A thread claims the work of a stage by the stage that follows.
  enum stage_of_bucket : int {
    waiting,  // a thread still computes its gradients
    adding,
    added,     // its sums over the threads are there
    sent,      // they travel
    received,  // the sums of all processes are there
    summing,
    summed,  // ... and added up
    updating,
    updated,  // the parameters of this process are new
    spread,   // they travel
    finished
  };
  enum : int { sums, news, sizes };  // channels
  static constexpr int last_group = 1 << 30;

  struct state {
    std::atomic<int> stage{waiting};
    int exchange = -1;                                // its number; -1: none
    std::size_t received = 0, total = 0, packed = 0;  // where its floats begin
    bool packs = false;  // messages are packed, because some rank has several ranges
  };

  const gradient_shards::bucket& bucket(int b) const {
    return shards_.buckets()[static_cast<std::size_t>(b)];
  }
  const shard& of_rank(int b, std::size_t r) const { return bucket(b).of_rank[r]; }
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

  /// Does what can be done without waiting. Returns whether there was anything.
  bool work(int thread) {
    bool found = false;
    int all = last_group;
    for (int t = 0; t < of_.threads; ++t)
      all = (std::min)(all, passed_[t].load(std::memory_order_acquire));
    for (int b = 0; b < count_ && bucket(b).times.complete <= all; ++b) {
      if (!work_on(b, all)) continue;
      found = true;
      if (thread == 0) communicate();
    }
    return (thread == 0 && communicate()) || found;
  }
  bool work_on(int b, int all) {
    if (stage(b) == waiting && claims(b, waiting, adding)) {
      if (of_.threads > 1 && has_[me_]) add_threads(b);
      set(b, added);
      return true;
    }
    bool found = false;
    if (stage(b) == received && claims(b, received, summing)) {
      add_ranks(b);
      set(b, summed);
      found = true;
    }
    if (step_.update == nullptr || stage(b) != summed || bucket(b).times.last_read > all ||
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
  LAMINA_COLD void require_same_sizes() {
    compares_ = false;
    for (std::size_t r = 0; r < ranks_; ++r)
      if (r != me_ && samples_[r] != step_.samples)
        throw error(text() << "lamina: train: expected the same mini-batch in each process, found "
                           << step_.samples << " samples in rank " << me_ << " and " << samples_[r]
                           << " in rank " << r);
  }

  /// The message that has a shard's floats of some arrays: in place, or in packed memory.
  float* place(int b, std::size_t rank, float* const* of) {
    if (states_[b].packs) return packed_.data() + states_[b].packed + of_rank(b, rank).at;
    const range& only = of_rank(b, rank).ranges[0];
    return of[only.array] + only.first;
  }
  void copy(int b, std::size_t rank, float* const* of, bool packs) {
    if (!states_[b].packs) return;
    float* at = packed_.data() + states_[b].packed + of_rank(b, rank).at;
    for (const range& a : of_rank(b, rank).ranges) {
      float* const array = of[a.array] + a.first;
      std::memcpy(packs ? at : array, packs ? array : at, a.size() * sizeof(float));
      at += a.size();
    }
  }
  void add_message(std::vector<process_group::message>& to, int b, std::size_t peer,
                   std::size_t rank, float* data) {
    const std::size_t bytes = of_rank(b, rank).floats * sizeof(float);
    if (bytes > 0) to.push_back({static_cast<int>(peer), data, bytes});
  }
  void start(int b, int channel) {
    states_[b].exchange =
        sends_.empty() && receives_.empty() ? -1 : group_.start(channel, sends_, receives_);
  }
  void start_sums(int b) {
    sends_.clear();
    receives_.clear();
    float* to = received_.data() + states_[b].received;
    for (std::size_t r = 0; r < ranks_; ++r) {
      if (r == me_) continue;
      if (has_[r]) add_message(receives_, b, r, me_, to), to += mine(b).floats;
      if (!has_[me_] || of_rank(b, r).floats == 0) continue;
      copy(b, r, of_.gradients.data(), true);
      add_message(sends_, b, r, r, place(b, r, of_.gradients.data()));
    }
    start(b, sums);
    set(b, sent);
  }
  void start_news(int b) {
    sends_.clear();
    receives_.clear();
    if (mine(b).floats > 0) copy(b, me_, of_.values.data(), true);
    for (std::size_t r = 0; r < ranks_; ++r) {
      if (r == me_) continue;
      if (mine(b).floats > 0) add_message(sends_, b, r, me_, place(b, me_, of_.values.data()));
      if (of_rank(b, r).floats > 0) add_message(receives_, b, r, r, place(b, r, of_.values.data()));
    }
    start(b, news);
    set(b, spread);
  }
  void end_news(int b) {
    for (std::size_t r = 0; r < ranks_; ++r)
      if (r != me_) copy(b, r, of_.values.data(), false);
    has_updated_.store(true, std::memory_order_relaxed);
    set(b, finished);
  }

  void add_threads(int b) {
    if (of_.is_double)
      add_threads_as<double>(b);
    else
      add_threads_as<float>(b);
  }
  void add_ranks(int b) {
    if (of_.is_double)
      add_ranks_as<double>(b);
    else
      add_ranks_as<float>(b);
  }
  /// Adds up the gradients of this process's threads, with their weights, to those of thread 0.
  template <class T>
  void add_threads_as(int b) {
    const std::size_t threads = static_cast<std::size_t>(of_.threads);
    std::vector<const T*> part(threads);
    std::vector<T> weight(threads);
    for (std::size_t t = 0; t < threads; ++t)
      weight[t] = static_cast<T>(step_.weight[me_ * threads + t]);
    for (const shard& s : bucket(b).of_rank)
      for (const range& a : s.ranges) {
        for (std::size_t t = 0; t < threads; ++t)
          part[t] = reinterpret_cast<const T*>(gradient(t, a.array) + a.first);
        tree_sum<T>({part.data(), weight.data(), of_.threads})
            .add(0, numbers<T>(a), reinterpret_cast<T*>(gradient(0, a.array) + a.first));
      }
  }
  /// Adds up this process's shard over the processes.
  template <class T>
  void add_ranks_as(int b) {
    std::vector<const T*> part(ranks_);
    std::vector<T> weight;
    if (of_.threads == 1)
      for (const double w : step_.weight) weight.push_back(static_cast<T>(w));
    std::size_t at = 0;
    for (const range& a : mine(b).ranges) {
      const float* from = received_.data() + states_[b].received + at;
      for (std::size_t r = 0; r < ranks_; ++r) {
        const float* array = nullptr;
        if (r == me_)
          array = gradient(0, a.array) + a.first;
        else if (has_[r])
          array = std::exchange(from, from + mine(b).floats);
        part[r] = has_[r] ? reinterpret_cast<const T*>(array) : nullptr;
      }
      tree_sum<T>({part.data(), weight.empty() ? nullptr : weight.data(), group_.size()})
          .add(0, numbers<T>(a), reinterpret_cast<T*>(total_.data() + states_[b].total + at));
      at += a.size();
    }
  }
  template <class T>
  static std::size_t numbers(const range& a) {
    return a.size() * sizeof(float) / sizeof(T);
  }
  float* gradient(std::size_t thread, int array) const {
    return of_
        .gradients[thread * static_cast<std::size_t>(of_.count) + static_cast<std::size_t>(array)];
  }
  void update(int b) {
    has_updated_.store(true, std::memory_order_relaxed);
    float* sum = total_.data() + states_[b].total;
    for (const range& a : mine(b).ranges) {
      step_.update(step_.trainer, a.array, a.first, a.size(), sum);
      sum += a.size();
    }
  }

  process_group& group_;
  arrays of_;
  gradient_shards shards_;
  int count_;
  std::size_t ranks_, me_;
  owned_array<state> states_;             // by bucket
  owned_array<std::atomic<int>> passed_;  // by thread: the last group that it has run
  engine::aligned_buffer received_, total_, packed_;
  step step_;
  std::vector<bool> has_;  // by rank: whether it has gradients in this step
  // Buckets below these numbers are sent, received from all, sent to all, and received from all.
  int summed_ = 0, received_from_ = 0, spread_ = 0, arrived_ = 0;
  std::atomic<bool> has_failed_{false}, has_updated_{false};
  bool is_open_ = false, compares_ = false;
  int compared_ = -1;         // the exchange of the sizes of mini-batches
  std::vector<int> samples_;  // by rank
  std::vector<process_group::message> sends_, receives_;
};

}  // namespace lamina::inline LAMINA_ABI::distributed
