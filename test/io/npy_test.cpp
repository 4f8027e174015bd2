// SPDX-License-Identifier: Apache-2.0
// .npy: the bytes of numpy, and what is refused.
#include <cstring>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/npy.hpp>
#include <lamina/io/npz.hpp>
#include <lamina/io/parameter_tar.hpp>
#include <lamina/io/safetensors.hpp>
#include <lamina/model/model.hpp>

using Catch::Contains;
using lamina::tensor;

namespace {

bool same(const tensor& a, const tensor& b) {
  const std::size_t element = static_cast<std::size_t>(size_of(a.type()));
  return a.type() == b.type() && a.shape() == b.shape() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * element) == 0);
}

std::string changed(std::string bytes, std::size_t at, const std::string& to) {
  return bytes.replace(at, to.size(), to);
}

}  // namespace

TEST_CASE("npy: numpy's bytes, both orders of elements, and what is refused") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/array.npy";
  const auto with = [&](const std::string& dictionary, const std::string& data) {
    std::string header = dictionary;
    header.append(117 - header.size(), ' ');
    return "\x93NUMPY" + std::string("\1\0\x76\0", 4) + header + "\n" + data;
  };
  const std::string data("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40\0\0\xc0\x40",
                         24);
  const std::string rows = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  const tensor counted({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  lamina::save_npy(path, counted);
  CHECK(lamina::read_file(path) == with(rows, data));  // numpy 1.26: 128 bytes and the elements
  const auto read = [&](const std::string& bytes) {
    lamina::write_file(path, bytes);
    return lamina::load_npy(path);
  };
  CHECK(same(read(with("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", data)),
             tensor({2, 3}, std::vector<float>{1, 3, 5, 2, 4, 6})));
  CHECK(same(read(with("{\"shape\": (6L,), 'fortran_order': True,'descr': '<f4'}", data)),
             tensor({6}, std::vector<float>{1, 2, 3, 4, 5, 6})));
  // Written by others: tabs and carriage returns, the machine's order of bytes.
  // Source: llohse/libnpy#26.
  CHECK(same(read(with("{'descr':\t'=f4', 'fortran_order': False, 'shape': (2, 3), }\r", data)),
             counted));
  // numpy on a big-endian machine.
  const std::string big("\0\1\0\2\0\3\xff\xff", 8);
  CHECK(same(read(with("{'descr': '>i2', 'fortran_order': False, 'shape': (4,), }", big)),
             tensor({4}, std::vector<std::int16_t>{1, 2, 3, -1})));
  CHECK(same(read(with("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }", big)),
             tensor({2, 2}, std::vector<std::int16_t>{1, 3, 2, -1})));
  std::string second = with(rows, data);
  second = second.substr(0, 6) + std::string("\2\0\x76\0\0\0", 6) + second.substr(10);
  CHECK(same(read(second), counted));
  const auto refused = [&](const std::string& bytes, const std::string& why) {
    INFO(bytes);
    CHECK_THROWS_WITH(read(bytes), Contains(path + ", offset ") && Contains(why));
    CHECK_THROWS_AS(read(bytes), lamina::format_error);
  };
  refused(with(rows, data + "x"), "expected the end of the file of one array, found 1 more bytes");
  refused(with(rows, "1234"), "offset 128: expected at most 4 bytes of an array, found the shape");
  refused(changed(with(rows, data), 0, "x"), "offset 0: expected an array of numpy");
  refused(changed(with(rows, data), 6, "\4"),
          "expected version 1.0, 2.0 or 3.0 of an array, found 4.0");
  refused(changed(with(rows, data), 8, "\xff\xff"), "expected 65535 bytes of the header");
  refused(changed(second, 8, "\xff\xff\xff\xff"),
          "expected a header of at most 65535 bytes, found 4294967295");
  const auto header = [&](const std::string& dictionary, const std::string& why) {
    refused(with(dictionary, data), why);
  };
  header("{'descr': '|f4', 'fortran_order': False, 'shape': (2, 3), }", "offset 20: expected");
  header("{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }", "found '<f2'");
  header("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2, 3), }",
         "offset 20: expected elements of one number each, found a structured type");
  header("{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3), }", "expected True or False");
  header("{'descr': '<f4', 'fortran_order': False, 'shape': (6), }",
         "expected ',' after the only dimension");
  header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }",
         "expected a dimension, found no digits");
  header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
         "below 2^62");
  header("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
         "expected at most 24 bytes");
  header("{'descr': '<f4', 'fortran_order': False}",
         "expected descr, fortran_order and shape in the header, found fewer");
  header("{'descr': '<f4', 'descr': '<f4'}", "expected one 'descr', found a second one");
  header("{'descr': '<f4', 'order': False}", "found 'order'");
  header("{'descr': '<f4' 'shape': ()}", "expected ','");
  header(rows + "x", "expected the end of the header, found more");
}
