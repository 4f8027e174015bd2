// SPDX-License-Identifier: Apache-2.0
// lamina/core/threads/steady_seconds.hpp - a monotonic clock. It avoids <chrono>, which would make
// the include of lamina.hpp take 1.1 times as long (docs/compile_time.md, "Headers of others").
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/system/system.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Returns the seconds since some time in the past, from a monotonic clock.
inline double steady_seconds() { return detail::system::steady_seconds(); }

}}  // namespace lamina
