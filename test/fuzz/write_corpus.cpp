// SPDX-License-Identifier: Apache-2.0
// write_corpus FOLDER - writes the small files that fuzzing begins with, each of a reader's kind.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include "executor/shared_executor.hpp"
#include <io/onnx/model_bytes.hpp>
#include <io/program_samples.hpp>

#include <lamina/dataset/archive_members.hpp>
#include <lamina/dataset/conll05.hpp>
#include <lamina/io/archive/recordio.hpp>
#include <lamina/io/export_onnx.hpp>
#include <lamina/io/inference_model.hpp>
#include <lamina/io/npz.hpp>
#include <lamina/io/parameter_tar.hpp>
#include <lamina/io/program_desc_json.hpp>
#include <lamina/io/safetensors.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/parameters/tensor_file.hpp>
#include <lamina/optimizer/minimize.hpp>

namespace {

using lamina::tensor;
namespace layer = lamina::layer;

constexpr auto line = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::fc<1>(x, {.name = "line"});
});
constexpr auto trained = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  lamina::optimizer::sgd{}.minimize(layer::mean(layer::square(layer::fc<1>(x))));
});

std::string to;

void write(const std::string& reader, const std::string& name, const std::string& bytes) {
  lamina::make_directories(to + "/" + reader);
  lamina::write_file(to + "/" + reader + "/" + name, bytes);
}
std::string stream_of(const lamina::lod_tensor& value) {
  const std::string path = to + "/value";
  lamina::binary_writer file(path);
  lamina::write_lod_tensor(file, value);
  file.finish();
  std::string bytes = lamina::read_file(path);
  lamina::remove_file(path);
  return bytes;
}

template <class P>
void write_program(const std::string& name, P program) {
  write("json", name, lamina::to_json(program).dump());
  write("proto", name, lamina::to_proto(program));
}
void write_programs() {
  write_program("line", line);
  write_program("trained", trained);
  write_program("perceptron", samples::perceptron);
  write_program("loop", samples::loop);
  write_program("sentence", samples::sentence);
  write("json", "beyond_double", "{\"version\": 1e410}");
}

/// The ONNX file of a program with its first parameters.
template <class P>
void write_model(const std::string& name, P program) {
  lamina::scope variables;
  lamina::executor().run_startup(program.view(), variables, 1);
  write("onnx", name, lamina::to_onnx(program.view(), variables));
}
void write_models() {
  write_model("line", line);
  write_model("perceptron", samples::perceptron);
  write_model("sentence", samples::sentence);
  // Arithmetic on shapes, as exporters write it, and the branch of a known condition.
  const tensor yes = tensor::filled<bool>({}, true), first({1}, std::vector<std::int64_t>{0}),
               rest({1}, std::vector<std::int64_t>{-1});
  model_bytes::maker m;
  m.graph.initializers = {{"yes", &yes}, {"first", &first}, {"rest", &rest}};
  lamina::onnx_graph branch;
  branch.nodes.push_back(lamina::onnx_node("Softmax", {"x"}, {"inner"}, {{"axis", 1}}));
  branch.outputs.push_back(model_bytes::value("inner", {-1, 3}));
  m.node("If", {"yes"}, {"h"}, {{"then_branch", branch}, {"else_branch", branch}});
  m.node("Shape", {"h"}, {"s"}).node("Gather", {"s", "first"}, {"n"});
  m.node("Concat", {"n", "rest"}, {"shape"}, {{"axis", 0}}).node("Reshape", {"h", "shape"}, {"y"});
  write("onnx", "shapes", m.bytes());
}

void write_parameters() {
  const tensor floats({2, 3}, std::vector<float>{1, -2, 3, 0.5f, 0, 9});
  write("parameters", "floats", stream_of(floats));
  write("parameters", "sequences",
        stream_of(lamina::create_lod_tensor(tensor({3, 1}, std::vector<std::int64_t>{1, 2, 3}),
                                            {{2, 1}})));
  write("parameters", "truths", stream_of(tensor::filled<bool>({4}, true)));
  write("parameters", "empty", stream_of(tensor::zeros(lamina::dtype::float64, {0, 7})));
  std::vector<lamina::tensor_entry> entries;
  entries.push_back(lamina::tensor_entry::number("step", 7));
  entries.push_back({"w", lamina::dtype::float32, {1, 2}, lamina::raw_bytes("12345678")});
  const std::string path = to + "/entries";
  lamina::write_tensor_file(path, entries);
  write("parameters", "entries", lamina::read_file(path));
  lamina::remove_file(path);
}

