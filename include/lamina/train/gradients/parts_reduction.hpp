// SPDX-License-Identifier: Apache-2.0
// lamina/train/gradients/parts_reduction.hpp - sums statistics over the parts of a mini-batch while
// threads and processes compute them (train_options::sync_batch_norm).
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

#include <lamina/core/system/system.hpp>
#include <lamina/core/threads/threading.hpp>
#include <lamina/engine/cpu/schedule/batch_sums.hpp>
#include <lamina/train/world.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Implements batch_sums for the parts of a mini-batch, one part per thread of each process. All
/// parts, also those without samples, meet at each of the sums of a program. Sums follow a balanced
/// binary tree over the parts of all processes, so R processes of T threads get the same bits as
/// one process with R * T threads. Only thread 0 communicates with other processes.
class parts_reduction {
 public:
  /// `counts` has the number of elements of each of the sums, in the order in which the program
  /// computes them. With `all`, the parts include those of all its processes.
  LAMINA_API LAMINA_COLD parts_reduction(int threads, world* all, std::vector<std::size_t> counts);
  parts_reduction(const parts_reduction&) = delete;
  parts_reduction& operator=(const parts_reduction&) = delete;

  /// Returns the sums of the part that a thread computes.
  const engine::cpu::batch_sums* part(int thread) const { return &parts_[index(thread)]; }
  /// Sets the weight of a part in the cost of the next mini-batch, relative to other parts.
  void weigh(int thread, double weight) { parts_[index(thread)].weight = weight; }

  /// Begins a mini-batch; no thread may be in run().
  void begin() {
    std::fill(met_.begin(), met_.end(), std::size_t{0});
    arrived_ = 0;
    add_ = nullptr;
    failure_ = nullptr;
    has_failed_ = 0;
  }
  /// Runs f() in a thread, which contributes the sums of its part or, if the part has no samples,
  /// nothing. If a thread throws, the threads that wait for it throw the same exception.
  template <class F>
  void run(int thread, F&& f) {
    LAMINA_TRY {
      f();
      // A part without samples still waits at each sum until the other parts have contributed.
      while (met_[index(thread)] < counts_.size()) all_reduce_nothing(thread);
    }
    LAMINA_CATCH_ALL {
      fail();
      LAMINA_RETHROW;
    }
  }

 private:
  using add_function = engine::cpu::batch_sums::add_function;

  static std::size_t index(int thread) { return static_cast<std::size_t>(thread); }
  /// Whether the threads of a process form a complete subtree of the tree over all parts, so that
  /// their sum is one of its nodes.
  bool adds_threads() const { return (threads_ & (threads_ - 1)) == 0; }

  LAMINA_API LAMINA_COLD void all_reduce_nothing(int thread);
  LAMINA_API LAMINA_COLD static void all_reduce(void* self, int part, std::size_t count,
                                                add_function add);
  /// `add` is null for a part without rows.
  LAMINA_API LAMINA_COLD void meet(std::size_t thread, std::size_t count, add_function add);
  /// Waits until met() holds, at first without the lock. Throws the exception of a thread that has
  /// failed.
  template <class Met>
  void wait(threading::guard& lock, Met met) {
    const auto ends = [&] { return met() || __atomic_load_n(&has_failed_, __ATOMIC_ACQUIRE) != 0; };
    if (patience_ > 0 && !ends()) {
      lock.unlock();
      for (int i = 0; i < patience_ && !ends(); ++i) threading::wait_step(i);
      lock.lock();
    }
    changed_.wait(lock, ends);
    if (!met()) std::rethrow_exception(failure_);
  }
  LAMINA_API LAMINA_COLD void fail() noexcept;

  /// Adds up the parts of all processes element by element; afterwards each process has the `count`
  /// sums.
  LAMINA_API LAMINA_COLD void all_reduce_sum(std::size_t count);
  void add_tree(double* numbers, std::size_t stride, std::size_t parts, std::size_t count) const {
    if (add_ == nullptr) return;  // no part of this process has rows: no thread takes the sum
    for (std::size_t step = 1; step < parts; step *= 2)
      for (std::size_t p = 0; p + step < parts; p += 2 * step)
        add_(numbers + p * stride, numbers + (p + step) * stride, count);
  }

