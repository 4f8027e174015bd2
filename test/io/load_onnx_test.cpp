// SPDX-License-Identifier: Apache-2.0
// load_onnx: programs come back from their ONNX files with equal results; damaged files are errors.
// The models of other libraries are in test/interop.
#include <algorithm>
#include <limits>
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

namespace {

/// Compares y of a model, whose input x has only unknown dimensions, for two shapes of x. The
/// expected y is the function of x.
template <class F>
void require_for_any_shape(const maker& m, F expected,
                           const std::vector<lamina::tensor_shape>& shapes) {
  const lamina::inference_model read = lamina::from_onnx(m.bytes(), "net.onnx");
  lamina::executor executor;
  for (const lamina::tensor_shape& shape : shapes) {
    const lamina::tensor x = counted(shape);
    const lamina::tensor wanted = expected(x);
    const lamina::lod_tensor found = executor.run(read.program, *read.variables, {{"x", x}})[0];
    REQUIRE(found.shape() == wanted.shape());
    for (std::size_t k = 0; k < found.size(); ++k)
      CHECK(found.as<float>().flat(k) == Approx(wanted.as<float>().flat(k)));
  }
}
maker of_unknown(const std::vector<std::int64_t>& dims) {
  maker m;
  m.graph.inputs[0] = model_bytes::value("x", dims);
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d] < 0) m.graph.inputs[0].dims[d].name = d == 0 ? "rows" : "columns";
  return m;
}

}  // namespace

TEST_CASE("load_onnx: a Reshape to dimensions that only a run knows") {
  // y = x in the shape of its transpose.
  maker m = of_unknown({-1, -1});
  m.node("Transpose", {"x"}, {"t"}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  m.node("Shape", {"t"}, {"s"}).node("Reshape", {"x", "s"}, {"y"});
  require_for_any_shape(m,
                        [](const lamina::tensor& x) {
                          return lamina::onnx_import::with_shape(x, {x.shape()[1], x.shape()[0]});
                        },
                        {{2, 3}, {4, 1}, {1, 5}});
}

TEST_CASE("load_onnx: values of a shape that only a run knows") {
  // y = x + ones of the shape of x, of which the first row is left out.
  const lamina::tensor one({1}, std::vector<std::int64_t>{1}),
      most({1}, std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max()});
  const lamina::tensor value({1}, std::vector<float>{1});
  maker m = of_unknown({-1, -1});
  m.graph.initializers.emplace_back("one", &one);
  m.graph.initializers.emplace_back("most", &most);
  m.graph.initializers.emplace_back("value", &value);
  m.node("Shape", {"x"}, {"s"}).node("Expand", {"value", "s"}, {"ones"});
  m.node("Add", {"x", "ones"}, {"z"}).node("Slice", {"z", "one", "most"}, {"y"});
  require_for_any_shape(m,
                        [](const lamina::tensor& x) {
                          std::vector<float> y;
                          for (std::size_t k = x.shape()[1]; k < x.size(); ++k)
                            y.push_back(x.as<float>().flat(k) + 1);
                          return lamina::tensor({x.shape()[0] - 1, x.shape()[1]}, y);
                        },
                        {{2, 3}, {4, 1}});
}

TEST_CASE("load_onnx: a table is cut to a length of a run, and the last element taken") {
  const lamina::tensor table({1, 4}, std::vector<float>{1, 2, 3, 4}),
      zero({1}, std::vector<std::int64_t>{0}), one({1}, std::vector<std::int64_t>{1}),
      last = lamina::tensor::filled<std::int64_t>({}, -1);
  maker m = of_unknown({-1, -1});
  m.graph.initializers.emplace_back("table", &table);
  m.graph.initializers.emplace_back("zero", &zero);
  m.graph.initializers.emplace_back("one", &one);
  m.graph.initializers.emplace_back("last", &last);
  m.node("Shape", {"x"}, {"n"}, {{"start", 1}}).node("Slice", {"table", "zero", "n", "one"}, {"t"});
  m.node("Add", {"x", "t"}, {"z"}).node("Gather", {"z", "last"}, {"y"}, {{"axis", 1}});
  require_for_any_shape(
      m,
      [](const lamina::tensor& x) {
        std::vector<float> y;
        const std::size_t n = x.shape()[1];
        for (std::size_t i = 0; i < x.shape()[0]; ++i)
          y.push_back(x.as<float>().flat((i + 1) * n - 1) + static_cast<float>(n));
        return lamina::tensor({y.size()}, y);
      },
      {{2, 3}, {3, 4}, {1, 1}});
}

