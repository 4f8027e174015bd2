// SPDX-License-Identifier: Apache-2.0
// lamina/core/threads/threading.hpp - threads, locks and condition variables. This header replaces
// <thread>, <mutex> and <condition_variable>, with which the include of lamina.hpp would take 1.2
// times as long (docs/compile_time.md, "Headers of others").
#pragma once

#include <lamina/core/config.hpp>

#include <system_error>
#include <utility>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/system/system.hpp>
#include <lamina/core/system/threads.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace threading {

/// Performs step i of a loop that waits for another thread: gives the processor a hint that the
/// thread spins; every 64th step yields the processor instead, because the other thread may need
/// it.
inline void wait_step(int i) {
  if (i % 64 == 63) {
    lamina::detail::system::yield();
    return;
  }
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A mutex. Lock it with a guard.
class mutex {
 public:
  mutex() = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  ~mutex() { handle_.destroy(); }

 private:
  friend class guard;
  friend class condition;
  lamina::detail::system::lock_handle handle_;
};

/// Locks a mutex until the end of the scope, or until unlock().
class guard {
 public:
  explicit guard(mutex& m) : mutex_(m) { lock(); }
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;
  ~guard() {
    if (held_) unlock();
  }

  void lock() {
    mutex_.handle_.lock();
    held_ = true;
  }
  void unlock() {
    held_ = false;
    mutex_.handle_.unlock();
  }

 private:
  friend class condition;
  mutex& mutex_;
  bool held_ = false;
};

/// A condition that threads wait for.
class condition {
 public:
  condition() = default;
  condition(const condition&) = delete;
  condition& operator=(const condition&) = delete;
  ~condition() { handle_.destroy(); }

  /// Waits until `met()` is true. The guard's mutex is unlocked while the thread waits, and locked
  /// when met() is called and when wait() returns.
  template <class Met>
  void wait(guard& g, Met met) {
    while (!met()) handle_.wait(g.mutex_.handle_);
  }
  void notify_one() { handle_.notify_one(); }
  void notify_all() { handle_.notify_all(); }

 private:
  lamina::detail::system::condition_handle handle_;
};

/// A thread that calls a function once. An exception that leaves the function ends the program. The
/// owner must call join() before destroying it.
class thread {
 public:
  /// Makes an object without a thread.
  thread() = default;
  /// Starts a thread. Throws lamina::error if the system cannot start more threads.
  template <class F>
  explicit thread(F f) {
    F* const task = new F{std::move(f)};
    if (const int failure = handle_.template start<&call<F>>(task)) {
      delete task;
      refuse(failure);
    }
    runs_ = true;
    process_ = lamina::detail::system::process_id();
  }
  thread(thread&& other) noexcept
      : handle_(other.handle_),
        process_(other.process_),
        runs_(std::exchange(other.runs_, false)) {}
  thread& operator=(thread&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(process_, other.process_);
    std::swap(runs_, other.runs_);
    return *this;
  }

  /// Waits for the end of the thread. In a forked child, where the thread does not exist, it
  /// returns at once.
  void join() {
    if (std::exchange(runs_, false) && process_ == lamina::detail::system::process_id())
      handle_.join();
  }

 private:
  template <class F>
  static void call(void* task) noexcept {
    (*static_cast<F*>(task))();
    delete static_cast<F*>(task);
  }
  [[noreturn]] LAMINA_API LAMINA_COLD static void refuse(int failure);

  lamina::detail::system::thread_handle handle_{};
  long process_ = 0;  // the process that started it
  bool runs_ = false;
};

#if LAMINA_DEFINES

void thread::refuse(int failure) {
  LAMINA_THROW error(text() << "lamina: a thread cannot be started: "
                            << std::generic_category().message(failure));
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::threading