/// The bytes that save(path) writes.
template <class Save>
std::string file_of(Save save) {
  const std::string path = to + "/file";
  save(path);
  std::string bytes = lamina::read_file(path);
  lamina::remove_file(path);
  return bytes;
}
#if LAMINA_HAS_ZLIB
/// An archive with one deflated member, which lamina itself does not write.
std::string deflated_npz(const tensor& value) {
  std::string plain = lamina::npy_header_of(value);
  plain.append(static_cast<const char*>(value.data()), 4 * value.size());
  uLongf size = compressBound(plain.size());
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size,
           reinterpret_cast<const Bytef*>(plain.data()), plain.size());
  packed = packed.substr(2, size - 6);  // without what zlib puts around
  std::string bytes = file_of([&](const std::string& path) {
    lamina::binary_writer file(path);
    lamina::zip_writer archive(file);
    archive.add("w.npy", packed, nullptr, 0);
    archive.finish();
    file.finish();
  });
  const std::uint32_t crc = lamina::crc32_of(plain.data(), plain.size());
  const std::uint32_t length = static_cast<std::uint32_t>(plain.size());
  for (const std::size_t method : {std::size_t{8}, bytes.find("PK\1\2") + 10}) {
    bytes[method] = 8;
    std::memcpy(&bytes[method + 6], &crc, 4);
    std::memcpy(&bytes[method + 14], &length, 4);
  }
  return bytes;
}
#endif

void write_named_tensors() {
  lamina::named_tensors values{{"w", tensor({2, 3}, std::vector<float>{1, -2, 3, 0.5f, 0, 9})},
                               {"b", tensor({1}, std::vector<float>{4})}};
  write("tar", "two", file_of([&](const std::string& path) { lamina::to_tar(path, values); }));
  values.emplace("layer.n", tensor({2}, std::vector<std::int64_t>{5, -6}));
  values.emplace("truth", tensor::filled<bool>({3}, true));
  values.emplace("scalar", tensor(lamina::tensor_shape{}, std::vector<double>{2.5}));
  values.emplace("none", tensor::zeros(lamina::dtype::int8, {2, 0}));
  write("npz", "six", file_of([&](const std::string& path) { lamina::save_npz(path, values); }));
#if LAMINA_HAS_ZLIB
  write("npz", "deflated", deflated_npz(values.at("w")));
#endif
  write("npz", "zip64", file_of([&](const std::string& path) {
          lamina::binary_writer file(path);
          lamina::zip_writer archive(file, 1);
          const tensor& w = values.at("w");
          archive.add("w.npy", lamina::npy_header_of(w), w.data(), 4 * w.size());
          archive.finish();
          file.finish();
        }));
  write("safetensors", "six",
        file_of([&](const std::string& path) { lamina::save_safetensors(path, values); }));
  std::string header = R"({"w":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]},)"
                       R"("b":{"dtype":"BF16","shape":[3],"data_offsets":[12,18]},)"
                       R"("q":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[18,20]},)"
                       R"("u":{"dtype":"U64","shape":[1],"data_offsets":[20,28]}} )";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string widened(8, '\0');
  widened[0] = static_cast<char>(header.size());
  widened += header;
  for (char element = 0; element < 20; ++element) widened += element;
  write("safetensors", "widened", widened + '\5' + std::string(7, '\0'));
  write("safetensors", "index",
        R"({"metadata":{"total_size":4},"weight_map":{"w":"a.safetensors"}})");
  for (const auto& [name, value] : values)
    write("npy", name, file_of([&](const std::string& path) { lamina::save_npy(path, value); }));
  std::string turned = lamina::read_file(to + "/npy/w");
  turned.replace(turned.find("False"), 5, "True ");
  write("npy", "columns_first", turned);
}

