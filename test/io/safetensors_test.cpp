// SPDX-License-Identifier: Apache-2.0
// safetensors: headers that contradict themselves.
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

}  // namespace

TEST_CASE("safetensors: headers that contradict themselves") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/file";
  const auto with = [&](const std::string& header, const std::string& data) {
    std::string bytes(8, '\0');
    bytes[0] = static_cast<char>(header.size());
    lamina::write_file(path, bytes + header + data);
  };
  const std::string w = "\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}";
  with("{\"__metadata__\":{\"format\":\"pt\"}," + w + "}  ", std::string("\0\0\x80\x3f", 4));
  CHECK(same(lamina::load_safetensors(path), {{"w", tensor({1}, std::vector<float>{1})}}));
  // Source: safetensors/safetensors#823.
  with("{\"__metadata__\":null," + w + "}", std::string("\0\0\x80\x3f", 4));
  CHECK(same(lamina::load_safetensors(path), {{"w", tensor({1}, std::vector<float>{1})}}));
  with("{" + w.substr(0, w.size() - 1) + ",\"note\":\"further\"}}", std::string("\0\0\x80\x3f", 4));
  CHECK(same(lamina::load_safetensors(path), {{"w", tensor({1}, std::vector<float>{1})}}));
  const auto refused = [&](const std::string& header, const std::string& data,
                           const std::string& why) {
    with(header, data);
    INFO(header);
    CHECK_THROWS_WITH(lamina::load_safetensors(path),
                      Contains(path + ", offset ") && Contains(why));
    CHECK_THROWS_AS(lamina::load_safetensors(path), lamina::format_error);
  };
  const auto entry = [](const std::string& type, const std::string& shape,
                        const std::string& offsets) {
    return "{\"w\":{\"dtype\":" + type + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets +
           "}}";
  };
  refused("{" + w + "," + w + "}", "1234",
          "expected each name once in the header, found 'w' twice");
  refused("{\"w\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", "", "found 'dtype' twice");
  refused("{" + w + "}", "123", "offset 62: expected 4 bytes of 'w' in the file");
  refused("{" + w + "}", "12345",
          "expected the end of the file after 1 values, found 1 more bytes");
  refused(entry("\"F32\"", "[1]", "[4,8]"), "12345678", "found 'w' at 4 instead of 0");
  refused(entry("\"F32\"", "[1]", "[4,0]"), "1234", "expected data_offsets that ascend");
  refused(entry("\"F32\"", "[2]", "[0,4]"), "1234",
          "expected 4 bytes of 'w' in the file, found the shape [2]");
  refused(entry("\"F32\"", "[4294967296,4294967296]", "[0,0]"), "", "expected 0 bytes of 'w'");
  refused(entry("\"F32\"", "[-1]", "[0,4]"), "1234", "expected dimensions that are whole numbers");
  refused(entry("\"F32\"", "[1.5]", "[0,4]"), "1234", "expected dimensions that are whole numbers");
  refused(entry("\"BF16\"", "[2]", "[0,4]"), "1234", "expected one of the dtypes");
  refused(entry("\"F32\"", "[1]", "[0]"), "1234", "expected two data_offsets");
  refused(entry("\"F32\"", "1", "[0,4]"), "1234", "expected a shape of at most 16 dimensions");
  refused("{\"w\":{\"dtype\":\"F32\"}}", "", "expected dtype, shape and data_offsets for 'w'");
  refused("{\"__metadata__\":{\"a\":1}}", "", "expected texts in __metadata__");
  refused("{\"w\":[[[]]]}", "", "expected at most 3 levels in the header");
  refused("{\"w\":1e999}", "", "expected numbers of 64 bits in the header");
  refused("[]", "", "expected '{' at the begin of the header");
  refused("{\"w\":", "", "expected JSON in the header");
  lamina::write_file(path, std::string(8, '\xff') + "{}");
  CHECK_THROWS_WITH(
      lamina::load_safetensors(path),
      Contains("offset 0: expected a header of at most 2 bytes, found 18446744073709551615"));
  CHECK_THROWS_WITH(lamina::save_safetensors(path, named_tensors{{"__metadata__", tensor()}}),
                    Contains("found __metadata__"));
  CHECK_THROWS_WITH(lamina::save_safetensors(path, named_tensors{{"\xff", two().at("w")}}),
                    Contains("expected names of values in UTF-8"));
}
