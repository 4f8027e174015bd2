// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/launch/private_file.hpp>
#include <lamina/launch/shared_libraries.hpp>

using Catch::Matchers::Contains;
using namespace lamina::distributed;

namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has(const std::vector<shared_library>& all, const std::string& name) {
  for (const shared_library& l : all)
    if (l.name.starts_with(name)) return true;
  return false;
}

}  // namespace

TEST_CASE("this program asks for a loader and for the libraries of C++") {
  const elf_needs needs = read_elf_needs("/proc/self/exe");
  CHECK_THAT(needs.loader, Contains("ld-"));
  bool has_libc = false;
  for (const std::string& name : needs.libraries) has_libc = has_libc || name == "libc.so.6";
  CHECK(has_libc);
  CHECK(has(shared_libraries("/proc/self/exe"), "libc.so"));
  CHECK(has(libraries_to_copy("/proc/self/exe", true), "libc.so"));
  // glibc stays that of the image, and all else is copied with what it needs itself.
  const std::vector<shared_library> copied = libraries_to_copy("/proc/self/exe", false);
  CHECK(has(copied, "libstdc++"));
  CHECK_FALSE(has(copied, "libc.so"));
  CHECK_FALSE(has(copied, "libm.so"));
  for (const shared_library& l : copied) CHECK(l.path.starts_with("/"));
}

TEST_CASE("libraries of glibc and of MPI are known by their names") {
  for (const char* const name :
       {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libpthread.so.0"})
    CHECK(is_c_library(name));
  for (const char* const name : {"libcurl.so.4", "libmath.so", "libz.so.1", "libmpi.so.40"})
    CHECK_FALSE(is_c_library(name));
  for (const char* const name : {"libmpi.so.40", "libmpich.so.12", "libopen-rte.so.40"})
    CHECK(is_mpi_library(name));
  CHECK_FALSE(is_mpi_library("libmpir.so.23"));
  CHECK(mpi_of({.libraries = {"libc.so.6", "libmpi.so.40"}}) == "Open MPI");
  CHECK(mpi_of({.libraries = {"libmpich.so.12"}}) == "MPICH");
  CHECK(mpi_of({.libraries = {"libmpi.so.12"}}) == "MPICH");
  CHECK(mpi_of({.libraries = {"libc.so.6"}}).empty());
}

TEST_CASE("files that are no programs, and damaged ones, are errors") {
  CHECK_THROWS_WITH(read_elf_needs("/nowhere/trainer"), Contains("/nowhere/trainer: expected a "
                                                                 "program"));
  const private_folder folder;
  CHECK_THROWS_WITH(read_elf_needs(folder.write("empty", "")), Contains("found its end"));
  CHECK_THROWS_WITH(read_elf_needs(folder.write("script", std::string(100, '#'))),
                    Contains("found another format"));
  const std::string whole = bytes_of("/bin/true");
  CHECK_NOTHROW(read_elf_needs(folder.write("whole", whole)));
  std::string other = whole;
  other[4] = static_cast<char>(other[4] == 1 ? 2 : 1);
  CHECK_THROWS_WITH(read_elf_needs(folder.write("other", other)), Contains("another processor"));
  // Every cut is an error, or leaves what the headers name.
  for (std::size_t size = 0, i = 0; size < whole.size(); size += 1 + whole.size() / 50, ++i) {
    const std::string path = folder.write("cut" + std::to_string(i), whole.substr(0, size));
    elf_needs found;
    try {
      found = read_elf_needs(path);
    } catch (const lamina::error&) {
      continue;
    }
    CHECK_FALSE(found.libraries.empty());
  }
  // A byte changed in the headers does not crash.
  for (std::size_t at = 0; at < 800 && at < whole.size(); at += 3) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const std::string path = folder.write("bit" + std::to_string(at), damaged);
    try {
      static_cast<void>(read_elf_needs(path));
    } catch (const lamina::error&) {
    }
    std::remove(path.c_str());
  }
}
