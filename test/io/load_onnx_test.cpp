// SPDX-License-Identifier: Apache-2.0
// load_onnx: programs come back from their ONNX files with equal results; damaged files are errors.
// The models of other libraries are in test/interop.
#include <string>
#include <vector>

#include "io/onnx/model_bytes.hpp"
#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>
#include <executor/shared_executor.hpp>

#include <lamina/io/export_onnx.hpp>
#include <lamina/io/load_onnx.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/model.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::block;
using model_bytes::maker;

namespace {

constexpr auto images = lamina::program([](block& main) {
  auto image = layer::data<"image", float, 2, 9, 9>(main);
  auto conv =
      layer::conv2d<4, 3, lamina::window{.padding = 1}>(image, {.act = lamina::activation::relu});
  auto norm = layer::batch_norm(conv);
  auto pooled =
      layer::pool2d<2, lamina::window{.stride = 2}>(norm, {.type = lamina::pooling_type::average});
  return layer::softmax(layer::fc<5>(pooled));
});
constexpr auto rows = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto y = layer::data<"y", float, 6>(main);
  auto h = layer::layer_norm(layer::fc<6>(x, {.act = lamina::activation::tanh}) + y);
  return layer::concat<1>(
      std::tuple{layer::gelu(h), layer::reduce_mean<1>(h * y, layer::keep_dim)});
});

lamina::tensor counted(const lamina::tensor_shape& shape) {
  std::vector<float> numbers;
  for (std::size_t i = 0; i < lamina::size_of(shape); ++i)
    numbers.push_back(0.125F * static_cast<float>(i * 7 % 19) - 1);
  return lamina::tensor(shape, numbers);
}

/// Compares a program with what its ONNX file gives, for two numbers of rows.
template <class P>
void require_round_trip(P program,
                        const std::vector<std::pair<std::string, lamina::tensor_shape>>& inputs) {
  lamina::executor executor;
  lamina::scope variables;
  executor.run_startup(program.view(), variables, 7);
  const std::string bytes = lamina::to_onnx(program.view(), variables);
  const lamina::inference_model m = lamina::from_onnx(bytes, "net.onnx");
  CHECK(m.program.feed_names().size() == inputs.size());
  for (const std::size_t batch : {1U, 3U}) {
    lamina::feed_map feed;
    for (const auto& [name, shape] : inputs) {
      lamina::tensor_shape whole{batch};
      whole.insert(whole.end(), shape.begin(), shape.end());
      feed[name] = counted(whole);
    }
    const std::vector<lamina::lod_tensor> expected =
        executor.run(lamina::transform::clone_for_test(program).view(), variables, feed);
    const std::vector<lamina::lod_tensor> found = executor.run(m.program, *m.variables, feed);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      REQUIRE(found[i].shape() == expected[i].shape());
      for (std::size_t k = 0; k < found[i].size(); ++k)
        CHECK(found[i].as<float>().flat(k) == Approx(expected[i].as<float>().flat(k)).margin(1e-6));
    }
  }
}

std::string failure(const std::string& bytes, const lamina::onnx_load_options& options = {}) {
  try {
    (void)lamina::from_onnx(bytes, "net.onnx", options);
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "loaded";
}

}  // namespace

TEST_CASE("load_onnx: programs come back with equal results") {
  require_round_trip(images, {{"image", {2, 9, 9}}});
  require_round_trip(rows, {{"x", {6}}, {"y", {6}}});
}

TEST_CASE("load_onnx: reads a file, and keeps the names of inputs, outputs and parameters") {
  const temporary_folder folder;
  const lamina::model model{rows, 3};
  const std::string file = folder.path() + "/net.onnx";
  lamina::export_onnx(file, model);
  const lamina::inference_model m = lamina::load_onnx(file);
  CHECK(m.program.feed_names() == std::vector<std::string>{"x", "y"});
  CHECK(m.variables->find("fc_0.w_0") != nullptr);
  CHECK_THROWS_WITH(lamina::load_onnx(folder.path() + "/absent.onnx"), Contains("absent.onnx"));
}

TEST_CASE("load_onnx: arithmetic on constants and shapes leaves no operators") {
  const lamina::tensor index({1}, std::vector<std::int64_t>{0});
  const lamina::tensor axes({1}, std::vector<std::int64_t>{-1});
  maker m;
  m.graph.initializers.emplace_back("zero", &index);
  m.graph.initializers.emplace_back("rest", &axes);
  // y = reshape(x, [rows of x, -1]), as exporters write it.
  m.node("Shape", {"x"}, {"s"}).node("Gather", {"s", "zero"}, {"n"});
  m.node("Concat", {"n", "rest"}, {"shape"}, {{"axis", 0}}).node("Reshape", {"x", "shape"}, {"y"});
  const lamina::inference_model read = lamina::from_onnx(m.bytes(), "net.onnx");
  int operators = 0;
  for (const lamina::operator_message& op : read.program.message().blocks[0].operators)
    operators += op.type != "feed" && op.type != "fetch" ? 1 : 0;
  CHECK(operators == 1);
  lamina::executor executor;
  for (const std::size_t n : {1U, 4U})
    CHECK(executor.run(read.program, *read.variables, {{"x", counted({n, 3})}})[0].shape() ==
          lamina::tensor_shape{n, 3});
}

TEST_CASE("load_onnx: an input with a fixed value is a constant") {
  maker m;
  m.graph.inputs.push_back(model_bytes::value("shape", {2}, lamina::dtype::int64));
  m.node("Reshape", {"x", "shape"}, {"y"});
  CHECK_THAT(failure(m.bytes()), Contains("input 1, 'shape', which is computed or fed"));
  lamina::onnx_load_options options;
  options.fixed["shape"] = lamina::tensor({2}, std::vector<std::int64_t>{3, -1});
  const lamina::inference_model read = lamina::from_onnx(m.bytes(), "net.onnx", options);
  CHECK(read.program.feed_names() == std::vector<std::string>{"x"});
  lamina::executor executor;
  CHECK(executor.run(read.program, *read.variables, {{"x", counted({2, 3})}})[0].shape() ==
        lamina::tensor_shape{3, 2});
  options.fixed["absent"] = options.fixed["shape"];
  CHECK_THAT(failure(m.bytes(), options), Contains("found 'absent'"));
}

TEST_CASE("load_onnx: constants that would be too large are errors") {
  const lamina::tensor dims({2}, std::vector<std::int64_t>{1 << 20, 1 << 20});
  maker m;
  m.graph.initializers.emplace_back("dims", &dims);
  m.node("ConstantOfShape", {"dims"}, {"large"}).node("Add", {"x", "large"}, {"y"});
  CHECK_THAT(failure(m.bytes()), Contains("expected constants of at most"));
}

TEST_CASE(
    "load_onnx: a file that is cut or has another bit is refused or still a program [damage]") {
  lamina::scope variables;
  lamina::executor executor;
  executor.run_startup(rows.view(), variables, 7);
  const std::string whole = lamina::to_onnx(rows.view(), variables);
  for (std::size_t n = 0; n < whole.size(); n += whole.size() / 100 + 1)
    CHECK(failure(whole.substr(0, n)) != "loaded");
  for (std::size_t i = 0; i < whole.size(); i += 5) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    (void)failure(damaged);  // no other exception, no fault of memory
  }
}
