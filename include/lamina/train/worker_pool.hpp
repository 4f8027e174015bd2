// SPDX-License-Identifier: Apache-2.0
// lamina/train/worker_pool.hpp - threads that wait for work: one for each gradient machine.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace lamina {

/// Runs `task(0)` ... `task(n - 1)` side by side, task 0 on the calling thread. With one task no
/// thread is ever started.
class worker_pool {
 public:
  explicit worker_pool(int tasks) {
    for (int i = 1; i < tasks; ++i) threads_.emplace_back([this, i] { work(i); });
  }
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;
  ~worker_pool() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    begin_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  /// Runs one round and waits for its end; rethrows the first exception of a task.
  template <class Task>
  void run(Task&& task) {
    if (threads_.empty()) {
      task(0);
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      // A plain pointer and not std::function: a round allocates nothing.
      task_ = &task;
      call_ = [](void* t, int i) { (*static_cast<std::remove_reference_t<Task>*>(t))(i); };
      running_ = static_cast<int>(threads_.size());
      ++round_;
    }
    begin_.notify_all();
    attempt(0);
    std::unique_lock lock(mutex_);
    end_.wait(lock, [this] { return running_ == 0; });
    if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  void attempt(int i) {
    try {
      call_(task_, i);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (failure_ == nullptr) failure_ = std::current_exception();
    }
  }
  void work(int i) {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
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

  std::mutex mutex_;
  std::condition_variable begin_, end_;
  std::vector<std::thread> threads_;
  void* task_ = nullptr;
  void (*call_)(void*, int) = nullptr;
  std::uint64_t round_ = 0;
  int running_ = 0;
  bool ending_ = false;
  std::exception_ptr failure_ = nullptr;
};

}  // namespace lamina
