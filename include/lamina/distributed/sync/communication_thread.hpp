// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/sync/communication_thread.hpp - a thread that communicates while others
// compute.
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

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Calls a function again and again in a thread, between resume() and pause(). The function returns
/// whether it found work; if it did not, the thread sleeps for a moment. Only one other thread may
/// call resume(), pause() and require().
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

  /// Lets the thread call the function, until pause() or until the function throws.
  void resume() {
    {
      const std::lock_guard lock(mutex_);
      failure_ = nullptr;
      runs_.store(true, std::memory_order_relaxed);
    }
    changed_.notify_one();
  }
  /// Returns when the thread has left the function; it does not call it again until resume(). After
  /// that the caller may read everything that the function has written.
  void pause() noexcept {
    runs_.store(false, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
  }
  /// Rethrows the exception that the function has thrown since resume(). Call it after pause().
  void require() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  // A link of 1 Gbit/s transports 60 kB in this time, which the system's buffers hold. Polling more
  // often would make a step slower, because each poll costs MPI and core time (docs: performance).
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
  std::mutex mutex_;  // held while the thread runs the function
  std::condition_variable changed_;
  std::atomic<bool> runs_{false};
  bool ends_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // the last member, because it uses all others
};

}}}  // namespace lamina::distributed
