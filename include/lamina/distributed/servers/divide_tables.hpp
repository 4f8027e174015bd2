// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/divide_tables.hpp - which processes of a group own the rows of its
// divided tables.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <lamina/distributed/process_group.hpp>
#include <lamina/distributed/servers/served_tables.hpp>
#include <lamina/distributed/sharded_tables.hpp>
#include <lamina/model/divided/divided_tables.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Makes the divided tables of a group: all processes own rows, unless there are parameter servers,
/// which then own all rows. All processes must call it. Throws lamina::error if their tables or
/// seeds differ.
LAMINA_COLD inline std::shared_ptr<divided_tables> divide_tables(process_group& group,
                                                                 std::vector<divided_table> tables,
                                                                 std::uint64_t seed) {
  if (group.parameter_servers() == 0)
    return std::make_shared<sharded_tables>(group, std::move(tables), seed);
  return std::make_shared<served_tables>(group, std::move(tables), seed);
}

}}}  // namespace lamina::distributed