void write_inference_model() {
  lamina::executor executor;
  lamina::scope variables;
  executor.run_startup(line.view(), variables, 1);
  const std::string folder = to + "/model";
  save_inference_model(folder, line.view(), variables, {"line.tmp_1"}, {"__model__", "all"});
  const std::string program = lamina::read_file(folder + "/__model__");
  std::string all;
  for (int i = 0; i < 4; ++i) all += static_cast<char>(program.size() >> (8 * i));
  write("inference_model", "line", all + program + lamina::read_file(folder + "/all"));
  for (const char* name : {"/__model__", "/all", ""}) lamina::remove_file(folder + name);
}

/// The archives of the tests of data sets (test/dataset/make_archives.py), without compression.
void write_data_sets() {
  const std::string from = LAMINA_TEST_DIR "/dataset/archives/";
  const auto unpacked = [&](const std::string& name) {
    lamina::binary_reader file(from + name, lamina::detail::unpack_gzip);
    std::string bytes = file.bytes(file.left(), "an archive");
    return bytes.substr(0, bytes.find_last_not_of('\0') + 1);
  };
  write("imikolov", "python", unpacked("simple-examples.tgz"));
  write("imdb", "python", unpacked("aclImdb_v1.tar.gz"));
  write("movielens", "python", lamina::read_file(from + "ml-1m.zip"));
  write("wmt14", "python", unpacked("wmt14.tgz"));
  write("wmt16", "python", unpacked("wmt16.tar.gz"));

  write("cifar", "python", unpacked("cifar-10-python.tar.gz"));
  lamina::binary_reader batches(from + "cifar-10-python.tar.gz", lamina::detail::unpack_gzip);
  const auto found = lamina::dataset::read_tar_members(
      batches, [](std::string_view name) { return name.find("_batch") != name.npos; });
  for (const auto& m : found.all) write("cifar", m.name.substr(m.name.rfind('/') + 1), m.bytes);
  write("flowers", "labels", lamina::read_file(from + "imagelabels.mat"));
  write("flowers", "sets", lamina::read_file(from + "setid.mat"));
  write("mq2007", "python", lamina::read_file(from + "Fold1/test.txt"));
  write("sentiment", "python", lamina::read_file(from + "movie_reviews.zip"));
  const std::string voc = lamina::read_file(from + "VOCtrainval_11-May-2012.tar");
  write("voc2012", "python", voc.substr(0, voc.find_last_not_of('\0') + 1));
  write("recordio", "three", file_of([](const std::string& path) {
          lamina::binary_writer file(path);
          lamina::recordio_writer records(file, {.records = 2});
          for (const char* record : {"one", "", "three"}) records.write(record);
          records.finish();
          file.finish();
        }));

  // The texts without compression and the dictionaries in one archive.
  const auto packed = lamina::dataset::read_tar_members(from + "conll05st-tests.tar.gz",
                                                        [](std::string_view) { return true; });
  write("conll05", "texts", file_of([&](const std::string& path) {
          lamina::binary_writer file(path);
          lamina::tar_writer archive(file);
          const auto add = [&](const std::string& name, const std::string& bytes) {
            archive.begin_member(name, bytes.size());
            file.write(bytes);
            archive.end_member();
          };
          for (const std::string_view name : {lamina::dataset::conll05::source::words_name,
                                              lamina::dataset::conll05::source::props_name})
            add(std::string(name), unpack_member(packed.at(name)).bytes);
          for (const char* name : {"wordDict.txt", "verbDict.txt", "targetDict.txt"})
            add(name, lamina::read_file(from + name));
          file.finish();
        }));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: write_corpus FOLDER\n", stderr);
    return 2;
  }
  try {
    to = argv[1];
    write_programs();
    write_models();
    write_parameters();
    write_named_tensors();
    write_inference_model();
    write_data_sets();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "write_corpus: %s\n", e.what());
    return 1;
  }
  return 0;
}
