// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include "dataset/temporary_file.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/idx.hpp>

using lamina::format_error;
using lamina::dataset::read_idx;
using test::big;

namespace {

// A 2 x 3 array of the given type, elements given as their bytes.
std::string idx(int type, const std::string& elements) {
  return big(static_cast<std::uint64_t>(type) << 8 | 2) + big(2) + big(3) + elements;
}

#if LAMINA_HAS_ZLIB
std::string gzip(const std::string& bytes) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}
#endif

// The offset of the format_error that reading `bytes` throws; its text in `reason`.
std::uint64_t offset_of_fault(const std::string& bytes, std::string& reason) {
  const test::temporary_directory folder;
  const std::string path = folder.write("file", bytes);
  try {
    read_idx(path);
  } catch (const format_error& e) {
    CHECK(e.file() == path);
    reason = e.what();
    return e.offset();
  }
  FAIL("no format_error");
  return 0;
}

template <class T>
std::vector<T> values_of(const std::string& bytes) {
  const test::temporary_directory folder;
  const auto array = read_idx(folder.write("file", bytes));
  REQUIRE(array.shape == std::vector<std::uint64_t>{2, 3});
  REQUIRE(array.size() == 6);
  return std::get<std::vector<T>>(array.values);
}

std::string bits(float x) {
  std::uint32_t b;
  std::memcpy(&b, &x, 4);
  return big(b);
}
std::string bits(double x) {
  std::uint64_t b;
  std::memcpy(&b, &x, 8);
  return big(b, 8);
}

}  // namespace

TEST_CASE("IDX files of every element type", "[dataset]") {
  CHECK(values_of<std::uint8_t>(idx(0x08, std::string("\0\1\2\3\xfe\xff", 6))) ==
        std::vector<std::uint8_t>{0, 1, 2, 3, 254, 255});
  CHECK(values_of<std::int8_t>(idx(0x09, std::string("\0\1\2\x80\xfe\xff", 6))) ==
        std::vector<std::int8_t>{0, 1, 2, -128, -2, -1});
  std::string shorts, ints, floats, doubles;
  for (int i : {0, 1, -1, 258, -32768, 32767}) {
    shorts += big(static_cast<std::uint16_t>(i), 2);
    ints += big(static_cast<std::uint32_t>(i * 65536));
    floats += bits(static_cast<float>(i) / 3);
    doubles += bits(i / 3.0);
  }
  CHECK(values_of<std::int16_t>(idx(0x0b, shorts)) ==
        std::vector<std::int16_t>{0, 1, -1, 258, -32768, 32767});
  CHECK(values_of<std::int32_t>(idx(0x0c, ints))[4] == -32768 * 65536);
  CHECK(values_of<float>(idx(0x0d, floats))[3] == 258.f / 3);
  CHECK(values_of<double>(idx(0x0e, doubles))[4] == -32768 / 3.0);
}

TEST_CASE("an IDX array may be empty", "[dataset]") {
  const test::temporary_directory folder;
  const auto array = read_idx(folder.write("file", big(0x0803) + big(0) + big(28) + big(28)));
  CHECK(array.shape == std::vector<std::uint64_t>{0, 28, 28});
  CHECK(array.size() == 0);
}

TEST_CASE("an IDX file cut at any byte is an error there", "[dataset]") {
  const std::string whole = idx(0x0b, std::string(12, 'x'));
  std::string reason;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    INFO("cut after " << length << " of " << whole.size() << " bytes");
    CHECK(offset_of_fault(whole.substr(0, length), reason) == length);
    CHECK_THAT(reason, Catch::Contains("the file ends"));
  }
  CHECK(values_of<std::int16_t>(whole).size() == 6);
}

