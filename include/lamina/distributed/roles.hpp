// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/roles.hpp - tells which processes train, and which hold parameters.
#pragma once

#include <lamina/core/config.hpp>

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/distributed/session_options.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// The role of a process of a session. Design document of PaddlePaddle v2: trainer,
/// parameter_server.
enum class process_role { trainer, parameter_server };

/// The roles of the processes of a session: the last ranks are parameter servers, all others are
/// trainers.
struct process_roles {
  int trainers = 1, parameter_servers = 0;
  int staleness = 0;

  process_role of(int rank) const {
    return rank < trainers ? process_role::trainer : process_role::parameter_server;
  }
};

/// Returns the roles of `processes` processes. Throws lamina::error if the options do not fit this
/// number, the variable LAMINA_PARAMETER_SERVERS, or each other.
LAMINA_COLD inline process_roles roles_of(const session_options& options, int processes) {
  int told = -1;
  if (const char* const value = std::getenv("LAMINA_PARAMETER_SERVERS"); value != nullptr) {
    const std::string_view number = value;
    const auto [stop, status] = std::from_chars(number.data(), number.data() + number.size(), told);
    if (status != std::errc{} || stop != number.data() + number.size() || told < 0)
      throw error(text() << "lamina: distributed: LAMINA_PARAMETER_SERVERS: expected a number of "
                            "processes, found '"
                         << number << "'");
  }
  const int servers = options.parameter_servers >= 0 ? options.parameter_servers
                      : told >= 0                    ? told
                                                     : 0;
  if (options.parameter_servers >= 0 && told >= 0 && options.parameter_servers != told)
    throw error(text() << "lamina: distributed: expected " << told
                       << " parameter servers, as the launcher says "
                          "(LAMINA_PARAMETER_SERVERS), found "
                       << options.parameter_servers << " in the options of the session");
  if (servers > 0 && processes <= servers)
    throw error(text() << "lamina: distributed: expected " << servers
                       << " parameter servers and 1 or more trainers, found " << processes
                       << (processes == 1 ? " process" : " processes"));
  if (options.staleness < 0)
    throw error(text() << "lamina: distributed: staleness: expected 0 or more, found "
                       << options.staleness);
  if (options.staleness > 0 && servers == 0)
    throw error(text() << "lamina: distributed: expected parameter servers with a staleness of "
                       << options.staleness << ", found none");
  return {processes - servers, servers, options.staleness};
}

}}}  // namespace lamina::distributed
