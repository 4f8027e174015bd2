// SPDX-License-Identifier: Apache-2.0
// zip archives: members are aligned, stored whole, and found again.
#include <string>
#include <utility>
#include <vector>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/archive/zip_reader.hpp>
#include <lamina/io/archive/zip_writer.hpp>

namespace {

using members = std::vector<std::pair<std::string, std::string>>;

/// Writes members and reads them again.
members written_and_read(const std::string& path, const members& all, std::uint64_t limit) {
  {
    lamina::binary_writer to(path);
    lamina::zip_writer zip(to, limit);
    for (const auto& [name, bytes] : all)
      zip.add(name, bytes.substr(0, 1), bytes.data() + 1, bytes.size() - 1);
    zip.finish();
    to.finish();
  }
  lamina::binary_reader from(path);
  lamina::zip_reader zip(from);
  members found;
  for (const lamina::zip_member& m : zip.members()) {
    CHECK(m.begin % 64 == 0);
    zip.check_member(m);
    zip.open(m);
    found.emplace_back(m.name, from.bytes(m.size, m.name));
  }
  return found;
}

}  // namespace

TEST_CASE("zip members come back in their order, with and without Zip64") {
  const temporary_folder folder;
  const members all = {{"a", "one"}, {"b/c.npy", std::string(1000, 'x')}, {"d", "z"}};
  for (const std::uint64_t limit : {std::uint64_t{0xffffffffu}, std::uint64_t{100}})
    CHECK(written_and_read(folder.path() + "/all.zip", all, limit) == all);
  CHECK(written_and_read(folder.path() + "/none.zip", {}, 0xffffffffu).empty());
}

TEST_CASE("a name that an archive cannot hold is refused") {
  const temporary_folder folder;
  lamina::binary_writer to(folder.path() + "/a.zip");
  lamina::zip_writer zip(to);
  CHECK_THROWS_AS(zip.add("", "x", nullptr, 0), lamina::error);
  CHECK_THROWS_AS(zip.add(std::string("a\0b", 3), "x", nullptr, 0), lamina::error);
}
