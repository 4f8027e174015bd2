// SPDX-License-Identifier: Apache-2.0
// lamina/core/threads/steady_seconds.hpp - a monotonic clock. It avoids <chrono>, which would make
// the include of lamina.hpp take 1.1 times as long (docs/compile_time.md, "Headers of others").
#pragma once

#include <lamina/core/config.hpp>

#include <time.h>

namespace lamina { inline namespace LAMINA_ABI {

/// Returns the seconds since some time in the past, from POSIX's monotonic clock.
inline double steady_seconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}}  // namespace lamina
