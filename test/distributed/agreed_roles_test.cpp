// SPDX-License-Identifier: Apache-2.0
// All processes have the same roles, or all learn what differs.

#include <mutex>
#include <string>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/agreed_roles.hpp>

namespace {

using lamina::distributed::session_options;

/// What each of three processes is told, of which the last one has other options.
std::vector<std::string> faults(const session_options& first, const session_options& last) {
  std::mutex mutex;
  std::vector<std::string> found;
  test::in_ranks(3, [&](test::thread_group& w) {
    std::string what;
    try {
      const auto roles = lamina::distributed::agreed_roles(w, w.rank() == 2 ? last : first);
      what = std::to_string(roles.trainers) + "+" + std::to_string(roles.parameter_servers);
    } catch (const lamina::error& e) {
      what = e.what();
    }
    const std::lock_guard lock(mutex);
    found.push_back(what);
  });
  return found;
}

}  // namespace

TEST_CASE("all processes have the same roles", "[threads]") {
  CHECK(faults({}, {}) == std::vector<std::string>(3, "3+0"));
  CHECK(faults({.parameter_servers = 1}, {.parameter_servers = 1}) ==
        std::vector<std::string>(3, "2+1"));
}

TEST_CASE("other options in one process are an error in all", "[threads]") {
  const session_options two{.parameter_servers = 1, .staleness = 2};
  session_options other = two;
  other.staleness = 3;
  CHECK(faults(two, other) ==
        std::vector<std::string>(3,
                                 "lamina: distributed: expected the same staleness in each "
                                 "process, found 2 in rank 0 and 3 in rank 2"));
  for (const std::string& fault : faults({}, {.parameter_servers = 1}))
    CHECK(fault.find("the same number of parameter servers in each process, found 0 in rank 0") !=
          std::string::npos);
  int own = 0, others = 0;
  for (const std::string& fault : faults({}, {.parameter_servers = 3})) {
    own += fault.find("1 or more trainers") != std::string::npos;
    others += fault.find("the same number") != std::string::npos;
  }
  CHECK(own == 1);
  CHECK(others == 2);
}
