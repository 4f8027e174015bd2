// SPDX-License-Identifier: Apache-2.0
// ONNX files become C++ that computes what the executor computes of the file; what cannot be
// imported changes no file.
#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <codegen/imported/onnx_blocks.imported>
#include <codegen/imported/onnx_fixed.imported>
#include <codegen/imported/onnx_image.imported>
#include <codegen/onnx_models.hpp>
#include <executor/shared_executor.hpp>
#include <io/temporary_folder.hpp>

#include <lamina/codegen/import_onnx.hpp>
#include <lamina/io/safetensors.hpp>
#include <lamina/model/any_model.hpp>
#include <lamina/model/model.hpp>

using Catch::Contains;

namespace {

std::vector<float> counted(std::size_t n) {
  std::vector<float> numbers;
  for (std::size_t i = 0; i < n; ++i)
    numbers.push_back(0.125F * static_cast<float>(i * 7 % 19) - 1);
  return numbers;
}

/// Imports a model and compares the header with the one in imported/, which is `net`. Returns the
/// model with the imported parameters.
template <class Net>
lamina::any_model imported(const Net& net, const std::string& name, const std::string& bytes,
                           const temporary_folder& folder) {
  const std::string at = folder.path() + "/" + name;
  lamina::write_file(at + ".onnx", bytes);
  lamina::onnx_import_options options;
  options.name = name;
  lamina::import_onnx(at + ".onnx", at + ".hpp", options);
  const std::string text = lamina::read_file(at + ".hpp"),
                    wanted = lamina::read_file(std::string(LAMINA_TEST_DIR) + "/codegen/imported/" +
                                               name + ".imported");
  CHECK(text.substr(text.find('\n')) == wanted.substr(wanted.find('\n')));
  lamina::model made{net};
  lamina::load_safetensors(at + ".safetensors", made);
  return made;
}

/// Compares the outputs of the imported program with those of the executor for the same file.
void compare(const lamina::any_model& model, const std::string& bytes,
             const lamina::tensor_shape& shape) {
  const lamina::inference_model m = lamina::from_onnx(bytes, "net.onnx");
  const std::string input = m.program.feed_names().at(0);
  const std::vector<float> values = counted(lamina::size_of(shape));
  lamina::feed_map feed;
  feed[input] = lamina::lod_tensor(lamina::tensor(shape, values));
  const auto wanted = lamina::executor().run(m.program, *m.variables, feed);
  lamina::any_evaluator e = model.evaluator();
  e.forward({{input, values}});
  const std::vector<std::string> names = m.program.fetch_names();
  REQUIRE(wanted.size() == names.size());
  for (std::size_t k = 0; k < names.size(); ++k) {
    const lamina::array<float> found = e.activation(names[k]);
    INFO(names[k]);
    REQUIRE(lamina::tensor_shape(found.shape().begin(), found.shape().end()) == wanted[k].shape());
    const auto numbers = wanted[k].cast<double>();
    for (std::size_t i = 0; i < found.size(); ++i)
      CHECK(static_cast<double>(found.flat(i)) == Approx(numbers.flat(i)).margin(1e-5));
  }
}

}  // namespace

TEST_CASE("import onnx: a symbolic batch is rows; products and biases are fc and conv2d") {
  const temporary_folder folder;
  const lamina::any_model model = imported(onnx_image, "onnx_image", onnx_models::image(), folder);
  for (const std::size_t batch : {1U, 3U}) compare(model, onnx_models::image(), {batch, 1, 6, 6});
}

TEST_CASE("import onnx: a fixed batch that no operator mixes is rows; blocks are one function") {
  const temporary_folder folder;
  const lamina::any_model model =
      imported(onnx_blocks, "onnx_blocks", onnx_models::blocks(), folder);
  compare(model, onnx_models::blocks(), {2, 4});
  lamina::any_evaluator e = model.evaluator();
  e.forward({{"x", counted(20)}});  // five samples
  CHECK(e.activation("y").shape() == std::vector<std::size_t>{5, 4});
}

TEST_CASE("import onnx: without a batch, inputs have no rows; integers are constants") {
  const temporary_folder folder;
  const lamina::any_model model = imported(onnx_fixed, "onnx_fixed", onnx_models::fixed(), folder);
  compare(model, onnx_models::fixed(), {3, 4});
  CHECK(model.inputs()[0].shape == std::vector<std::int64_t>{3, 4});
  CHECK(model.parameters().size() == 1);
  lamina::any_evaluator e = model.evaluator();
  CHECK_THROWS_WITH(e.forward({{"x", counted(24)}}), Contains("expected 12 values, found 24"));
}

