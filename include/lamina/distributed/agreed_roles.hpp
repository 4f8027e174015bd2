// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/agreed_roles.hpp - determines the role of each process and checks that all
// processes agree.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/distributed/roles.hpp>
#include <lamina/distributed/session_options.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Returns the roles of the processes of a group. All processes must call it. Throws lamina::error
/// in every process if the options do not fit (roles_of) or differ between processes.
LAMINA_COLD inline process_roles agreed_roles(process_group& all, const session_options& options) {
  process_roles mine{all.size()};
  std::string why;
  try {
    mine = roles_of(options, all.size());
  } catch (const error& e) {
    why = e.what();
  }
  const int numbers[] = {why.empty() ? mine.parameter_servers : -1, mine.staleness};
  constexpr const char* names[] = {"number of parameter servers", "staleness"};
  std::vector<int> found(2 * static_cast<std::size_t>(all.size()));
  all.gather(numbers, sizeof numbers, found.data());
  if (!why.empty()) throw error(why);
  for (std::size_t k = 2; k < found.size(); ++k)
    if (found[k] != found[k % 2])
      throw error(text() << "lamina: distributed: expected the same " << names[k % 2]
                         << " in each process, found " << found[k % 2] << " in rank 0 and "
                         << found[k] << " in rank " << k / 2);
  return mine;
}

}}}  // namespace lamina::distributed
