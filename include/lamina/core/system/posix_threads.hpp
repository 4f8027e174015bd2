// SPDX-License-Identifier: Apache-2.0
// lamina/core/system/posix_threads.hpp - threads, locks and condition variables of POSIX.
#pragma once

#include <lamina/core/config.hpp>

#include <pthread.h>
#include <sched.h>

namespace lamina { inline namespace LAMINA_ABI { namespace detail { namespace system {

/// Gives the processor to another thread.
inline void yield() { ::sched_yield(); }

/// A lock; one thread has it at a time.
class lock_handle {
 public:
  void lock() { ::pthread_mutex_lock(&own_); }
  void unlock() { ::pthread_mutex_unlock(&own_); }
  void destroy() { ::pthread_mutex_destroy(&own_); }

 private:
  friend class condition_handle;
  ::pthread_mutex_t own_ = PTHREAD_MUTEX_INITIALIZER;
};

/// A condition variable.
class condition_handle {
 public:
  /// Unlocks, waits for a notification, and locks again. May return without a notification.
  void wait(lock_handle& locked) { ::pthread_cond_wait(&own_, &locked.own_); }
  void notify_one() { ::pthread_cond_signal(&own_); }
  void notify_all() { ::pthread_cond_broadcast(&own_); }
  void destroy() {
#if !defined(__linux__)
    ::pthread_cond_destroy(&own_);  // on Linux it frees nothing, and in a forked child it would
                                    // wait for threads that do not exist there
#endif
  }

 private:
  ::pthread_cond_t own_ = PTHREAD_COND_INITIALIZER;
};

/// A thread.
class thread_handle {
 public:
  /// Starts a thread that calls Run(task). Returns 0, or a number of errno.
  template <void (*Run)(void*)>
  int start(void* task) {
    const auto run = [](void* given) -> void* {
      Run(given);
      return nullptr;
    };
    return ::pthread_create(&own_, nullptr, run, task);
  }
  void join() { ::pthread_join(own_, nullptr); }

 private:
  ::pthread_t own_{};
};

}}}}  // namespace lamina::detail::system
