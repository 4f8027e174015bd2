// SPDX-License-Identifier: Apache-2.0
// Parameters in a tar archive: the bytes of v2, archives without an end.
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

std::string changed(std::string bytes, std::size_t at, const std::string& to) {
  return bytes.replace(at, to.size(), to);
}

}  // namespace

TEST_CASE("tar: the bytes of v2, archives without an end, and members that are none") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/file.tar";
  lamina::to_tar(path, named_tensors{{"b", tensor({2}, std::vector<float>{1, 2})}});
  const std::string whole = lamina::read_file(path);
  CHECK(whole.size() == 2 * 1024 + 1024);
  CHECK(whole.substr(512, 24) ==
        std::string("\0\0\0\0\4\0\0\0\2\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\x40", 24));
  const std::string config("\x0a\1b\x10\2\x48\1\x48\2", 9);  // name b, size 2, dims 1 2
  CHECK(whole.substr(1536, 10) == config + std::string(1, '\0'));
  const auto read = [&](const std::string& bytes) {
    lamina::write_file(path, bytes);
    return lamina::from_tar(path);
  };
  const named_tensors row{{"b", tensor({1, 2}, std::vector<float>{1, 2})}};
  CHECK(same(read(whole.substr(0, 2048)), row));
  // Long names in GNU's way; as pax, Python's way since 3.8.
  const named_tensors long_name{{std::string(150, 'n'), row.at("b")}};
  lamina::to_tar(path, long_name);
  CHECK(same(lamina::from_tar(path), long_name));

  const auto sealed = [](std::string bytes, std::size_t at) {
    std::memset(&bytes[at + 148], ' ', 8);
    unsigned sum = 0;
    for (std::size_t i = at; i < at + 512; ++i) sum += static_cast<unsigned char>(bytes[i]);
    char digits[8];
    std::snprintf(digits, sizeof digits, "%06o", sum);
    return changed(bytes, at + 148, std::string(digits, 7));
  };
  std::string pax =
      sealed(changed(changed(whole.substr(0, 512), 156, "x"), 124, "00000000012"), 0) +
      "10 path=b\n";
  pax.append(1024 - pax.size(), '\0');
  CHECK(same(read(pax + sealed(changed(whole, 0, "x"), 0)), row));
  const auto refused = [&](const std::string& bytes, const std::string& why) {
    CHECK_THROWS_WITH(read(bytes), Contains(path + ", offset ") && Contains(why));
    CHECK_THROWS_AS(read(bytes), lamina::format_error);
  };
  refused(changed(whole, 0, "x"), "of a member's header, found");
  refused(sealed(changed(whole, 0, "x"), 0), "expected a ParameterConfig 'x.protobuf', found none");
  refused(sealed(changed(whole, 156, "2"), 0),
          "expected files in a tar archive, found a member of type 50");
  refused(sealed(changed(whole, 124, "77777777777"), 0), "expected at most 2560 bytes of a member");
  refused(sealed(changed(whole, 124, "0000000003x"), 0), "expected an octal number");
  refused(sealed(changed(whole, 124, "\x80" + std::string(11, '\xff')), 0),
          "expected an octal number");
  refused(changed(whole, 512, "\1"),
          "expected format 0 with elements of 4 or 8 bytes in 'b', found format 1");
  refused(changed(whole, 516, "\10"), "expected 2 elements of 'b', found 2 in 8 bytes");
  refused(changed(whole, 520, "\3"), "expected 2 elements of 'b', found 3 in 8 bytes");
  refused(changed(whole, 1540, "\3"), "expected dims of 3 elements of 'b', found [1, 2]");
  refused(changed(whole, 1538, "c"),
          "expected the ParameterConfig of 'b.protobuf', found that of 'c'");
  refused(changed(whole, 1537, "\x7f"), "expected a ParameterConfig in 'b.protobuf'");
  refused(whole.substr(0, 1024) + whole.substr(0, 1024),
          "expected one member 'b', found a second one");
  refused(whole.substr(1024), "expected the values of 'b', found its ParameterConfig only");
  refused(whole.substr(0, 2048) + std::string(512, '\0') + "x", "expected zeros up to the end");
  CHECK_THROWS_WITH(
      lamina::to_tar(path, named_tensors{{"n", tensor::zeros(lamina::dtype::int32, {1})}}),
      Contains("expected parameters of float32"));
}
