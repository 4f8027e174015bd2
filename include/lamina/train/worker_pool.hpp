// SPDX-License-Identifier: Apache-2.0
// lamina/train/worker_pool.hpp - threads that wait for work: one for each gradient machine.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include <lamina/core/config.hpp>
#include <lamina/core/threading.hpp>

namespace lamina {

/// Runs `task(0)` ... `task(n - 1)` side by side, task 0 on the calling thread. With one task no
/// thread is ever started.
class worker_pool {
 public:
  LAMINA_COLD explicit worker_pool(int tasks)
      : threads_(tasks > 1 ? std::make_unique<threading::thread[]>(static_cast<unsigned>(tasks - 1))
                           : nullptr) {
    try {
      for (; started_ < tasks - 1; ++started_)
        threads_[static_cast<unsigned>(started_)] =
            threading::thread([this, i = started_ + 1] { work(i); });
    } catch (...) {
      end();
      throw;
    }
  }
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;
  ~worker_pool() { end(); }

  /// Runs one round and waits for its end; rethrows the first exception of a task.
  template <class Task>
  void run(Task&& task) {
    if (started_ == 0) {
      task(0);
      return;
    }
    // A plain pointer and not std::function: a round allocates nothing.
    run_round(&task, [](void* t, int i) { (*static_cast<std::remove_reference_t<Task>*>(t))(i); });
  }

 private:
  LAMINA_COLD void end() {
    {
      const threading::guard lock(mutex_);
      ending_ = true;
    }
    begin_.notify_all();
    for (int i = 0; i < started_; ++i) threads_[static_cast<unsigned>(i)].join();
  }
  LAMINA_NOINLINE void run_round(void* task, void (*call)(void*, int)) {
    {
      const threading::guard lock(mutex_);
      task_ = task;
      call_ = call;
      running_ = started_;
      ++round_;
    }
    begin_.notify_all();
    attempt(0);
    threading::guard lock(mutex_);
    end_.wait(lock, [this] { return running_ == 0; });
    if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  LAMINA_NOINLINE void attempt(int i) {
    try {
      call_(task_, i);
    } catch (...) {
      const threading::guard lock(mutex_);
      if (failure_ == nullptr) failure_ = std::current_exception();
    }
  }
  LAMINA_NOINLINE void work(int i) {
    std::uint64_t seen = 0;
    threading::guard lock(mutex_);
    for (;;) {
      begin_.wait(lock, [&] { return ending_ || round_ != seen; });
      if (ending_) return;
      seen = round_;
      lock.unlock();
      attempt(i);
      lock.lock();
      if (--running_ == 0) end_.notify_one();
    }
  }

  threading::mutex mutex_;
  threading::condition begin_, end_;
  std::unique_ptr<threading::thread[]> threads_;
  int started_ = 0;
  void* task_ = nullptr;
  void (*call_)(void*, int) = nullptr;
  std::uint64_t round_ = 0;
  int running_ = 0;
  bool ending_ = false;
  std::exception_ptr failure_ = nullptr;
};

}  // namespace lamina
