// SPDX-License-Identifier: Apache-2.0
// image.py builds images of such files.
#include <string>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/launch/containerfile.hpp>

using Catch::Matchers::Contains;
using lamina::distributed::containerfile;
using lamina::distributed::elf_needs;
using lamina::distributed::job;

namespace {

constexpr const char* debian = "PRETTY_NAME=\"Debian\"\nVERSION_ID=\"12\"\nID=debian\n";
const elf_needs dynamic = {.loader = "/lib64/ld.so", .libraries = {"libc.so.6"}};

std::string first_line(const job& j, const char* release) {
  const std::string file = containerfile(j, dynamic, release);
  return file.substr(0, file.find('\n'));
}

}  // namespace

TEST_CASE("an image begins with this machine's system, and gets the MPI of the kind") {
  job j{.image = "i"};
  const std::string file = containerfile(j, dynamic, debian);
  for (const char* const line :
       {"FROM docker.io/library/debian:12-slim\nRUN apt-get update",
        " mpich && rm -rf /var/lib/apt",
        "\nCOPY root/ /\nENV LD_LIBRARY_PATH=/usr/local/lib/lamina\nRUN ldconfig || :\n",
        "LD_TRACE_LOADED_OBJECTS=1 LD_WARN=yes /usr/local/bin/trainer",
        "for name in mpiexec.hydra hydra_pmi_proxy;",
        "\nUSER 1000:1000\nENTRYPOINT [\"/usr/local/bin/trainer\"]\n"})
    CHECK_THAT(file, Contains(line));
  j.kind = "MPIJob";
  j.user = 7;
  const std::string by_ssh = containerfile(j, dynamic, debian);
  for (const char* const line : {" openmpi-bin openssh-client openssh-server ", "--uid 7 mpiuser",
                                 "for name in mpirun ssh", "\nUSER 7:7\n"})
    CHECK_THAT(by_ssh, Contains(line));
  CHECK(first_line(j, "ID=ubuntu\nVERSION_ID=\"24.04\"\n") ==
        "FROM docker.io/library/ubuntu:24.04");
  CHECK(first_line(j, "VERSION_CODENAME=sid\nID=\"debian\"") ==
        "FROM docker.io/library/debian:sid-slim");
  for (const char* const other : {"ID=fedora\nVERSION_ID=40\n", "", "ID=ubuntu\n"})
    CHECK_THROWS_WITH(containerfile(j, dynamic, other), Contains("base_image: expected"));
}

TEST_CASE("a base of the user is taken as it is, and checked unless it has nothing") {
  job j{.image = "i", .program = "/opt/run", .base_image = "registry.example/mpi:2"};
  const std::string file = containerfile(j, dynamic, "ID=fedora\n");
  CHECK(file.starts_with("FROM registry.example/mpi:2\nCOPY root/ /\n"));
  CHECK_THAT(file, Contains("not found"));
  // Asked to list its libraries, a program that is linked statically would run.
  CHECK_THAT(containerfile(j, {}, ""), !Contains("LD_") && Contains("command -v"));
  j.base_image = "scratch";
  CHECK(containerfile(j, {}, "") ==
        "FROM scratch\nCOPY root/ /\nWORKDIR /app\nUSER 1000:1000\nENTRYPOINT [\"/opt/run\"]\n");
  CHECK_THAT(containerfile(j, dynamic, ""), !Contains("RUN") && Contains("LD_LIBRARY_PATH"));
}
