// SPDX-License-Identifier: Apache-2.0
// Roles follow from the options and the launcher; what does not fit is an error.

#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/roles.hpp>

namespace {

using lamina::distributed::process_role;
using lamina::distributed::roles_of;
using lamina::distributed::session_options;

/// LAMINA_PARAMETER_SERVERS for as long as this object lives.
struct told_servers {
  explicit told_servers(const char* number) { ::setenv("LAMINA_PARAMETER_SERVERS", number, 1); }
  ~told_servers() { ::unsetenv("LAMINA_PARAMETER_SERVERS"); }
};

std::string fault(const session_options& options, int processes) {
  try {
    roles_of(options, processes);
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the last processes are parameter servers") {
  CHECK(roles_of({}, 3).trainers == 3);
  CHECK(roles_of({}, 3).parameter_servers == 0);
  const auto roles = roles_of({.parameter_servers = 2, .staleness = 4}, 5);
  CHECK(roles.trainers == 3);
  CHECK(roles.parameter_servers == 2);
  CHECK(roles.staleness == 4);
  CHECK(roles.of(2) == process_role::trainer);
  CHECK(roles.of(3) == process_role::parameter_server);
}

TEST_CASE("a launcher says how many parameter servers there are") {
  const told_servers told("2");
  CHECK(roles_of({}, 5).trainers == 3);
  CHECK(roles_of({.parameter_servers = 2}, 5).trainers == 3);
  CHECK(fault({.parameter_servers = 1}, 5) ==
        "lamina: distributed: expected 2 parameter servers, as the launcher says "
        "(LAMINA_PARAMETER_SERVERS), found 1 in the options of the session");
  CHECK(fault({.parameter_servers = 0}, 5).find("found 0 in the options") != std::string::npos);
  for (const char* const number : {"", "two", "2x", "-1", "99999999999"}) {
    const told_servers wrong(number);
    CAPTURE(number);
    CHECK(fault({}, 5).find("LAMINA_PARAMETER_SERVERS: expected a number") != std::string::npos);
  }
}

TEST_CASE("options that do not fit the processes or each other are errors") {
  CHECK(fault({.parameter_servers = 2}, 2) ==
        "lamina: distributed: expected 2 parameter servers and 1 or more trainers, found 2 "
        "processes");
  CHECK(fault({.parameter_servers = 1}, 1).find("found 1 process") != std::string::npos);
  CHECK(fault({.parameter_servers = 1, .staleness = -1}, 2).find("expected 0 or more, found -1") !=
        std::string::npos);
  CHECK(fault({.staleness = 3}, 2).find("expected parameter servers with a staleness of 3") !=
        std::string::npos);
}
