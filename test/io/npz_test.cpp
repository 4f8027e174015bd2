// SPDX-License-Identifier: Apache-2.0
// .npz: large archives, compressed members, directories that contradict the members.
#include <cstring>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/npz.hpp>
#include <lamina/io/parameter_tar.hpp>
#include <lamina/io/safetensors.hpp>
#include <lamina/model/model.hpp>

using Catch::Contains;
using lamina::named_tensors;
using lamina::tensor;

namespace {

bool same(const tensor& a, const tensor& b) {
  const std::size_t element = static_cast<std::size_t>(size_of(a.type()));
  return a.type() == b.type() && a.shape() == b.shape() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * element) == 0);
}

bool same(const named_tensors& a, const named_tensors& b) {
  bool all = a.size() == b.size();
  for (const auto& [name, value] : a) all = all && b.count(name) == 1 && same(value, b.at(name));
  return all;
}

named_tensors two() {
  return {{"w", tensor({2, 3}, std::vector<float>{1, -2, 3, 0.5f, 0, 9})},
          {"v", tensor({1, 2}, std::vector<float>{4, 5})}};
}

std::string changed(std::string bytes, std::size_t at, const std::string& to) {
  return bytes.replace(at, to.size(), to);
}

}  // namespace

TEST_CASE("npz: large archives, deflated members, and directories that lie") {
  CHECK(lamina::crc32_of("123456789", 9) == 0xcbf43926u);
  CHECK(lamina::crc32_of("6789", 4, lamina::crc32_of("12345", 5)) == 0xcbf43926u);
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes += static_cast<char>(i * i + 3 * i);
  std::uint32_t r = ~0u;  // bit by bit
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    CHECK(lamina::crc32_of(bytes.data(), n) == ~r);
    const std::uint32_t half = lamina::crc32_of(bytes.data(), n / 2);
    CHECK(lamina::crc32_of(bytes.data() + n / 2, n - n / 2, half) == ~r);
    r ^= static_cast<unsigned char>(bytes[n]);
    for (int bit = 0; bit < 8; ++bit) r = (r & 1) != 0 ? r >> 1 ^ 0xedb88320u : r >> 1;
  }
  const temporary_folder folder;
  const std::string path = folder.path() + "/file.npz";
  {
    lamina::binary_writer to(path);
    lamina::zip_writer archive(to, 200);  // as if 200 bytes were 4 GiB
    for (const auto& [name, value] : two())
      archive.add(name + ".npy", lamina::npy_header_of(value), value.data(), value.size() * 4);
    archive.finish();
    to.finish();
  }
  CHECK(same(lamina::load_npz(path), two()));

  {
    lamina::binary_writer to(path);
    lamina::zip_writer archive(to);
    archive.add("folder/", "", nullptr, 0);  // as the program zip writes it
    for (const char* name : {"folder/v.npy", ".npy"}) {
      const tensor v({1}, std::vector<float>{3});
      archive.add(name, lamina::npy_header_of(v), v.data(), 4);
    }
    archive.finish();
    to.finish();
  }
  CHECK(lamina::load_npz(path).size() == 2);
  CHECK(lamina::load_npz(path).count("folder/v") == 1);
  CHECK(lamina::load_npz(path).count("") == 1);

  lamina::save_npz(path, two());
  const std::string whole = lamina::read_file(path);
  CHECK(whole.find("\x93NUMPY") % 64 == 0);  // may be mapped into memory
  const auto refused = [&](const std::string& bytes, const std::string& why) {
    lamina::write_file(path, bytes);
    CHECK_THROWS_WITH(lamina::load_npz(path), Contains(path + ", offset ") && Contains(why));
    CHECK_THROWS_AS(lamina::load_npz(path), lamina::format_error);
  };
  const std::size_t entry = whole.find("PK\1\2"), second = whole.find("PK\1\2", entry + 1);
  const std::size_t end = whole.find("PK\5\6");
  const std::string huge("\xf0\xff\xff\xff", 4);
  refused("no archive", "offset 0: expected a zip archive, found no end record of one");
  refused(whole + "x", "found no end record");
  refused("x" + whole, "expected a zip archive's directory that ends at");
  refused(changed(whole, end + 10, "\3"), "expected a zip archive of one part, found several");
  refused(changed(whole, end + 8, std::string("\3\0\3", 3)), "expected at most 2 members");
  refused(changed(whole, end + 8, std::string("\1\0\1", 3)),
          "expected the end of a zip archive's directory, found more");
  refused(changed(whole, end + 12, huge), "expected a zip archive's directory that ends at");
  refused(changed(whole, entry + 8, "\1"), "expected 'v.npy' in the clear");
  refused(changed(whole, entry + 10, "\x0c"), "stored (0) or deflated (8), found method 12");
  refused(changed(whole, entry + 20, huge), "expected one size of the stored 'v.npy'");
  refused(changed(changed(whole, entry + 20, huge), entry + 24, huge),
          "to agree with the directory");
  refused(changed(whole, entry + 42, huge), "expected 'v.npy' between");
  refused(changed(whole, second + 42, std::string(4, '\0')), "expected 'w.npy' between");
  refused(changed(whole, entry + 46, "w"), "expected one member 'w.npy', found a second one");
  refused(changed(whole, entry + 46, "x"), "expected the header of 'x.npy' to agree");
  refused(changed(changed(whole, entry + 50, "x"), 34, "x"),
          "expected members NAME.npy, found 'v.npx'");
  refused(changed(whole, whole.find("NUMPY") + 1, "X"), "expected the checksum");
#if LAMINA_HAS_ZLIB
  // One member of 40 zeros, deflated by hand: a block of fixed codes.
  const std::string header = lamina::npy_header_of(tensor::zeros(lamina::dtype::float32, {10}));
  const std::string plain = header + std::string(40, '\0');
  std::string packed(200, '\0');
  uLongf size = packed.size();
  REQUIRE(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                   reinterpret_cast<const Bytef*>(plain.data()), plain.size()) == Z_OK);
  packed = packed.substr(2, size - 6);  // without what zlib puts around
  const auto deflated = [&](std::uint32_t said, std::uint32_t crc) {
    lamina::binary_writer to(path);
    lamina::zip_writer archive(to);
    archive.add("w.npy", packed, nullptr, 0);
    archive.finish();
    to.finish();
    std::string bytes = lamina::read_file(path);
    for (const std::size_t method : {std::size_t{8}, bytes.find("PK\1\2") + 10}) {
      bytes[method] = 8;
      std::memcpy(&bytes[method + 6], &crc, 4);
      std::memcpy(&bytes[method + 14], &said, 4);
    }
    return bytes;
  };
  const std::uint32_t crc = lamina::crc32_of(plain.data(), plain.size());
  lamina::write_file(path, deflated(168, crc));
  CHECK(same(lamina::load_npz(path).at("w"), tensor::zeros(lamina::dtype::float32, {10})));
  refused(deflated(168, crc + 1), "expected the checksum");
  refused(deflated(169, crc), "expected 169 bytes deflated to");
  refused(deflated(167, crc), "expected 167 bytes deflated to");
  refused(deflated(0xf0000000u, crc), "* 1040 bytes in 'w.npy', found the size 4026531840");
#endif
}
