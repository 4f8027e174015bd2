// SPDX-License-Identifier: Apache-2.0
// Writes a file in each format, prints its MD5 sum, reads it and prints its numbers.
// test/platforms/run.py compares the text with that of this machine. So both write the same bytes,
// in the byte order of the format, and each reads the files that the other writes. All computations
// are exact, because the sums of files cover the last bit.
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include <lamina/core/files/md5.hpp>
#include <lamina/io/arrays/variable_files.hpp>
#include <lamina/io/export_onnx.hpp>
#include <lamina/io/npz.hpp>
#include <lamina/io/onnx/onnx_reader.hpp>
#include <lamina/io/onnx/onnx_tensor_reader.hpp>
#include <lamina/io/parameter_tar.hpp>
#include <lamina/io/safetensors.hpp>
#include <lamina/lamina.hpp>
#include <lamina/model/feeding/sample_files.hpp>

namespace {

namespace layer = lamina::layer;
namespace reader = lamina::reader;
using lamina::named_tensors;
using lamina::tensor;

constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::fc<3>(layer::data<"x", float, 4>(main), {.name = "y"});
});
constexpr auto wide_net = lamina::program([](lamina::block& main) {
  return layer::fc<1>(layer::data<"x", double, 2>(main), {.name = "z"});
});

constexpr auto line = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto y = layer::data<"y", float, 1>(main);
  auto sum = layer::fc<1>(x, {.param = {.initializer = lamina::init::constant(0)}, .name = "l"});
  return layer::mean(layer::square_error_cost(sum, y));
});

void show_file(const std::string& path) {
  std::printf("%s: MD5 '%s'\n", path.c_str(), lamina::md5file(path).c_str());
}
void show(const std::string& name, const tensor& value) {
  std::printf("  %s %s:", name.c_str(), name_of(value.type()));
  value.visit([](const auto& all) {
    for (std::size_t i = 0; i < all.size(); ++i)
      std::printf(" %.9g", static_cast<double>(all.flat(i)));
  });
  std::printf("\n");
}
void show(const named_tensors& all) {
  for (const auto& [name, value] : all) show(name, value);
}

template <class T>
tensor numbers(const lamina::tensor_shape& shape) {
  std::vector<T> all(lamina::size_of(shape));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<T>(static_cast<T>(100) / static_cast<T>(i + 3));
  return tensor(shape, all);
}
named_tensors one_of_each_type() {
  return {{"f4", numbers<float>({2, 3})},        {"f8", numbers<double>({3})},
          {"i8", numbers<std::int64_t>({2})},    {"i4", numbers<std::int32_t>({2, 1})},
          {"i2", numbers<std::int16_t>({3})},    {"i1", numbers<std::int8_t>({5})},
          {"u1", numbers<std::uint8_t>({1, 5})}, {"b", tensor::filled<bool>({3}, true)}};
}

void arrays() {
  const named_tensors all = one_of_each_type();
  lamina::save_safetensors("all.safetensors", all);
  show_file("all.safetensors");
  show(lamina::load_safetensors("all.safetensors"));
  lamina::save_npz("all.npz", all);
  show_file("all.npz");
  show(lamina::load_npz("all.npz"));
  lamina::save_npy("one.npy", all.at("f8"));
  show_file("one.npy");
  show("one", lamina::load_npy("one.npy"));
  const named_tensors reals{{"f4", all.at("f4")}, {"f8", all.at("f8")}};
  lamina::to_tar("reals.tar", reals);
  show_file("reals.tar");
  show(lamina::from_tar("reals.tar"));

  lamina::scope variables;
  variables.var("sequences") = lamina::create_lod_tensor(numbers<float>({5, 1}), {{2}, {3, 2}});
  variables.var("i8") = all.at("i8");
  save_variables(".", variables, {"sequences", "i8"}, "variables");
  show_file("variables");
  lamina::scope read;
  load_variables(".", read, {"sequences", "i8"}, "variables");
  show("sequences", read.get("sequences"));
  for (const std::size_t offset : read.get("sequences").lod().last()) std::printf(" %zu", offset);
  show("i8", read.get("i8"));
}

/// Types that are widened when they are read: the bytes are those that the library of safetensors
/// writes.
void small_numbers() {
  const std::string header = R"({"half":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},)"
                             R"("brain":{"dtype":"BF16","shape":[2],"data_offsets":[4,8]},)"
                             R"("short":{"dtype":"U16","shape":[2],"data_offsets":[8,12]},)"
                             R"("word":{"dtype":"U32","shape":[1],"data_offsets":[12,16]},)"
                             R"("long":{"dtype":"U64","shape":[1],"data_offsets":[16,24]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size() & 255);
  bytes[1] = static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes += std::string("\x00\x3e\x00\xc1\xc0\x3f\x20\xc0\x02\x01\xff\xff", 12);
  bytes += std::string("\x04\x03\x02\x81\x08\x07\x06\x05\x04\x03\x02\x01", 12);
  show(lamina::load_safetensors(std::as_bytes(std::span(bytes))));
}

template <class Real, class Net>
void model(const Net& program, const std::string& name) {
  lamina::model model{program}, loaded{program, 2}, converted{program, 3};
  named_tensors values = tensors_of(model);
  for (auto& [parameter, value] : values) value = numbers<Real>(value.shape());
  lamina::save_npz(name + ".npz", values);
  lamina::load_npz(name + ".npz", model);
  model.save(name + ".model");
  show_file(name + ".model");
  loaded.load(name + ".model");
  show(tensors_of(loaded));
  lamina::save_safetensors(name + ".safetensors", model);
  lamina::load_safetensors(name + ".safetensors", converted);
  show(tensors_of(converted));
  lamina::export_onnx(name + ".onnx", model);
  show_file(name + ".onnx");
  // load_onnx would compile the kernels of all operators.
  const std::string bytes = lamina::read_file(name + ".onnx");
  const lamina::detail::onnx_tensor_reader elements(name + ".onnx");
  const auto onnx = lamina::read_onnx_model(bytes, name + ".onnx");
  for (const auto& t : onnx.graph.initializers) show(t.name, elements.read(t));
}

struct sample {
  std::vector<float> x;
  float y;
};

/// Stops in the middle of a pass and goes on from the checkpoint, which has sums of the samples.
void checkpoints() {
  std::vector<sample> samples;
  for (int i = 0; i < 8; ++i)
    samples.push_back(
        {{static_cast<float>(i % 3), static_cast<float>(i % 2)}, static_cast<float>(i % 5)});
  lamina::write_samples(samples, "samples.recordio");
  show_file("samples.recordio");
  const auto source = lamina::read_samples<sample>("samples.recordio");
  const lamina::optimizer::momentum rule{.learning_rate = 0.125F, .momentum = 0.5F};
  lamina::train_options options;
  options.passes = 1;
  options.checkpoint.directory = "checkpoints";
  options.checkpoint.resume = true;
  options.checkpoint.every_batches = 1;
  options.on_event = [](const lamina::event& e) {
    if (e.is_end_iteration() && e.batch == 1) e.stop();
  };
  lamina::model first{line}, second{line};
  rule.train(first, source | reader::batch(2), options);
  show_file("checkpoints/checkpoint_2");
  options.on_event = {};
  const auto done = rule.train(second, source | reader::batch(2), options);
  std::printf("%lld steps\n", static_cast<long long>(done.steps));
  show_file("checkpoints/checkpoint_4");
  show(tensors_of(second));
}

}  // namespace

int main() try {
  arrays();
  small_numbers();
  model<float>(net, "net");
  model<double>(wide_net, "wide");
  checkpoints();
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
