// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/session_options.hpp - the options of a distributed session.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina::inline LAMINA_ABI::distributed {

struct session_options {
  // Seconds without a word from another process after which the session gives up and names it.
  double patience = 600;
};

}  // namespace lamina::inline LAMINA_ABI::distributed
