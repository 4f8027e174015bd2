// SPDX-License-Identifier: Apache-2.0
// lamina/core/system/memory.hpp - the functions for pages of memory that lamina calls, with the
// bodies for the system for which the compiler compiles.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/system/memory_functions.hpp>

#if LAMINA_DEFINES
#if defined(_WIN32)
#include <lamina/core/system/windows_memory.hpp>
#elif defined(__unix__) || defined(__APPLE__)
#include <lamina/core/system/posix_memory.hpp>
#else
#include <lamina/core/system/plain_memory.hpp>
#endif
#endif  // LAMINA_DEFINES