TEST_CASE("import onnx: extents of symbolic dimensions; errors change no file") {
  const temporary_folder folder;
  const std::string at = folder.path() + "/m", header = at + ".hpp";
  onnx_models::model m(model_bytes::value("x", {-1, -1}), {model_bytes::value("y", {-1, -1})});
  m.graph.inputs[0].dims[0].name = "batch";
  m.graph.inputs[0].dims[1].name = "seq";
  m.node("Relu", {"x"}, {"y"});
  lamina::write_file(at + ".onnx", m.bytes());
  lamina::onnx_import_options options;
  CHECK_THROWS_WITH(lamina::import_onnx(at + ".onnx", header, options),
                    Contains("expected an extent of each symbolic dimension after the first one "
                             "of the inputs; give them, each with a number in place of N: "
                             "--dim seq=N"));
  options.load.dims = {{"sequence", 5}};
  CHECK_THROWS_WITH(lamina::import_onnx(at + ".onnx", header, options),
                    Contains("one of 'batch', 'seq', found 'sequence'"));
  options.load.dims = {{"seq", 0}};
  CHECK_THROWS_WITH(lamina::import_onnx(at + ".onnx", header, options),
                    Contains("expected a positive extent of dimension 'seq', found 0"));
  int files = 0;
  lamina::for_each_name(folder.path(), [&](std::string_view name) { files += name[0] != '.'; });
  CHECK(files == 1);
  options.load.dims = {{"seq", 5}};
  lamina::import_onnx(at + ".onnx", header, options);
  CHECK_THAT(lamina::read_file(header), Contains("layer::data<\"x\", float, 5>(main)"));
  options.load.batch = 7;
  lamina::import_onnx(at + ".onnx", header, options);
  CHECK_THAT(lamina::read_file(header), Contains("layer::data<\"x\", float, 5>(main)"));
}

TEST_CASE("import onnx: a batch that a reshape merges stays apart; lookups are embeddings") {
  const temporary_folder folder;
  const std::string at = folder.path() + "/m.onnx", header = folder.path() + "/m.hpp";
  lamina::onnx_value ids = model_bytes::value("ids", {-1, 3});
  ids.type = lamina::dtype::int64;
  onnx_models::model m(std::move(ids), {model_bytes::value("y", {-1, 3, 4})});
  m.weight("words.weight", {5, 4}).weight("w", {4, 4});
  m.initializer("flat", lamina::tensor({1}, std::vector<std::int64_t>{-1}));
  m.initializer("apart", lamina::tensor({3}, std::vector<std::int64_t>{-1, 3, 4}));
  m.initializer("merged", lamina::tensor({2}, std::vector<std::int64_t>{-1, 4}));
  m.node("Reshape", {"ids", "flat"}, {"all"}).node("Gather", {"words.weight", "all"}, {"found"});
  m.node("Reshape", {"found", "apart"}, {"words"}).node("Reshape", {"words", "merged"}, {"rows"});
  m.node("MatMul", {"rows", "w"}, {"products"}).node("Relu", {"products"}, {"curves"});
  m.node("Reshape", {"curves", "apart"}, {"y"});
  lamina::write_file(at, m.bytes());
  lamina::import_onnx(at, header);
  const std::string text = lamina::read_file(header);
  CHECK_THAT(text, Contains("layer::embedding<5, 4>(layer::reshape<3, 1>(ids)"));
  CHECK_THAT(text, Contains("layer::fc<4, 2>(words"));
  CHECK_THAT(text, Contains("{.act = lamina::activation::relu, .param = {.name = \"w\"}"));
  CHECK_THAT(text, !Contains("gather") && !Contains("layer::shape"));
}

TEST_CASE("import onnx: a number that depends on the batch is computed in each run") {
  const temporary_folder folder;
  const std::string at = folder.path() + "/m.onnx", header = folder.path() + "/m.hpp";
  onnx_models::model m(model_bytes::value("x", {-1, 3}), {model_bytes::value("y", {-1, 3})});
  m.initializer("first", lamina::tensor({1}, std::vector<std::int64_t>{0}));
  m.node("Shape", {"x"}, {"shape"}).node("Gather", {"shape", "first"}, {"batch"});
  m.node("Cast", {"batch"}, {"number"}, {{"to", std::int64_t{1}}});
  m.node("Div", {"x", "number"}, {"y"});
  lamina::write_file(at, m.bytes());
  lamina::import_onnx(at, header);
  CHECK_THAT(lamina::read_file(header), Contains("layer::shape(x)"));
}

