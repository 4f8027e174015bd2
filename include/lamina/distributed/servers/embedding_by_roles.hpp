// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/embedding_by_roles.hpp - which processes of a group own the rows of
// its sharded tables.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <lamina/distributed/embedding/peer_embedding.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/distributed/servers/ps_embedding.hpp>
#include <lamina/model/sharded/sharded_embedding.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

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
