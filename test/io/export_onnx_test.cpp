// SPDX-License-Identifier: Apache-2.0
// ONNX files: what stands in them, by protozero, and what is refused. Whether others read them is
// checked by test/interop.
#include <map>
#include <string>
#include <vector>

#include "io/onnx/parsed_graph.hpp"
#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>
#include <executor/shared_executor.hpp>

#include <lamina/io/export_onnx.hpp>
#include <lamina/io/inference_model.hpp>
#include <lamina/io/model_files.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/block/layer_conditional.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::block;
using parsed_graph::parsed;

namespace {

template <class P>
std::string refusal(P program, const std::vector<std::string>& targets = {}) {
  lamina::scope scope;
  lamina::executor executor;
  executor.run_startup(program.view(), scope, 1);
  try {
    lamina::to_onnx(program.view(), scope, targets);
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "written";
}

constexpr auto net = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto logits =
      layer::fc<3>(layer::fc<5>(x, {.act = lamina::activation::tanh}), {.name = "output"});
  auto label = layer::data<"label", std::int64_t>(main);
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

}  // namespace

TEST_CASE("export_onnx: a model's parameters and names, only what the targets need") {
  const temporary_folder folder;
  const lamina::model model{net, 3};
  lamina::export_onnx(folder.path() + "/net.onnx", model, {"output"});
  const parsed found(lamina::read_file(folder.path() + "/net.onnx"));
  CHECK(found.ir_version == lamina::onnx_ir_version);
  CHECK(found.opset == lamina::onnx_opset);
  CHECK(found.inputs == std::vector<std::string>{"x [batch, 4]"});
  REQUIRE(found.outputs.size() == 1);
  CHECK_THAT(found.outputs[0], Contains("output") && Contains(" [batch, 3]"));
  CHECK(found.nodes == std::map<std::string, int>{{"MatMul", 2}, {"Add", 2}, {"Tanh", 1}});
  CHECK((found.each_once && found.each_before));
  for (int i = 0; i < lamina::model<std::remove_const_t<decltype(net)>>::parameter_arrays(); ++i) {
    const xt::xarray<float> value = model.get(i);
    CHECK(found.initializers.at(model.describe(i).name) ==
          std::vector<float>(value.begin(), value.end()));
  }
  lamina::export_onnx(folder.path() + "/cost.onnx", model);
  const parsed cost(lamina::read_file(folder.path() + "/cost.onnx"));
  CHECK(cost.inputs == std::vector<std::string>{"x [batch, 4]", "label [batch, 1]"});

  // A program that was read is the same.
  lamina::save_inference_model(folder.path() + "/inference", model, {"output"});
  lamina::export_onnx(folder.path() + "/read.onnx",
                      lamina::load_inference_model(folder.path() + "/inference"));
  const parsed read(lamina::read_file(folder.path() + "/read.onnx"));
  CHECK(read.nodes == found.nodes);
  CHECK(read.initializers == found.initializers);
  CHECK(read.outputs == found.outputs);
}

TEST_CASE("export_onnx: all real constants of a program in double are doubles") {
  // ONNX's shape check refuses a node with inputs of both types: Concat of a bias and of zeros.
  constexpr auto in_double = lamina::program([](block& main) {
    auto words = layer::sequence<"words", double, 12>(main);
    auto gates = layer::sequence<"gates", double, 9>(main);
    auto cells = std::get<0>(layer::dynamic_lstm<12>(words, {.use_peepholes = true}));
    auto states = layer::dynamic_gru<3>(gates);
    auto longest = layer::sequence_pool(states, {.type = lamina::pooling_type::max});
    auto image = layer::data<"image", double, 4, 6, 6>(main);
    auto norm = layer::group_norm<2>(image);
    auto x = layer::data<"x", double, 4>(main);
    auto curve = layer::gelu(layer::elu(layer::softplus(layer::hard_swish(x))));
    auto gelu = layer::gelu(x, {.approximate = true});
    auto length = layer::l2_normalize(layer::layer_norm(x, {.scale = false, .shift = false}));
    auto label = layer::data<"label", std::int64_t>(main);
    auto cost = layer::softmax_with_cross_entropy(x, label);
    auto sides = layer::huber_loss(x, curve, 1.0f);
    return std::tuple{cells, states, longest, norm, gelu, length, cost, sides};
  });
  lamina::scope scope;
  lamina::executor executor;
  executor.run_startup(in_double.view(), scope, 1);
  for (const std::string& name : scope.names())
    scope.var(name) = scope.get(name).cast(lamina::dtype::float64);
  const parsed found(lamina::to_onnx(in_double.view(), scope));
  CHECK(found.nodes.at("LSTM") == 1);
  CHECK(found.nodes.at("GRU") == 1);
  CHECK(found.initializer_types.count(lamina::onnx_type_of(lamina::dtype::float32)) == 0);
  CHECK(found.initializer_types.at(lamina::onnx_type_of(lamina::dtype::float64)) > 10);
  // GroupNormalization computes in float unless this attribute says otherwise.
  CHECK(found.attributes.count("stash_type") == 1);
}

TEST_CASE("export_onnx: a static_rnn is repeated, as often as it has steps") {
  constexpr auto recurrent = lamina::program([](block& main) {
    return layer::static_rnn(layer::data<"x", float, 5, 3>(main), [](auto& step) {
      auto h = step.template memory<float>(lamina::dims<3>);
      auto next = layer::tanh(h);
      step.update(h, next);
      return next;
    });
  });
  const parsed found(lamina::to_onnx(recurrent.view(), lamina::scope()));
  CHECK(found.nodes.count("Loop") == 0);
  CHECK(found.nodes.at("Tanh") == 5);
  CHECK((found.each_once && found.each_before));
}

// robertknight/rten#1447, tinygrad/tinygrad#17790: along a side of one element ONNX's half_pixel
// takes the middle, pytorch_half_pixel and lamina the first one.
TEST_CASE("export_onnx: an image of one row is the first row, there as here") {
  constexpr auto resized = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 1, 3, 2>(main);
    return layer::resize_bilinear<lamina::extent2{1, 4}>(x,
                                                         {.align_corners = false, .align_mode = 0});
  });
  const std::string bytes = lamina::to_onnx(resized.view(), lamina::scope());
  CHECK(bytes.find("pytorch_half_pixel") != std::string::npos);
}

TEST_CASE("export_onnx: what ONNX cannot say is refused by name, layer and reason") {
  constexpr auto tagged = lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 4>(main);
    return layer::crf_decoding(x, {.name = "tags"});
  });
  CHECK_THAT(
      refusal(tagged),
      Contains("export_onnx: operator 'crf_decoding' of layer 'tags', which computes 'tags.") &&
          Contains("ONNX has no such operator"));
  constexpr auto cells = lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 8>(main);
    return std::get<1>(layer::dynamic_lstm<8>(x, {.name = "memory"}));
  });
  CHECK_THAT(refusal(cells),
             Contains("operator 'lstm' of layer 'memory'") && Contains("cells of all steps"));
  CHECK_THAT(refusal(net, {"x"}), Contains("expected targets that operators compute, found 'x'"));
  CHECK_THAT(refusal(net, {"nowhere"}), Contains("'nowhere'"));
}
