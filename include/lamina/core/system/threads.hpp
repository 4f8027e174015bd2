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
#include <lamina/core/system/no_threads.hpp>
#endif
