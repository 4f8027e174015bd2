// SPDX-License-Identifier: Apache-2.0
// lamina/core/system/windows_threads.hpp - threads, locks and condition variables of Windows. As in
// windows.hpp, the functions of the system are declared here, without <windows.h>.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <cstdint>

#include <process.h>

struct _RTL_SRWLOCK;             // NOLINT: the names are those of the system
struct _RTL_CONDITION_VARIABLE;  // NOLINT

#define LAMINA_WINDOWS(type) __declspec(dllimport) type __stdcall
extern "C" {
LAMINA_WINDOWS(void) AcquireSRWLockExclusive(_RTL_SRWLOCK*);
LAMINA_WINDOWS(void) ReleaseSRWLockExclusive(_RTL_SRWLOCK*);
LAMINA_WINDOWS(int)
SleepConditionVariableSRW(_RTL_CONDITION_VARIABLE*, _RTL_SRWLOCK*, unsigned long, unsigned long);
LAMINA_WINDOWS(void) WakeConditionVariable(_RTL_CONDITION_VARIABLE*);
LAMINA_WINDOWS(void) WakeAllConditionVariable(_RTL_CONDITION_VARIABLE*);
LAMINA_WINDOWS(int) SwitchToThread();
LAMINA_WINDOWS(unsigned long) WaitForSingleObject(void*, unsigned long);
LAMINA_WINDOWS(int) CloseHandle(void*);
}
#undef LAMINA_WINDOWS

namespace lamina { inline namespace LAMINA_ABI { namespace detail { namespace system {

/// Gives the processor to another thread.
inline void yield() { ::SwitchToThread(); }

/// A lock; one thread has it at a time.
class lock_handle {
 public:
  void lock() { ::AcquireSRWLockExclusive(own()); }
  void unlock() { ::ReleaseSRWLockExclusive(own()); }
  void destroy() {}

 private:
  friend class condition_handle;
  _RTL_SRWLOCK* own() { return reinterpret_cast<_RTL_SRWLOCK*>(&own_); }
  void* own_ = nullptr;  // SRWLOCK_INIT
};

/// A condition variable.
class condition_handle {
 public:
  /// Unlocks, waits for a notification, and locks again. May return without a notification.
  void wait(lock_handle& locked) {
    constexpr unsigned long endless = 0xffffffff;
    ::SleepConditionVariableSRW(own(), locked.own(), endless, 0);
  }
  void notify_one() { ::WakeConditionVariable(own()); }
  void notify_all() { ::WakeAllConditionVariable(own()); }
  void destroy() {}

 private:
  _RTL_CONDITION_VARIABLE* own() { return reinterpret_cast<_RTL_CONDITION_VARIABLE*>(&own_); }
  void* own_ = nullptr;  // CONDITION_VARIABLE_INIT
};

/// A thread.
class thread_handle {
 public:
  /// Starts a thread that calls Run(task). Returns 0, or a number of errno.
  template <void (*Run)(void*)>
  int start(void* task) {
    own_ = reinterpret_cast<void*>(::_beginthreadex(nullptr, 0, &call<Run>, task, 0, nullptr));
    return own_ != nullptr ? 0 : errno;
  }
  void join() {
    constexpr unsigned long endless = 0xffffffff;
    ::WaitForSingleObject(own_, endless);
    ::CloseHandle(own_);
  }

 private:
  template <void (*Run)(void*)>
  static unsigned __stdcall call(void* task) {
    Run(task);
    return 0;
  }
  void* own_ = nullptr;
};

}}}}  // namespace lamina::detail::system