TEST_CASE("import onnx: dimensions that an input determines are refused, and no file is written") {
  const temporary_folder folder;
  const std::string at = folder.path() + "/m.onnx", header = folder.path() + "/m.hpp";
  onnx_models::model m(model_bytes::value("x", {2, 3}), {model_bytes::value("y", {-1})});
  lamina::onnx_value shape = model_bytes::value("shape", {1});
  shape.type = lamina::dtype::int64;
  m.graph.inputs.push_back(std::move(shape));
  m.node("Reshape", {"x", "shape"}, {"y"});
  lamina::write_file(at, m.bytes());
  CHECK_THROWS_WITH(lamina::import_onnx(at, header),
                    Contains("expected dimensions of 'y' that are known before a run, found [-1] "
                             "(operator 'reshape2')"));
  lamina::onnx_import_options options;
  options.load.fixed = {{"shape", lamina::tensor({1}, std::vector<std::int64_t>{6})}};
  options.load.dims = {{"seq", 3}};
  CHECK_THROWS_WITH(lamina::import_onnx(at, header, options),
                    Contains("no input has a symbolic dimension, found 'seq'"));
  options.load.dims.clear();
  lamina::import_onnx(at, header, options);
  CHECK_THAT(lamina::read_file(header), Contains("layer::reshape<6>"));
}

TEST_CASE("import onnx: one number that is added to all columns is not the bias of an fc") {
  const temporary_folder folder;
  const std::string at = folder.path() + "/m.onnx", header = folder.path() + "/m.hpp";
  onnx_models::model m(model_bytes::value("x", {-1, 4}), {model_bytes::value("y", {-1, 3})});
  m.weight("w", {4, 3}).weight("b", {1});
  m.node("MatMul", {"x", "w"}, {"product"}).node("Add", {"product", "b"}, {"y"});
  lamina::write_file(at, m.bytes());
  lamina::onnx_import_options options;
  options.load.simplify = lamina::simplify_options::none();  // would write the sum as a scale
  lamina::import_onnx(at, header, options);
  CHECK_THAT(lamina::read_file(header), Contains("layer::fc<3>(x") && Contains(".bias = false") &&
                                            Contains("elementwise_add"));
}

TEST_CASE("import onnx: a factor per channel and a split keep the rows of a fixed batch") {
  const temporary_folder folder;
  const std::string at = folder.path() + "/m.onnx", header = folder.path() + "/m.hpp";
  onnx_models::model m(model_bytes::value("x", {1, 4, 3, 3}),
                       {model_bytes::value("y", {1, 4, 3, 3})});
  m.node("GlobalAveragePool", {"x"}, {"mean"}).node("Sigmoid", {"mean"}, {"gate"});
  m.node("Mul", {"gate", "x"}, {"gated"});
  m.node("Split", {"gated"}, {"a", "b"}, {{"axis", std::int64_t{1}}});
  m.node("Concat", {"b", "a"}, {"y"}, {{"axis", std::int64_t{1}}});
  lamina::write_file(at, m.bytes());
  lamina::import_onnx(at, header);
  CHECK_THAT(lamina::read_file(header), Contains("layer::data<\"x\", float, 4, 3, 3>(main)") &&
                                            Contains("layer::elementwise_mul<0>(x, "));
}

TEST_CASE("import onnx: images without rows are operands of recorded operators") {
  const temporary_folder folder;
  const std::string at = folder.path() + "/m.onnx", header = folder.path() + "/m.hpp";
  onnx_models::model m(model_bytes::value("x", {2, 4, 3, 3}), {model_bytes::value("y", {24})});
  m.weight("w", {3, 4, 1, 1});
  m.node("Conv", {"x", "w"}, {"conv"});
  m.node("MaxPool", {"conv"}, {"pool"}, {{"kernel_shape", std::vector<std::int64_t>{2, 2}}});
  m.initializer("shape", lamina::tensor({1}, std::vector<std::int64_t>{24}));
  m.node("Reshape", {"pool", "shape"}, {"y"});
  lamina::write_file(at, m.bytes());
  lamina::import_onnx(at, header);
  CHECK_THAT(lamina::read_file(header),
             Contains("layer::data_once<\"x\", float, 2, 4, 3, 3>(main)") &&
                 Contains("layer::record<lamina::operators::conv2d>(") &&
                 Contains("layer::record<lamina::operators::pool2d>("));
}
