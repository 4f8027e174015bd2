// SPDX-License-Identifier: Apache-2.0
// tar archives: members there and back, long names, damage.
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/archive/gzip.hpp>
#include <lamina/io/archive/tar_file.hpp>

namespace {

using members = std::vector<std::pair<std::string, std::string>>;

void write_tar(const std::string& path, const members& all) {
  lamina::binary_writer to(path);
  lamina::tar_writer tar(to);
  for (const auto& [name, bytes] : all) {
    tar.begin_member(name, bytes.size());
    to.write(bytes);
    tar.end_member();
  }
  tar.finish();
  to.finish();
}
members read_tar(const std::string& path) {
  lamina::binary_reader from(path);
  lamina::tar_reader tar(from);
  members found;
  for (lamina::tar_member m; tar.next(m);) found.emplace_back(m.name, from.bytes(m.size, m.name));
  return found;
}

}  // namespace

TEST_CASE("tar members come back in their order, those of long names and no bytes too") {
  const temporary_folder folder;
  const members all = {
      {"a", "one"}, {std::string(300, 'n'), "two"}, {"empty", ""}, {"b", std::string(512, 'x')}};
  write_tar(folder.path() + "/a.tar", all);
  CHECK(read_tar(folder.path() + "/a.tar") == all);
}

TEST_CASE("a tar archive with a changed header or a member beyond its end is refused") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/a.tar";
  write_tar(path, {{"a", "one"}});
  std::ifstream from(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(from), {}};
  std::string changed = whole;
  changed[0] = 'b';
  std::ofstream(path, std::ios::binary) << changed;
  CHECK_THROWS_AS(read_tar(path), lamina::format_error);
  std::ofstream(path, std::ios::binary) << whole.substr(0, 513);
  CHECK_THROWS_AS(read_tar(path), lamina::format_error);
  std::ofstream(path, std::ios::binary) << "";
  CHECK_THROWS_AS(read_tar(path), lamina::format_error);
}

TEST_CASE("links in a tar archive are refused or skipped") {
  // Python's tarfile wrote it: folders, a link with a target of 155 bytes, and four files.
  const std::string path = std::string(LAMINA_TEST_DIR) + "/dataset/archives/simple-examples.tgz";
  lamina::binary_reader from(path, lamina::detail::unpack_gzip);
  lamina::tar_reader strict(from);
  lamina::tar_member m;
  CHECK_THROWS_WITH(strict.next(m), Catch::Contains("found a member of type 75"));
  lamina::binary_reader again(path, lamina::detail::unpack_gzip);
  lamina::tar_reader tolerant(again, lamina::tar_others::skipped);
  std::vector<std::string> names;
  while (tolerant.next(m)) names.push_back(m.name);
  CHECK(names.size() == 4);
  CHECK(names.at(0) == "./simple-examples/data/README");
}
