// SPDX-License-Identifier: Apache-2.0
// One value as Fluid's save operator writes it: bytes, damage.

#include "io/program_samples.hpp"
#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>
#include <executor/shared_executor.hpp>

#include <lamina/io/arrays/lod_tensor_stream.hpp>
#include <lamina/io/inference_model.hpp>
#include <lamina/transform/clone_for_test.hpp>

using Catch::Contains;
using lamina::lod_tensor;
using lamina::tensor;

namespace {

std::vector<float> values(const lod_tensor& t) {
  const auto& a = t.as<float>();
  return {a.begin(), a.end()};
}

std::string bytes_of(const lod_tensor& value, const temporary_folder& folder) {
  lamina::binary_writer to(folder.path() + "/value");
  write_lod_tensor(to, value);
  to.finish();
  return lamina::read_file(folder.path() + "/value");
}

lod_tensor value_of(const std::string& bytes) {
  lamina::binary_reader from(bytes, "bytes");
  lod_tensor value = lamina::read_lod_tensor(from, "v");
  if (from.left() != 0) from.fail("bytes are left");
  return value;
}

template <class T>
lod_tensor counted(lamina::tensor_shape shape) {
  std::vector<T> numbers;
  for (std::size_t i = 0; i < lamina::size_of(shape); ++i)
    numbers.push_back(static_cast<T>(3 * i + 1));
  return tensor(shape, numbers);
}

}  // namespace

TEST_CASE("stream: a bias of one float is Fluid's 28 bytes") {
  const temporary_folder folder;
  const std::string bytes = bytes_of(tensor({1}, std::vector<float>{1.5f}), folder);
  std::string expected(16, '\0');  // version, levels, version
  expected += std::string("\x04\0\0\0\x08\x05\x10\x01", 8) + std::string("\0\0\xc0\x3f", 4);
  CHECK(bytes.size() == 28);
  CHECK(bytes == expected);
  CHECK(values(value_of(bytes)) == std::vector<float>{1.5f});
}

TEST_CASE("stream: every element type and LoD goes there and back") {
  const temporary_folder folder;
  const auto there_and_back = [&](const lod_tensor& value) {
    const std::string bytes = bytes_of(value, folder);
    const lod_tensor again = value_of(bytes);
    CHECK(again.type() == value.type());
    CHECK(again.shape() == value.shape());
    CHECK(again.lod() == value.lod());
    CHECK(bytes_of(again, folder) == bytes);
  };
  there_and_back(counted<float>({2, 3}));
  there_and_back(counted<double>({4}));
  there_and_back(counted<std::int64_t>({2, 1, 2}));
  there_and_back(counted<std::int32_t>({3}));
  there_and_back(counted<std::int16_t>({3, 2}));
  there_and_back(counted<std::int8_t>({5}));
  there_and_back(counted<std::uint8_t>({5}));
  there_and_back(tensor::filled<bool>({4}, true));
  there_and_back(tensor::zeros(lamina::dtype::float32, {0, 7}));
  there_and_back(lamina::create_lod_tensor(counted<float>({7, 2}), {{2, 0, 1}, {3, 0, 4}}));
}

TEST_CASE("stream: cut anywhere, or with impossible numbers, it is refused with the place") {
  const temporary_folder folder;
  const lod_tensor value = lamina::create_lod_tensor(counted<float>({3, 2}), {{1, 2}});
  const std::string bytes = bytes_of(value, folder);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    bool refused = false;
    try {
      value_of(bytes.substr(0, n));
    } catch (const lamina::format_error& e) {
      refused = e.offset() <= n && e.file() == "bytes";
    }
    INFO("cut after " << n);
    CHECK(refused);
  }
  const auto changed = [&](std::size_t at, const std::string& to) {
    std::string damaged = bytes;
    damaged.replace(at, to.size(), to);
    return damaged;
  };
  const std::string huge(8, '\xff');
  CHECK_THROWS_WITH(value_of(changed(0, "\1")),
                    Contains("bytes, offset 0: expected version 0 of a LoDTensor, found 1"));
  CHECK_THROWS_WITH(value_of(changed(4, huge)),
                    Contains("offset 4: expected at most 16 LoD levels"));
  CHECK_THROWS_WITH(value_of(changed(12, huge)),
                    Contains("bytes of offsets, found 18446744073709551615"));
  CHECK_THROWS_WITH(value_of(changed(20, "\5")), Contains("expected the LoD of the value of 'v'"));
  CHECK_THROWS_WITH(value_of(changed(28, "\4")), Contains("expected the LoD of the value of 'v'"));
  CHECK_THROWS_WITH(value_of(changed(44, "\1")), Contains("expected version 0 of a Tensor"));
  CHECK_THROWS_WITH(value_of(changed(48, "\xff\xff\xff\xff")),
                    Contains("the size of a TensorDesc, found -1"));
  CHECK_THROWS_WITH(value_of(changed(48, "\xff\xff\xff\x7f")),
                    Contains("bytes of a TensorDesc, found the end"));
  CHECK_THROWS_WITH(value_of(changed(53, "\x09")), Contains("expected a TensorDesc of 'v'"));
  CHECK_THROWS_WITH(value_of(changed(53, "\x04")), Contains("found float16"));
  CHECK_THROWS_WITH(value_of(changed(55, "\x7f")), Contains("found the shape [127, 2] of float32"));
}

TEST_CASE("stream: dimensions whose product overflows are refused before memory is asked for") {
  std::string desc("\x08\x05", 2);
  for (int d = 0; d < 4; ++d) desc += std::string("\x10\xff\xff\xff\x7f", 5);  // 2^28 - 1
  std::string bytes(16, '\0');
  bytes += std::string{static_cast<char>(desc.size()), 0, 0, 0} + desc + "data";
  CHECK_THROWS_WITH(value_of(bytes), Contains("expected at most 4 bytes of the value of 'v'"));
  std::string empty("\x08\x05\x10\0", 4);
  empty += desc.substr(2);
  std::string none(16, '\0');
  none += std::string{static_cast<char>(empty.size()), 0, 0, 0} + empty;
  CHECK_THROWS_WITH(value_of(none), Contains("expected strides below 2^62 in the value of 'v'"));
  std::string small(16, '\0');
  small += std::string{8, 0, 0, 0} + std::string("\x08\x05\x10\0\x10\x03\x10\x04", 8);
  CHECK(value_of(small).shape() == lamina::tensor_shape{0, 3, 4});
}
