// SPDX-License-Identifier: Apache-2.0
// onnx_tensor_reader: element types, sizes that do not fit, and external data.
#include <cmath>
#include <string>
#include <vector>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>
#include <unistd.h>

#include <lamina/core/files/file.hpp>
#include <lamina/io/onnx/onnx_tensor_reader.hpp>

using Catch::Contains;
using lamina::dtype;
using lamina::onnx_tensor_message;
using reader = lamina::detail::onnx_tensor_reader;

namespace {

onnx_tensor_message raw(int type, std::vector<std::int64_t> dims, std::string_view bytes) {
  onnx_tensor_message t;
  t.name = "w";
  t.type = type;
  t.dims = std::move(dims);
  t.raw = bytes;
  return t;
}
std::vector<double> read(const onnx_tensor_message& t, dtype expected) {
  const lamina::tensor value = reader("net.onnx").read(t);
  CHECK(value.type() == expected);
  const auto all = value.cast<double>();
  return {all.begin(), all.end()};
}
std::string failure(const onnx_tensor_message& t, const std::string& file = "net.onnx") {
  try {
    (void)reader(file).read(t);
  } catch (const lamina::format_error& e) {
    return e.what();
  }
  return "read";
}
using numbers = std::vector<double>;

}  // namespace

TEST_CASE("onnx_tensor_reader: types without arithmetic are widened") {
  CHECK(read(raw(10, {4}, {"\x00\x3c\x00\xc0\x01\x00\xff\x7b", 8}), dtype::float32) ==
        numbers{1, -2, std::ldexp(1, -24), 65504});
  CHECK(read(raw(16, {2}, {"\x80\x3f\x49\x40", 4}), dtype::float32) == numbers{1, 3.140625});
  CHECK(read(raw(3, {2}, {"\xff\x7f", 2}), dtype::int8) == numbers{-1, 127});
  CHECK(read(raw(4, {1}, {"\xff\xff", 2}), dtype::int32) == numbers{65535});
  CHECK(read(raw(12, {1}, {"\xff\xff\xff\xff", 4}), dtype::int64) == numbers{4294967295});
  CHECK(read(raw(22, {3}, {"\x7f\x08", 2}), dtype::int8) == numbers{-1, 7, -8});
  CHECK(read(raw(21, {3}, {"\x7f\x08", 2}), dtype::uint8) == numbers{15, 7, 8});
  CHECK(read(raw(26, {4}, {"\x1b", 1}), dtype::int8) == numbers{-1, -2, 1, 0});
  CHECK(read(raw(17, {3}, {"\x38\xc0\x01", 3}), dtype::float32) ==
        numbers{1, -2, std::ldexp(1, -9)});
  CHECK(read(raw(19, {2}, {"\x3c\xc0", 2}), dtype::float32) == numbers{1, -2});
  CHECK(read(raw(23, {2}, {"\xf1", 1}), dtype::float32) == numbers{0.5, -6});
  CHECK(read(raw(24, {2}, {"\x7f\x00", 2}), dtype::float32) == numbers{1, std::ldexp(1, -127)});
  CHECK(std::isnan(read(raw(17, {1}, {"\x7f", 1}), dtype::float32)[0]));
  CHECK(std::isinf(read(raw(10, {1}, {"\x00\x7c", 2}), dtype::float32)[0]));
}

TEST_CASE("onnx_tensor_reader: elements in fields of numbers") {
  onnx_tensor_message t;
  t.type = 10;
  t.dims = {2};
  t.integers = {0x3c00, 0xc000};
  CHECK(read(t, dtype::float32) == numbers{1, -2});
  t.type = 3;
  t.integers = {-1, 5};
  CHECK(read(t, dtype::int8) == numbers{-1, 5});
  t.type = 9;
  t.integers = {0, 1};
  CHECK(read(t, dtype::boolean) == numbers{0, 1});
  t.type = 11;
  t.doubles = {0.1, 2};
  CHECK(read(t, dtype::float64) == numbers{0.1, 2});
  t.dims = {3};
  CHECK_THAT(failure(t), Contains("expected 3 elements, found 2"));
}

TEST_CASE("onnx_tensor_reader: sizes that do not fit are errors before memory is taken") {
  CHECK_THAT(failure(raw(1, {2}, {"1234", 4})), Contains("expected 8 bytes of elements, found 4"));
  CHECK_THAT(failure(raw(1, {-2}, {})), Contains("found -2"));
  CHECK_THAT(failure(raw(1, {0x7fffffff, 0x7fffffff, 0x7fffffff}, {})), Contains("below 2^42"));
  CHECK_THAT(failure(raw(1, {1 << 20, 1 << 20}, {"1234", 4})), Contains("found 4"));
  CHECK_THAT(failure(raw(8, {1}, {})), Contains("found data_type 8"));
  CHECK_THAT(failure(raw(13, {1}, {"\xff\xff\xff\xff\xff\xff\xff\xff", 8})),
             Contains("below 2^63, found 18446744073709551615"));
}

TEST_CASE("onnx_tensor_reader: external data lies in the model's folder") {
  const temporary_folder folder;
  lamina::make_directories(folder.path() + "/model/part");
  const std::string file = folder.path() + "/model/net.onnx";
  lamina::write_file(folder.path() + "/model/part/w.bin", std::string("....\0\0\x80\x3f", 8));
  lamina::write_file(folder.path() + "/secret", std::string("\0\0\x80\x3f", 4));
  onnx_tensor_message t;
  t.name = "w";
  t.type = 1;
  t.dims = {1};
  t.is_external = true;
  const auto at = [&](const std::string& location, const char* offset = "4") {
    t.external = {{"location", location}, {"offset", offset}, {"length", "4"}};
    return failure(t, file);
  };
  CHECK(at("part/w.bin") == "read");
  CHECK(reader(file).read(t).as<float>().flat(0) == 1.0F);
  CHECK_THAT(at("part/w.bin", "6"), Contains("w.bin"));
  CHECK_THAT(at("part/w.bin", "x"), Contains("expected a number as offset"));
  CHECK_THAT(at("absent.bin"), Contains("found no such file"));
  for (const std::string& outside :
       {std::string("../secret"), std::string("part/../../secret"), folder.path() + "/secret",
        std::string(), std::string("..\\secret")})
    CHECK_THAT(at(outside, "0"), Contains("in the model's folder"));
  REQUIRE(::symlink("../secret", (folder.path() + "/model/link").c_str()) == 0);
  CHECK_THAT(at("link", "0"), Contains("in the model's folder"));
}
