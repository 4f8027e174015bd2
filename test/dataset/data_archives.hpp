// SPDX-License-Identifier: Apache-2.0
// test/dataset/data_archives.hpp - the archives of make_archives.py, what PaddlePaddle reads of
// them, and archives in memory that tests damage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataset/temporary_file.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/files/file.hpp>
#include <lamina/dataset/archive_members.hpp>
#include <lamina/dataset/vocabulary.hpp>

namespace test {

/// The path of a file that make_archives.py wrote.
inline std::string data_archive(const std::string& name) {
  return std::string(LAMINA_TEST_DIR) + "/dataset/archives/" + name;
}

/// Numbers with blanks between them.
template <class Numbers>
std::string spelled(const Numbers& numbers) {
  std::string all;
  for (const auto n : numbers) (all += all.empty() ? "" : " ") += std::to_string(n);
  return all;
}
inline std::string spelled(const lamina::dataset::vocabulary& words) {
  std::string all;
  for (const std::string& word : words.words()) (all += all.empty() ? "" : " ") += word;
  return all;
}

/// Lines as make_archives.py writes them of the readers of PaddlePaddle.
class report {
 public:
  void line(const std::string& text) { (all_ += text) += '\n'; }
  template <class... Fields>
  void fields(const Fields&... each) {
    std::string all;
    ((all += (all.empty() ? "" : "| ") + spelled(each) + " "), ...);
    line(all.substr(0, all.size() - 1));
  }
  /// A title, and the three fields of each pair of sentences.
  template <class Table>
  void pairs(const Table& table) {
    line("pairs");
    for (const auto& [source, target, next] : table) fields(source, target, next);
  }
  void check(const std::string& name) const {
    CHECK(all_ == lamina::read_file(data_archive(name + ".expected.txt")));
  }

 private:
  std::string all_;
};

/// The message of the lamina::error that reading throws; "none" if it throws none.
template <class Read>
std::string message_of(Read read) {
  try {
    read();
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "none";
}

/// Checks that an archive with one member replaced is refused, at a position of that member and
/// with a message that contains `reason`. `read(members)` reads it.
template <class Read>
void check_refused(lamina::dataset::archive_members files, const std::string& member,
                   const std::string& bytes, std::uint64_t position, const std::string& reason,
                   Read read) {
  INFO(bytes);
  bool is_found = false;
  for (auto& m : files.all)
    if (m.name == member) {
      is_found = true;
      m.bytes = bytes;
      position += m.stored ? m.begin : 0;
      if (!m.stored) position = m.begin;
    }
  REQUIRE(is_found);
  try {
    read(files);
    FAIL_CHECK("it is read");
  } catch (const lamina::format_error& e) {
    CHECK(e.file() == files.path);
    CHECK(e.offset() == position);
    CHECK_THAT(e.what(), Catch::Contains(reason));
    CHECK_THAT(e.what(), Catch::Contains("'" + member + "'"));
  }
}

/// The bytes of a plain tar archive.
inline std::string tar_bytes(const lamina::dataset::archive_members& files) {
  const temporary_directory folder;
  const std::string path = folder.path() + "/archive.tar";
  lamina::binary_writer to(path);
  lamina::tar_writer archive(to);
  for (const auto& m : files.all) {
    archive.begin_member(m.name, m.bytes.size());
    to.write(m.bytes);
    archive.end_member();
  }
  archive.finish();
  to.finish();
  return lamina::read_file(path);
}

/// Reads every archive that is one of these bytes cut short, or with one bit wrong in every
/// `step`-th byte: other samples, or an error that names the file. `read(path)` reads it.
template <class Read>
void damage(const std::string& bytes, std::size_t step, Read read) {
  const temporary_directory folder;
  std::size_t refused = 0;
  const auto take = [&](const std::string& changed) {
    const std::string path = folder.write("archive", changed);
    try {
      read(path);
    } catch (const lamina::format_error& e) {
      ++refused;
      CHECK(e.file().starts_with(path));
    }
  };
  take(bytes);
  REQUIRE(refused == 0);
  for (std::size_t n = 0; n < bytes.size(); n += step) take(bytes.substr(0, n));
  for (std::size_t n = 0; n < bytes.size(); n += step) {
    std::string changed = bytes;
    changed[n] = static_cast<char>(changed[n] ^ 1 << (n / step) % 8);
    take(changed);
  }
  CHECK(refused > 0);
}

}  // namespace test
