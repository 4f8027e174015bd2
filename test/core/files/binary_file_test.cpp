// SPDX-License-Identifier: Apache-2.0
// Binary files: pieces are read where they lie, what is missing is told with its offset, and a
// writer leaves the old file until it has finished.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/files/binary_file.hpp>

namespace {

using lamina::binary_reader;
using lamina::binary_writer;

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::string& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

// The number 0x04030201, then text.
constexpr std::string_view pieces{"\x01\x02\x03\x04text", 8};

void check_pieces(binary_reader& in) {
  CHECK(in.number<std::uint32_t>("a number") == 0x04030201u);
  CHECK(in.offset() == 4);
  CHECK(in.left() == 4);
  CHECK(in.bytes(3, "a word") == "tex");
  CHECK(message_of([&] { (void)in.number<std::uint16_t>("a length"); }).find("a length") !=
        std::string::npos);
  CHECK(in.offset() == 7);
  in.window(1, 2, "two bytes");
  CHECK(in.left() == 2);
  CHECK(in.number<std::uint16_t>("both") == 0x0302u);
  CHECK(in.bytes(0, "nothing").empty());
  CHECK(message_of([&] { (void)in.bytes(1, "more"); }).find("offset 3") != std::string::npos);
  CHECK(message_of([&] { in.window(7, 2, "the end"); }).find("a file of 8") != std::string::npos);
  CHECK(message_of([&] { in.window(~std::uint64_t{0}, 2, "x"); }).find("a file of 8") !=
        std::string::npos);
}

}  // namespace

TEST_CASE("a binary_reader reads numbers and bytes of a file and of memory alike") {
  const temporary_folder folder;
  write(folder.path() + "/pieces", pieces);
  binary_reader file(folder.path() + "/pieces");
  check_pieces(file);
  binary_reader memory(pieces, "memory");
  check_pieces(memory);
}

TEST_CASE("a binary_reader says which file cannot be opened, and refuses a packed one") {
  const temporary_folder folder;
  const std::string none = folder.path() + "/none";
  CHECK(message_of([&] { binary_reader in(none); }).find(none) != std::string::npos);
  CHECK(message_of([&] { binary_reader in(folder.path()); }).find("cannot be opened") !=
        std::string::npos);
  const std::string packed = "\x1f\x8b\x08" + std::string(20, 'x');
  write(folder.path() + "/packed", packed);
  const std::string path = folder.path() + "/packed";
  CHECK(message_of([&] { binary_reader in(path); }).find("gzip") != std::string::npos);
  binary_reader unpacked(path, [](std::string_view bytes, const std::string&) {
    return "unpacked " + std::to_string(bytes.size());
  });
  CHECK(unpacked.bytes(unpacked.left(), "all") == "unpacked 23");
  // The length of a safetensors header may have the bytes of gzip's.
  std::string header = packed;
  header[8] = '{';
  write(folder.path() + "/packed", header);
  binary_reader plain(path);
  CHECK(plain.left() == 23);
}

TEST_CASE("a binary_writer replaces the old file when it has finished") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/written";
  write(path, "old");
  {
    binary_writer out(path);
    out.write("new");
  }
  CHECK(content_of(path) == "old");
  // Pieces that fit the writer's buffer, that do not, and that are larger than it.
  std::string all;
  binary_writer out(path);
  for (const std::size_t size : {1u, 0u, 65530u, 100u, 40000u, 200000u, 3u}) {
    const std::string piece(size, static_cast<char>('a' + size % 26));
    out.write(piece);
    all += piece;
    CHECK(out.offset() == all.size());
  }
  out.number(std::uint16_t{0x0201});
  all += "\x01\x02";
  CHECK(content_of(path) == "old");
  out.finish();
  CHECK((content_of(path) == all));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}
