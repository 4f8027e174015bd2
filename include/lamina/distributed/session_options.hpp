// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/session_options.hpp - the options of a distributed session.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina::inline LAMINA_ABI::distributed {

/// The options of a session.
struct session_options {
  // Seconds without a message from another process, after which the session throws an error that
  // names it.
  double patience = 600;
};

}  // namespace lamina::inline LAMINA_ABI::distributed
