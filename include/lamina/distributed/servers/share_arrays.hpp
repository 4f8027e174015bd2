// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/share_arrays.hpp - chooses how the processes of a group synchronise
// parameters, by their roles.
#pragma once

#include <lamina/core/config.hpp>

#include <memory>

#include <lamina/distributed/exchanged_arrays.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/distributed/servers/asynchronous_arrays.hpp>
#include <lamina/distributed/servers/asynchronous_server.hpp>
#include <lamina/distributed/servers/synchronous_arrays.hpp>
#include <lamina/distributed/servers/synchronous_server.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Makes the shared arrays of a process: each trainer holds a shard of the parameters, unless there
/// are parameter servers.
LAMINA_COLD inline std::unique_ptr<shared_arrays> share_arrays(process_group& group,
                                                               const trained_arrays& of) {
  if (group.parameter_servers() == 0) return std::make_unique<exchanged_arrays>(group, of);
  if (group.roles().staleness == 0) {
    if (group.is_parameter_server()) return std::make_unique<synchronous_server>(group, of);
    return std::make_unique<synchronous_arrays>(group, of);
  }
  if (group.is_parameter_server()) return std::make_unique<asynchronous_server>(group, of);
  return std::make_unique<asynchronous_arrays>(group, of);
}

}}}  // namespace lamina::distributed
