// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/communication_thread.hpp - a thread that communicates while others compute.
#pragma once

#include <lamina/core/config.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace lamina::inline LAMINA_ABI::distributed {

/// A thread that calls a function again and again between resume() and pause(). The function
/// returns whether it found anything to do; if it did not, the thread sleeps for a moment. One
/// other thread may call resume(), pause() and require().
class communication_thread {
 public:
  LAMINA_COLD explicit communication_thread(std::function<bool()> work)
      : work_(std::move(work)), thread_([this] { run(); }) {}
  communication_thread(const communication_thread&) = delete;
  communication_thread& operator=(const communication_thread&) = delete;
  LAMINA_COLD ~communication_thread() {
    pause();
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  /// From now on, the thread calls the function, until pause() or until the function throws.
  void resume() {
    {
      const std::lock_guard lock(mutex_);
      failure_ = nullptr;
      runs_.store(true, std::memory_order_relaxed);
    }
    changed_.notify_one();
  }
  /// Returns when the thread is not in the function, and will not call it until resume(). What the
  /// function has written can be read then.
  void pause() noexcept {
    runs_.store(false, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
  }
  /// Throws what the function has thrown since resume(). To be called after pause().
  void require() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  // In it, a link of 1 Gbit/s moves 60 kB, which waits in the buffers of the system. More looks
  // make a step slower, as each takes time of MPI and of a core (docs: performance).
  static constexpr std::chrono::microseconds rest{500};

  LAMINA_COLD void run() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ends_ || runs_.load(std::memory_order_relaxed); });
      if (ends_) return;
      bool found = false;
      try {
        found = work_();
      } catch (...) {
        failure_ = std::current_exception();
        runs_.store(false, std::memory_order_relaxed);
      }
      if (!found && runs_.load(std::memory_order_relaxed)) changed_.wait_for(lock, rest);
    }
  }

  std::function<bool()> work_;
  std::mutex mutex_;  // held in the function
  std::condition_variable changed_;
  std::atomic<bool> runs_{false};
  bool ends_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // the last member, because it uses all others
};

}  // namespace lamina::inline LAMINA_ABI::distributed
