// SPDX-License-Identifier: Apache-2.0
// Processes train together by their roles and the staleness.

#include <mutex>
#include <string>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/distributed/servers/sync_by_roles.hpp>

namespace {

std::vector<std::string> kinds(const lamina::distributed::session_options& options) {
  std::mutex mutex;
  std::vector<std::string> found(3);
  test::in_ranks(
      3,
      [&](test::thread_group& w) {
        const auto shared = lamina::distributed::sync_by_roles(
            w, {nullptr, nullptr, nullptr, nullptr, 0, false, false});
        const std::lock_guard lock(mutex);
        found[static_cast<std::size_t>(w.rank())] =
            std::string(shared->is_server() ? "server" : "trainer") +
            (shared->is_asynchronous() ? " apart " : " ") + std::to_string(shared->rank()) + "/" +
            std::to_string(shared->ranks()) + " part " + std::to_string(shared->part().number) +
            "/" + std::to_string(shared->part().count);
      },
      options);
  return found;
}

using list = std::vector<std::string>;

}  // namespace

TEST_CASE("the kind of parameter_sync follows from roles and staleness", "[threads]") {
  CHECK(kinds({}) == list{"trainer 0/3 part 0/1", "trainer 1/3 part 0/1", "trainer 2/3 part 0/1"});
  CHECK(kinds({.parameter_servers = 1}) ==
        list{"trainer 0/2 part 0/1", "trainer 1/2 part 0/1", "server 0/2 part 0/1"});
  CHECK(kinds({.parameter_servers = 1, .staleness = 2}) ==
        list{"trainer apart 0/1 part 0/2", "trainer apart 0/1 part 1/2", "server 0/2 part 0/1"});
}
