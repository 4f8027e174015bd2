// SPDX-License-Identifier: Apache-2.0
// zip archives that are truncated or changed are refused.
#include <fstream>
#include <string>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/archive/zip_reader.hpp>
#include <lamina/io/archive/zip_writer.hpp>

namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream from(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(from), {}};
}
/// Whether an archive of these bytes is read, its members' checksums included.
bool is_read(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    lamina::binary_reader from(path);
    lamina::zip_reader zip(from);
    for (const lamina::zip_member& m : zip.members()) zip.check_member(m);
    return true;
  } catch (const lamina::format_error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("a zip archive is refused when it ends anywhere, or a byte of a member has changed") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/a.zip";
  {
    lamina::binary_writer to(path);
    lamina::zip_writer zip(to);
    zip.add("a", "head", "content", 7);
    zip.finish();
    to.finish();
  }
  const std::string whole = bytes_of(path);
  CHECK(is_read(path, whole));
  for (std::size_t n = 0; n < whole.size(); ++n) CHECK(!is_read(path, whole.substr(0, n)));
  CHECK(!is_read(path, "x" + whole));
  CHECK(!is_read(path, whole + "x"));
  std::string changed = whole;
  changed[whole.find("content")] = 'C';
  CHECK(!is_read(path, changed));
}