TEST_CASE("IDX: foreign, overlong and overflowing files", "[dataset]") {
  std::string reason;
  CHECK(offset_of_fault("PK\3\4 a zip archive", reason) == 0);
  CHECK_THAT(reason, Catch::Contains("two zero bytes") && Catch::Contains("0x504b0304"));
  CHECK(offset_of_fault(big(0x0a01) + big(1) + "x", reason) == 2);
  CHECK_THAT(reason, Catch::Contains("found 10"));
  CHECK(offset_of_fault(big(0x0f01) + big(1) + "x", reason) == 2);
  CHECK(offset_of_fault(big(0x0800), reason) == 3);
  CHECK(offset_of_fault(idx(0x08, "1234567"), reason) == 18);
  CHECK_THAT(reason, Catch::Contains("more bytes"));
  const std::string huge = big(0xffffffff);
  CHECK(offset_of_fault(big(0x0803) + huge + big(0x7fffffff) + big(2), reason) == 12);
  CHECK_THAT(reason, Catch::Contains("64 bits"));
  CHECK(offset_of_fault(big(0x0e02) + huge + huge, reason) == 8);
  // A claim that fits but is not kept costs no memory: 2^62 bytes here.
  CHECK(offset_of_fault(big(0x0802) + big(0x80000000) + big(0x80000000) + "abc", reason) == 15);
  CHECK_THROWS_WITH(
      read_idx("/nonexistent/file"),
      std::string("lamina: /nonexistent/file: cannot be opened: ") + std::strerror(ENOENT));
}

// Every bit of a file turned over: another array or a format_error, nothing else.
static void turn_every_bit(const std::string& bytes) {
  const test::temporary_directory folder;
  int refused = 0;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    try {
      const auto array = read_idx(folder.write("file", damaged));
      std::uint64_t count = 1;
      for (const std::uint64_t extent : array.shape) count *= extent;
      CHECK(array.size() == count);
    } catch (const format_error&) {
      ++refused;
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("an IDX file with any bit wrong is another array or an error", "[dataset]") {
  turn_every_bit(idx(0x0b, std::string(12, 'x')));
#if LAMINA_HAS_ZLIB
  turn_every_bit(gzip(idx(0x0b, std::string(12, 'x'))));
#endif
}

#if LAMINA_HAS_ZLIB
TEST_CASE("compressed IDX files", "[dataset]") {
  const std::string plain = idx(0x08, "abcdef"), packed = gzip(plain);
  const auto expected = values_of<std::uint8_t>(plain);
  CHECK(values_of<std::uint8_t>(packed) == expected);
  CHECK(values_of<std::uint8_t>(gzip(plain.substr(0, 7)) + gzip(plain.substr(7))) == expected);

  std::string reason;
  for (std::size_t length = 2; length < packed.size(); ++length) {
    INFO("cut after " << length << " of " << packed.size() << " bytes");
    CHECK(offset_of_fault(packed.substr(0, length), reason) == length);
    CHECK_THAT(reason, Catch::Contains("gzip stream ends"));
  }
  CHECK(offset_of_fault(packed + "x", reason) == packed.size());
  CHECK_THAT(reason, Catch::Contains("follow the end"));
  std::string wrong = packed;
  wrong[packed.size() - 8] ^= 1;  // the checksum
  offset_of_fault(wrong, reason);
  CHECK_THAT(reason, Catch::Contains("damaged gzip stream"));
  // Faults within have offsets within.
  CHECK(offset_of_fault(gzip(plain.substr(0, 10)), reason) == 10);
  CHECK(offset_of_fault(gzip(plain + "x"), reason) == plain.size());
}

TEST_CASE("a compressed file larger than every buffer", "[dataset]") {
  std::string elements;
  std::uint32_t state = 1;
  for (int i = 0; i < 700000; ++i)
    elements += static_cast<char>((state = state * 1664525u + 7u) >> 24);
  const std::string plain = big(0x0801) + big(700000) + elements;
  const test::temporary_directory folder;
  const auto a = read_idx(folder.write("a", plain)), b = read_idx(folder.write("b", gzip(plain)));
  CHECK(a.size() == 700000);
  CHECK(a.values == b.values);
}
#else
TEST_CASE("without zlib a compressed file says so", "[dataset]") {
  std::string reason;
  CHECK(offset_of_fault("\x1f\x8b\x08", reason) == 0);
  CHECK_THAT(reason, Catch::Contains("compressed with gzip") && Catch::Contains("LAMINA_HAS_ZLIB"));
}
#endif
