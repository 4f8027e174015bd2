// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/sync_by_roles.hpp - chooses how the processes of a group synchronise
// parameters and divide sharded tables, by their roles.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <lamina/distributed/embedding/peer_embedding.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/distributed/servers/ps_client.hpp>
#include <lamina/distributed/servers/ps_embedding.hpp>
#include <lamina/distributed/servers/ps_server.hpp>
#include <lamina/distributed/sync/allreduce.hpp>
#include <lamina/model/sharded/sharded_embedding.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Makes the parameter_sync of a process: each trainer holds a shard of the parameters, unless
/// there are parameter servers.
LAMINA_COLD inline std::unique_ptr<parameter_sync> sync_by_roles(process_group& group,
                                                                 const trained_arrays& of) {
  if (group.parameter_servers() == 0) return std::make_unique<allreduce>(group, of);
  if (group.roles().staleness == 0) {
    if (group.is_parameter_server()) return std::make_unique<synchronous_server>(group, of);
    return std::make_unique<synchronous_client>(group, of);
  }
  if (group.is_parameter_server()) return std::make_unique<asynchronous_server>(group, of);
  return std::make_unique<asynchronous_client>(group, of);
}

/// Makes the sharded tables of a group: all processes own rows, unless there are parameter servers,
/// which then own all rows. All processes must call it. Throws lamina::error if their tables or
/// seeds differ.
LAMINA_COLD inline std::shared_ptr<sharded_embedding> embedding_by_roles(
    process_group& group, std::vector<embedding_table> tables, std::uint64_t seed) {
  if (group.parameter_servers() == 0)
    return std::make_shared<peer_embedding>(group, std::move(tables), seed);
  return std::make_shared<ps_embedding>(group, std::move(tables), seed);
}

}}}  // namespace lamina::distributed
