// SPDX-License-Identifier: Apache-2.0
// lamina/core/system/threads.hpp - threads, locks and condition variables of the system for which
// the compiler compiles.
#pragma once

#include <lamina/core/config.hpp>

#if defined(_WIN32)
#include <lamina/core/system/windows_threads.hpp>
#elif defined(__unix__) || defined(__APPLE__)
#include <lamina/core/system/posix_threads.hpp>
#else
#include <cerrno>

// Without threads: WebAssembly, and processors without an operating system.
namespace lamina { inline namespace LAMINA_ABI { namespace detail { namespace system {

inline void yield() {}

/// A lock, which the only thread always gets.
class lock_handle {
 public:
  void lock() {}
  void unlock() {}
  void destroy() {}
};

/// A condition variable. Nothing can notify the only thread, so `wait` returns at once.
class condition_handle {
 public:
  void wait(lock_handle&) {}
  void notify_one() {}
  void notify_all() {}
  void destroy() {}
};

/// A thread, which cannot be started.
class thread_handle {
 public:
  template <void (*Run)(void*)>
  int start(void*) {
    return ENOTSUP;
  }
  void join() {}
};

}}}}  // namespace lamina::detail::system
#endif
