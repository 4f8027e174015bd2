// SPDX-License-Identifier: Apache-2.0
// lamina/core/threads/threading.hpp - threads, locks and condition variables of POSIX. This header
// replaces <thread>, <mutex> and <condition_variable>, with which the include of lamina.hpp would
// take 1.2 times as long (docs/compile_time.md, "Headers of others").
#pragma once

#include <lamina/core/config.hpp>

#include <system_error>
#include <utility>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace threading {

/// Performs step i of a loop that waits for another thread: gives the processor a hint that the
/// thread spins; every 64th step yields the processor instead, because the other thread may need
/// it.
inline void wait_step(int i) {
  if (i % 64 == 63) {
    sched_yield();
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
  ~mutex() { pthread_mutex_destroy(&handle_); }

 private:
  friend class guard;
  friend class condition;
  pthread_mutex_t handle_ = PTHREAD_MUTEX_INITIALIZER;
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
    pthread_mutex_lock(&mutex_.handle_);
    held_ = true;
  }
  void unlock() {
    held_ = false;
    pthread_mutex_unlock(&mutex_.handle_);
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
  ~condition() {
#if !defined(__linux__)
    pthread_cond_destroy(&handle_);  // on Linux it frees nothing, and in a forked child it would
                                     // wait for threads that do not exist there
#endif
  }

  /// Waits until `met()` is true. The guard's mutex is unlocked while the thread waits, and locked
  /// when met() is called and when wait() returns.
  template <class Met>
  void wait(guard& g, Met met) {
    while (!met()) pthread_cond_wait(&handle_, &g.mutex_.handle_);
  }
  void notify_one() { pthread_cond_signal(&handle_); }
  void notify_all() { pthread_cond_broadcast(&handle_); }

 private:
  pthread_cond_t handle_ = PTHREAD_COND_INITIALIZER;
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
    if (const int failure = start(&call<F>, task)) {
      delete task;
      refuse(failure);
    }
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
    if (std::exchange(runs_, false) && process_ == ::getpid()) pthread_join(handle_, nullptr);
  }

 private:
  template <class F>
  static void* call(void* task) noexcept {
    (*static_cast<F*>(task))();
    delete static_cast<F*>(task);
    return nullptr;
  }
  LAMINA_API LAMINA_COLD int start(void* (*run)(void*), void* task);
  [[noreturn]] LAMINA_API LAMINA_COLD static void refuse(int failure);

  pthread_t handle_{};
  ::pid_t process_ = 0;  // the process that started it
  bool runs_ = false;
};

#if LAMINA_DEFINES

int thread::start(void* (*run)(void*), void* task) {
  const int failure = pthread_create(&handle_, nullptr, run, task);
  runs_ = failure == 0;
  process_ = ::getpid();
  return failure;
}

void thread::refuse(int failure) {
  LAMINA_THROW error(text() << "lamina: a thread cannot be started: "
                            << std::generic_category().message(failure));
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::threading
