// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/session_options.hpp - the options of a distributed session.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/plan/gradient_buckets.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// The options of a session.
struct session_options {
  // If another process sends no message for this number of seconds, the session throws an error
  // that names it.
  double patience = 600;
  // The size in bytes of a bucket of gradients. Processes exchange a bucket while they compute
  // other gradients. 0: they exchange all gradients after the last one is computed. It must be the
  // same in all processes.
  std::size_t bucket_bytes = usual_bucket_bytes;
  // Whether a separate thread exchanges gradients while the others compute. It needs a small part
  // of a core, and MPI_THREAD_MULTIPLE. It pays off if the network is slow and single layers take
  // longer than their messages. Each process may set a different value.
  bool communication_thread = false;
  // The number of processes that hold parameters instead of training: those with the highest ranks.
  // -1: the value of LAMINA_PARAMETER_SERVERS, which the launcher sets, or 0 without it. Fluid:
  // pservers.
  int parameter_servers = -1;
  // The number of steps by which a trainer may be ahead of the slowest one, with parameter servers.
  // 0: all trainers make each step together, which Fluid calls sync_mode. Above 0: a server applies
  // the gradients of each trainer as they arrive.
  int staleness = 0;
};

}}}  // namespace lamina::distributed