  std::size_t threads_, ranks_, most_ = 0;
  world* all_;
  std::vector<std::size_t> counts_, met_;       // met_: by thread, the number of sums so far
  std::vector<engine::cpu::batch_sums> parts_;  // the interface of each thread
  std::vector<double> slots_, total_;           // elements by thread; their sum over all parts
  std::vector<double> sent_, received_;
  add_function add_ = nullptr;
  threading::mutex mutex_;
  threading::condition changed_;
  int patience_;
  std::size_t arrived_ = 0;  // threads (except thread 0) at this sum; also read without the mutex
  unsigned round_ = 0;
  int has_failed_ = 0;
  std::exception_ptr failure_;
};

#if LAMINA_DEFINES

parts_reduction::parts_reduction(int threads, world* all, std::vector<std::size_t> counts)
    : threads_(static_cast<std::size_t>(threads)),
      ranks_(all == nullptr ? 1 : static_cast<std::size_t>(all->size())),
      all_(all),
      counts_(std::move(counts)),
      met_(threads_),
      parts_(threads_),
      patience_(threads <= detail::system::processors() ? 4000 : 0) {
  for (const std::size_t n : counts_) most_ = (std::max)(most_, n);
  slots_.resize(threads_ * most_);
  total_.resize(most_);
  if (ranks_ > 1) {
    const std::size_t each = adds_threads() ? 1 : threads_;
    sent_.resize(each * most_);
    received_.resize(ranks_ * each * most_);
  }
  for (std::size_t t = 0; t < threads_; ++t)
    parts_[t] = {slots_.data() + t * most_, 1, static_cast<int>(t), this, &all_reduce};
}

void parts_reduction::all_reduce_nothing(int thread) {
  const std::size_t count = counts_[met_[index(thread)]];
  std::fill_n(parts_[index(thread)].numbers, count, 0.0);
  meet(index(thread), count, nullptr);
}

void parts_reduction::all_reduce(void* self, int part, std::size_t count, add_function add) {
  static_cast<parts_reduction*>(self)->meet(index(part), count, add);
}

void parts_reduction::meet(std::size_t thread, std::size_t count, add_function add) {
  ++met_[thread];
  threading::guard lock(mutex_);
  if (add != nullptr) add_ = add;
  if (thread > 0) {
    const unsigned round = round_;
    __atomic_store_n(&arrived_, arrived_ + 1, __ATOMIC_RELEASE);
    if (arrived_ + 1 == threads_) changed_.notify_all();
    wait(lock, [&] { return __atomic_load_n(&round_, __ATOMIC_ACQUIRE) != round; });
    lock.unlock();
  } else {
    wait(lock, [&] { return __atomic_load_n(&arrived_, __ATOMIC_ACQUIRE) + 1 == threads_; });
    lock.unlock();
    all_reduce_sum(count);
    lock.lock();
    add_ = nullptr;
    arrived_ = 0;
    __atomic_store_n(&round_, round_ + 1, __ATOMIC_RELEASE);
    lock.unlock();
    changed_.notify_all();
  }
  // The next total is not written before all threads have reached the next sum.
  std::copy_n(total_.data(), count, parts_[thread].numbers);
}

void parts_reduction::fail() noexcept {
  const threading::guard lock(mutex_);
  if (failure_ == nullptr) failure_ = std::current_exception();
  __atomic_store_n(&has_failed_, 1, __ATOMIC_RELEASE);
  changed_.notify_all();
}

void parts_reduction::all_reduce_sum(std::size_t count) {
  double* sum = slots_.data();
  if (ranks_ > 1) {
    const std::size_t each = adds_threads() ? 1 : threads_;
    if (adds_threads()) add_tree(slots_.data(), most_, threads_, count);
    for (std::size_t t = 0; t < each; ++t)
      std::copy_n(slots_.data() + t * most_, count, sent_.data() + t * count);
    all_->gather(sent_.data(), each * count * sizeof(double), received_.data());
    sum = received_.data();
    add_tree(sum, count, ranks_ * each, count);
  } else {
    add_tree(sum, most_, threads_, count);
  }
  std::copy_n(sum, count, total_.data());
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
