// SPDX-License-Identifier: Apache-2.0
// lamina/core/system/system.hpp - the functions of the operating system that lamina calls, with the
// bodies for the system for which the compiler compiles.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/system/system_functions.hpp>

#if LAMINA_DEFINES
#if defined(_WIN32)
#include <lamina/core/system/windows.hpp>
#elif defined(__unix__) || defined(__APPLE__)
#include <lamina/core/system/posix.hpp>
#else
#include <lamina/core/system/files_only.hpp>
#endif
#endif  // LAMINA_DEFINES
