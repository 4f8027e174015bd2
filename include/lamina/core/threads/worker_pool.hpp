// SPDX-License-Identifier: Apache-2.0
// lamina/core/threads/worker_pool.hpp - threads that repeatedly run tasks in parallel; between two
// rounds of tasks the threads wait.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include <lamina/core/arrays/owned_array.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/system/system.hpp>
#include <lamina/core/threads/threading.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Runs `task(0)` ... `task(n - 1)` in parallel, task 0 on the calling thread. With one task no
/// thread is started. Only one caller at a time may use a pool. A forked child does not inherit the
/// threads; its first round starts new threads.
class worker_pool {
 public:
  /// Throws lamina::error for fewer than 1 task, and if the system cannot start more threads.
  LAMINA_API LAMINA_COLD explicit worker_pool(int tasks);
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;
  ~worker_pool() { end(); }

  /// Returns the number of tasks per round.
  int size() const { return workers_ + 1; }

  /// Runs one round and waits for its end; rethrows the first exception of a task.
  template <class Task>
  void run(Task&& task) {
    if (workers_ == 0) {
      task(0);
      return;
    }
    // The task is passed by a plain pointer and not as a std::function, so that a round does not
    // allocate memory.
    run_round(&task, [](void* t, int i) { (*static_cast<std::remove_reference_t<Task>*>(t))(i); });
  }

 private:
  LAMINA_API LAMINA_COLD void start();
  /// Starts new threads in a forked child. The mutex and the state of the round are made anew: at
  /// the fork, a thread of the parent may have locked the mutex or been in a round.
  LAMINA_API LAMINA_COLD void start_again();
  LAMINA_API LAMINA_COLD void end();
  LAMINA_NOINLINE void run_round(void* task, void (*call)(void*, int)) {
    if (process_ != detail::system::process_id()) start_again();
    {
      const threading::guard lock(mutex_);
      task_ = task;
      call_ = call;
      running_ = started_;
      __atomic_store_n(&round_, round_ + 1, __ATOMIC_RELEASE);
    }
    begin_.notify_all();
    attempt(0);
    wait_awhile([this] { return __atomic_load_n(&running_, __ATOMIC_ACQUIRE) == 0; });
    threading::guard lock(mutex_);
    end_.wait(lock, [this] { return running_ == 0; });
    if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  LAMINA_NOINLINE void attempt(int i) {
    LAMINA_TRY { call_(task_, i); }
    LAMINA_CATCH_ALL {
      const threading::guard lock(mutex_);
      if (failure_ == nullptr) failure_ = std::current_exception();
    }
  }
  LAMINA_NOINLINE void work(int i) {
    std::uint64_t seen = 0;
    for (;;) {
      wait_awhile([&] { return __atomic_load_n(&round_, __ATOMIC_ACQUIRE) != seen; });
      threading::guard lock(mutex_);
      begin_.wait(lock, [&] { return ending_ || round_ != seen; });
      if (ending_) return;
      seen = round_;
      lock.unlock();
      attempt(i);
      lock.lock();
      __atomic_store_n(&running_, running_ - 1, __ATOMIC_RELEASE);
      if (running_ == 0) end_.notify_one();
    }
  }
  /// Spins for some microseconds before a thread sleeps, unless there are more threads than
  /// processors. If a round is short, the next one begins sooner than a thread could sleep and
  /// wake.
  template <class Met>
  void wait_awhile(Met met) const {
    for (int i = 0; i < patience_ && !met(); ++i) threading::wait_step(i);
  }

  threading::mutex mutex_;
  threading::condition begin_, end_;
  owned_array<threading::thread> threads_;
  int started_ = 0;
  const int workers_, patience_;
  long process_ = 0;  // the process that started the threads; 0: not all are started
  void* task_ = nullptr;
  void (*call_)(void*, int) = nullptr;
  std::uint64_t round_ = 0;  // round_ and running_ are also read without the mutex
  int running_ = 0;
  bool ending_ = false;
  std::exception_ptr failure_ = nullptr;
};

#if LAMINA_DEFINES

worker_pool::worker_pool(int tasks)
    : threads_(tasks > 1 ? static_cast<std::size_t>(tasks - 1) : 0),
      workers_(tasks > 1 ? tasks - 1 : 0),
      patience_(tasks > 1 && tasks <= detail::system::processors() ? 4000 : 0) {
  if (tasks < 1)
    LAMINA_THROW error("lamina: worker_pool: expected at least 1 task, found " +
                       std::to_string(tasks));
  start();
}

void worker_pool::start() {
  process_ = 0;
  LAMINA_TRY {
    for (; started_ < workers_; ++started_)
      threads_[started_] = threading::thread([this, i = started_ + 1] { work(i); });
  }
  LAMINA_CATCH_ALL {
    end();
    started_ = 0;
    LAMINA_RETHROW;
  }
  process_ = detail::system::process_id();
}

void worker_pool::start_again() {
  new (&mutex_) threading::mutex;
  new (&begin_) threading::condition;
  new (&end_) threading::condition;
  started_ = running_ = 0;
  round_ = 0;
  ending_ = false;
  failure_ = nullptr;
  start();
}

void worker_pool::end() {
  if (process_ != 0 && process_ != detail::system::process_id()) return;
  {
    const threading::guard lock(mutex_);
    ending_ = true;
  }
  begin_.notify_all();
  for (int i = 0; i < started_; ++i) threads_[i].join();
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