TEST_CASE("load_onnx: triangles and diagonals of matrices whose size only a run knows") {
  // y = x [n, n] below its diagonal, and from this (i, 0) for all i by GatherND.
  maker m = of_unknown({-1, -1});
  m.graph.inputs[0].dims[1].name = "rows";
  const lamina::tensor zero = lamina::tensor::filled<std::int64_t>({}, 0),
                       one = lamina::tensor::filled<std::int64_t>({}, 1),
                       axis({1}, std::vector<std::int64_t>{1}),
                       twice({2}, std::vector<std::int64_t>{1, 2});
  m.graph.initializers.emplace_back("zero", &zero);
  m.graph.initializers.emplace_back("one", &one);
  m.graph.initializers.emplace_back("axis", &axis);
  m.graph.initializers.emplace_back("twice", &twice);
  m.node("Trilu", {"x"}, {"low"}, {{"upper", 0}}).node("Shape", {"x"}, {"s"});
  m.node("Gather", {"s", "zero"}, {"n"}).node("Range", {"zero", "n", "one"}, {"i"});
  m.node("Unsqueeze", {"i", "axis"}, {"rows"}).node("Tile", {"rows", "twice"}, {"places"});
  m.node("GatherND", {"low", "places"}, {"diagonal"});
  m.node("MatMul", {"low", "diagonal"}, {"y"});
  require_for_any_shape(m,
                        [](const lamina::tensor& x) {
                          const std::size_t n = x.shape()[0];
                          std::vector<float> y(n, 0.F);
                          for (std::size_t i = 0; i < n; ++i)
                            for (std::size_t k = 0; k <= i; ++k)
                              y[i] += x.as<float>().flat(i * n + k) * x.as<float>().flat(k * n + k);
                          return lamina::tensor({n}, y);
                        },
                        {{2, 2}, {4, 4}, {1, 1}});
}

TEST_CASE("load_onnx: windows of images whose sides only a run knows") {
  // y = the largest of 2 x 2 windows, rounded up, of the sums of 2 x 2 windows.
  const lamina::tensor filter = lamina::tensor::filled<float>({1, 1, 2, 2}, 1);
  maker m = of_unknown({-1, 1, -1, -1});
  m.graph.inputs[0].dims[3].name = "width";
  m.graph.initializers.emplace_back("filter", &filter);
  const std::vector<std::int64_t> two{2, 2};
  m.node("Conv", {"x", "filter"}, {"sums"});
  m.node("MaxPool", {"sums"}, {"y"}, {{"kernel_shape", two}, {"strides", two}, {"ceil_mode", 1}});
  require_for_any_shape(m,
                        [](const lamina::tensor& x) {
                          const std::size_t n = x.shape()[0], h = x.shape()[2], w = x.shape()[3],
                                            down = h / 2,
                                            right = w / 2;  // of h - 1 and w - 1, rounded up
                          std::vector<float> y(n * down * right, -1e9F);
                          for (std::size_t k = 0; k < n; ++k)
                            for (std::size_t i = 0; i + 1 < h; ++i)
                              for (std::size_t j = 0; j + 1 < w; ++j) {
                                const auto at = [&](std::size_t r, std::size_t c) {
                                  return x.as<float>().flat((k * h + i + r) * w + j + c);
                                };
                                float& most = y[(k * down + i / 2) * right + j / 2];
                                most = std::max(most, at(0, 0) + at(0, 1) + at(1, 0) + at(1, 1));
                              }
                          return lamina::tensor({n, 1, down, right}, y);
                        },
                        {{2, 1, 5, 6}, {1, 1, 4, 9}});
}

TEST_CASE("load_onnx: an input with a fixed value is a constant") {
  maker m;
  m.graph.inputs.push_back(model_bytes::value("axes", {1}, lamina::dtype::int64));
  m.node("ReduceSum", {"x", "axes"}, {"y"}, {{"keepdims", 0}});
  CHECK_THAT(failure(m.bytes()), Contains("input 1, 'axes', which is computed or fed"));
  lamina::onnx_load_options options;
  options.fixed["axes"] = lamina::tensor({1}, std::vector<std::int64_t>{1});
  const lamina::inference_model read = lamina::from_onnx(m.bytes(), "net.onnx", options);
  CHECK(read.program.feed_names() == std::vector<std::string>{"x"});
  lamina::executor executor;
  CHECK(executor.run(read.program, *read.variables, {{"x", counted({2, 3})}})[0].shape() ==
        lamina::tensor_shape{2});
  options.fixed["absent"] = options.fixed["axes"];
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
