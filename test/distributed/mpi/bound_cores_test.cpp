// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include <catch2/catch.hpp>

#include <lamina/distributed/mpi/bound_cores.hpp>

using lamina::distributed::bound_cores;

TEST_CASE("threads that share a core get a note, unless the machine has no more") {
  CHECK(bound_cores{1, 8}.note(4, 2) ==
        "lamina: distributed: 4 threads of rank 2 may use 1 of 8 cores, as their launcher says: "
        "mpirun --bind-to none, or srun --cpus-per-task=4");
  CHECK(bound_cores{4, 8}.note(4, 0).empty());
  CHECK(bound_cores{2, 2}.note(4, 0).empty());
  CHECK(bound_cores{}.note(4, 0).empty());
}

TEST_CASE("the cores of a process are counted when it asks") {
  const bound_cores before = bound_cores::of_process();
#if defined(__linux__)
  REQUIRE(before.allowed >= 1);
  REQUIRE(before.all >= before.allowed);
  long one = 0;
  std::thread([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &set);
    if (sched_setaffinity(0, sizeof set, &set) == 0) one = bound_cores::of_process().allowed;
  }).join();
  CHECK(one == 1);
  CHECK(bound_cores::of_process().allowed == before.allowed);
#else
  CHECK(before.note(4, 0).empty());
#endif
}
