// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/session_options.hpp - the options of a distributed session.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/plan/gradient_buckets.hpp>

namespace lamina::inline LAMINA_ABI::distributed {

/// The options of a session.
struct session_options {
  // Seconds without a message from another process, after which the session throws an error that
  // names it.
  double patience = 600;
  // Bytes of a bucket of gradients, which processes exchange while they compute other gradients. 0:
  // they exchange all gradients behind the last one. It must be the same in all processes.
  std::size_t bucket_bytes = usual_bucket_bytes;
};

}  // namespace lamina::inline LAMINA_ABI::distributed
