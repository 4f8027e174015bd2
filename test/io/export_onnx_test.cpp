// SPDX-License-Identifier: Apache-2.0
// ONNX files: what stands in them, by protozero, and what is refused. Whether others read them is
// checked by test/interop.
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "temporary_folder.hpp"
#include <catch2/catch.hpp>
#include <executor/shared_executor.hpp>

#include <lamina/io/export_onnx.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/block/layer_conditional.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::block;
using protozero::pbf_reader;

namespace {

/// What a file says, as far as the tests look at it.
struct parsed {
  std::map<std::string, int> nodes{};  // how many of each type, in inner graphs too
  std::map<std::string, std::vector<float>> initializers{};
  std::map<int, int> initializer_types{};        // how many there are of each of ONNX's types
  std::vector<std::string> inputs{}, outputs{};  // "x [batch, 4]"
  std::set<std::string> defined{}, attributes{};
  bool each_once = true, each_before = true;  // the rule of ONNX's values
  std::int64_t ir_version = 0, opset = 0;
  std::map<std::string, std::int64_t> domains{};

  explicit parsed(const std::string& bytes) {
    pbf_reader model(bytes);
    while (model.next()) switch (model.tag()) {
        case 1:
          ir_version = model.get_int64();
          break;
        case 7:
          read_graph(model.get_message());
          break;
        case 8:
          read_opset(model.get_message());
          break;
        default:
          model.skip();
      }
  }

 private:
  void read_opset(pbf_reader from) {
    std::string domain;
    std::int64_t version = 0;
    while (from.next()) {
      if (from.tag() == 1)
        domain = from.get_string();
      else
        version = from.get_int64();
    }
    if (domain.empty())
      opset = version;
    else
      domains[domain] = version;
  }
  void define(const std::string& name) { each_once = defined.insert(name).second && each_once; }
  void require(const std::string& name) {
    each_before = each_before && (name.empty() || defined.count(name) != 0);
  }

  void read_graph(pbf_reader graph) {
    std::vector<pbf_reader> of_nodes, of_outputs;
    while (graph.next()) switch (graph.tag()) {
        case 1:
          of_nodes.push_back(graph.get_message());
          break;
        case 5:
          read_initializer(graph.get_message());
          break;
        case 11:
          inputs.push_back(read_value(graph.get_message(), true));
          break;
        case 12:
          of_outputs.push_back(graph.get_message());
          break;
        default:
          graph.skip();
      }
    for (const pbf_reader& node : of_nodes) read_node(node);
    for (const pbf_reader& value : of_outputs) outputs.push_back(read_value(value, false));
  }
  void read_node(pbf_reader node) {
    std::vector<std::string> results;
    while (node.next()) switch (node.tag()) {
        case 1:
          require(node.get_string());
          break;
        case 2:
          results.push_back(node.get_string());
          break;
        case 4:
          ++nodes[node.get_string()];
          break;
        case 5:
          read_attribute(node.get_message());
          break;
        default:
          node.skip();
      }
    for (const std::string& name : results) define(name);
  }
  void read_attribute(pbf_reader attribute) {
    const std::vector<std::string> outside[] = {inputs, outputs};
    while (attribute.next()) {
      if (attribute.tag() == 6)
        read_graph(attribute.get_message());
      else if (attribute.tag() == 1)
        attributes.insert(attribute.get_string());
      else
        attribute.skip();
    }
    inputs = outside[0];
    outputs = outside[1];
  }
  void read_initializer(pbf_reader from) {
    std::string name, raw;
    int type = 0;
    while (from.next()) switch (from.tag()) {
        case 2:
          type = from.get_int32();
          break;
        case 8:
          name = from.get_string();
          break;
        case 9:
          raw = from.get_bytes();
          break;
        default:
          from.skip();
      }
    define(name);
    ++initializer_types[type];
    if (type != 1) return;
    std::vector<float>& values = initializers[name];
    values.resize(raw.size() / sizeof(float));
    if (!raw.empty()) std::memcpy(values.data(), raw.data(), raw.size());
  }
  std::string read_value(pbf_reader from, bool defines) {
    std::string text;
    while (from.next()) {
      if (from.tag() != 1) {
        text += read_type(from.get_message());
        continue;
      }
      text = from.get_string();
      if (defines)
        define(text);
      else
        require(text);
    }
    return text;
  }
  static std::string read_type(pbf_reader type) {
    std::string text;
    while (type.next()) {
      pbf_reader tensor_type = type.get_message();
      while (tensor_type.next()) {
        if (tensor_type.tag() == 1) {
          tensor_type.skip();
          continue;
        }
        pbf_reader shape = tensor_type.get_message();
        while (shape.next()) {
          pbf_reader dimension = shape.get_message();
          while (dimension.next())
            text += (text.empty() ? " [" : ", ") + (dimension.tag() == 2
                                                        ? dimension.get_string()
                                                        : std::to_string(dimension.get_int64()));
        }
      }
    }
    return text.empty() ? text : text + "]";
  }
};

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

TEST_CASE("export_onnx: loops and branches are graphs of their own, each value is written once") {
  constexpr auto looped = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto i = layer::fill_constant<std::int64_t>(main, 0),
         n = layer::fill_constant<std::int64_t>(main, 5);
    auto going = layer::less_than(i, n);
    auto h = layer::scale(x, 2);
    layer::while_loop(going, [&](block& body) {
      layer::conditional_block(
          layer::greater_than(layer::mean(h), layer::fill_constant<float>(body, 0)),
          [&](block&) { h = layer::tanh(layer::fc<3>(h)); });
      layer::increment(i);
      layer::less_than(i, n, going);
    });
    return std::tuple{h, i};
  });
  lamina::scope scope;
  lamina::executor().run_startup(looped.view(), scope, 1);
  const parsed found(lamina::to_onnx(looped.view(), scope));
  CHECK(found.nodes.at("Loop") == 1);
  CHECK(found.nodes.at("If") == 1);
  CHECK(found.nodes.at("MatMul") == 1);
  CHECK((found.each_once && found.each_before));
  CHECK(found.outputs.size() == 2);
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

TEST_CASE("export_onnx: operators of one's own replace others") {
  constexpr auto activated = lamina::program(
      [](block& main) { return layer::hard_swish(layer::data<"x", float, 4>(main)); });
  lamina::onnx_operators mine = lamina::known_onnx_operators();
  mine.add("hard_swish", [](lamina::onnx_operator& op) {
    op.program().graph.node("MySwish", {op.in("X")}, {op.program().write(op.name("Out"))},
                            {{"offset", op.real("offset")}}, "my.domain");
  });
  const parsed found(lamina::to_onnx(activated.view(), lamina::scope(), {},
                                     {.operators = &mine, .domains = {{"my.domain", 3}}}));
  CHECK(found.nodes == std::map<std::string, int>{{"MySwish", 1}});
  CHECK(found.domains == std::map<std::string, std::int64_t>{{"my.domain", 3}});
}
