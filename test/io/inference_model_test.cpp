// SPDX-License-Identifier: Apache-2.0
// Directories with a program and its parameters: written, read, damaged.
#include "program_samples.hpp"
#include "temporary_folder.hpp"
#include <catch2/catch.hpp>
#include <executor/shared_executor.hpp>

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

struct trained {
  trained() {
    executor.run_startup(samples::perceptron.view(), variables, 4);
    std::vector<float> x;
    for (int i = 0; i < 12; ++i) x.push_back(0.3f * static_cast<float>(i % 5) - 0.5f);
    feed["x"] = tensor({3, 4}, x);
    feed["y"] = tensor({3, 1}, std::vector<std::int64_t>{0, 2, 1});
  }
  lamina::executor executor;
  lamina::scope variables;
  lamina::feed_map feed;
};

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

TEST_CASE("inference model: the targets' part, in separate files and in one, gives the same bits") {
  trained t;
  const auto expected =
      t.executor.run(lamina::transform::clone_for_test(samples::perceptron).view(), t.variables,
                     t.feed, {"p.tmp_0"});
  for (const lamina::inference_files& files :
       {lamina::inference_files{}, lamina::inference_files{"model.bin", "all"}}) {
    const temporary_folder folder;
    save_inference_model(folder.path(), samples::perceptron.view(), t.variables, {"p.tmp_0"},
                         files);
    const lamina::inference_model m = lamina::load_inference_model(folder.path(), files);
    CHECK(m.program.feed_names() == std::vector<std::string>{"x"});
    CHECK(m.program.fetch_names() == std::vector<std::string>{"p.tmp_0"});
    CHECK(m.variables->names() ==
          std::vector<std::string>{"fc_0.b_0", "fc_0.w_0", "logits.b_0", "logits.w_0"});
    const auto found = t.executor.run(m.program, *m.variables, {{"x", t.feed.at("x")}});
    CHECK(values(found.at(0)) == values(expected.at(0)));
    for (const lamina::operator_message& op : m.program.message().blocks[0].operators)
      CHECK(
          (op.type != "accuracy" && op.type != "mean" && op.type != "softmax_with_cross_entropy"));
  }
}

TEST_CASE("inference model: a loop keeps its block") {
  const temporary_folder folder;
  lamina::executor executor;
  lamina::scope variables;
  executor.run_startup(samples::loop.view(), variables, 2);
  const lamina::program_view p = samples::loop.view();
  save_inference_model(folder.path(), p, variables, {lamina::variable_name(p, p.outputs[0])});
  const lamina::inference_model m = lamina::load_inference_model(folder.path());
  CHECK(m.program.message().blocks.size() == 2);
  const lamina::feed_map feed{{"x", counted<float>({2, 3})}};
  CHECK(values(executor.run(p, variables, feed).at(0)) ==
        values(executor.run(m.program, *m.variables, feed).at(0)));
}

TEST_CASE("inference model: files that are cut, missing, too long or of other variables") {
  trained t;
  const temporary_folder folder;
  const lamina::inference_files one{"__model__", "all"};
  save_inference_model(folder.path(), samples::perceptron.view(), t.variables, {"p.tmp_0"}, one);
  for (const std::string& name : {one.program, one.parameters}) {
    const std::string path = folder.path() + "/" + name;
    const std::string whole = lamina::read_file(path);
    for (std::size_t n = 0; n < whole.size(); ++n) {
      lamina::write_file(path, whole.substr(0, n));
      bool refused = false;
      try {
        const auto m = lamina::load_inference_model(folder.path(), one);
        refused =
            name == one.program && m.program.message().version == 0;  // cut before the version
      } catch (const lamina::format_error& e) {
        refused = e.file() == path;
      }
      if (!refused) FAIL_CHECK(name << " cut after " << n << " bytes was read");
    }
    lamina::write_file(path, whole);
  }
  const std::string path = folder.path() + "/all";
  const std::string whole = lamina::read_file(path);
  lamina::write_file(path, whole + "x");
  CHECK_THROWS_WITH(lamina::load_inference_model(folder.path(), one),
                    Contains("found 1 more bytes"));
  CHECK_THROWS_WITH(lamina::load_inference_model(folder.path()),
                    Contains("/fc_0.b_0, offset 0: expected the value of variable 'fc_0.b_0', "
                             "found no file"));
  CHECK_THROWS_WITH(lamina::load_inference_model(folder.path() + "/none"),
                    Contains("/none/__model__: cannot be opened"));

  lamina::write_file(path, whole);
  lamina::scope other;
  other.var("fc_0.b_0") = t.variables.get("fc_0.b_0");
  other.var("fc_0.w_0") = counted<float>({4, 7});
  for (const char* name : {"logits.b_0", "logits.w_0"}) other.var(name) = t.variables.get(name);
  save_variables(folder.path(), other, other.names(), "all");
  CHECK_THROWS_WITH(
      lamina::load_inference_model(folder.path(), one),
      Contains("/all, offset 56: expected float32 [4, 8] for variable 'fc_0.w_0', found float32 "
               "[4, 7]"));

  save_inference_model(folder.path(), samples::perceptron.view(), t.variables, {"p.tmp_0"});
  other.var("fc_0.b_0") = counted<float>({2, 4});
  save_variables(folder.path(), other, {"fc_0.b_0"});
  CHECK_THROWS_WITH(lamina::load_inference_model(folder.path()),
                    Contains("expected float32 [8] for variable 'fc_0.b_0', found float32 [2, 4]"));
  other.var("fc_0.b_0") = counted<double>({8});
  save_variables(folder.path(), other, {"fc_0.b_0"});
  CHECK_THROWS_WITH(lamina::load_inference_model(folder.path()), Contains("found float64 [8]"));
  CHECK_THROWS_WITH(
      save_inference_model(folder.path(), samples::perceptron.view(), t.variables, {"q"}),
      Contains("expected targets that are variables of block 0, found 'q'"));
  other.var("../up") = counted<float>({1});
  CHECK_THROWS_WITH(save_variables(folder.path(), other, {"../up"}),
                    Contains("expected the name of a variable as a file, found '../up'"));
  CHECK_THROWS_WITH(save_variables(folder.path(), other, {"absent"}),
                    Contains("expected a value for variable 'absent'"));
}

TEST_CASE("a file that is not finished leaves the old one whole") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/value";
  lamina::write_file(path, "old");
  {
    lamina::binary_writer to(path);
    to.write("half of the new");
  }
  CHECK(lamina::read_file(path) == "old");
  lamina::binary_writer to(path);
  to.write("new");
  CHECK(lamina::read_file(path) == "old");
  to.finish();
  CHECK(lamina::read_file(path) == "new");
  int left = 0;
  lamina::for_each_name(folder.path(), [&](std::string_view name) { left += name[0] != '.'; });
  CHECK(left == 1);
  CHECK_THROWS_WITH(lamina::binary_writer(folder.path() + "/no/where"),
                    Contains("cannot be written"));
}
