// SPDX-License-Identifier: Apache-2.0
// onnx_graph_import: the order of nodes, functions, branches, and what is refused. The operators of
// this test are its own.
#include <string>
#include <vector>

#include "io/onnx/model_bytes.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/onnx/onnx_graph_import.hpp>
#include <lamina/io/onnx/onnx_reader.hpp>
#include <lamina/operators/control/onnx_loop.hpp>

using Catch::Contains;
using lamina::onnx_import_node;
using model_bytes::maker;

namespace {

const lamina::onnx_operators& operators() {
  static const lamina::onnx_operators all = [] {
    lamina::onnx_operators made;
    for (const char* type : {"Relu", "Tanh"})
      made.add_node(type, [](onnx_import_node& n) { n.out(n.unary("relu", n.in(0))); });
    made.add_node("Elu", [](onnx_import_node& n) {
      n.out(n.unary("elu", n.in(0), {{"alpha", n.real("alpha", 1)}}));
    });
    lamina::onnx::add_control_loop(made);
    made.add_node("Add", [](onnx_import_node& n) { n.out(n.add(n.in(0), n.in(1))); });
    return made;
  }();
  return all;
}

struct imported {
  lamina::program_message program{};
  lamina::scope constants{};

  explicit imported(const std::string& bytes) {
    const lamina::onnx_model_message model = lamina::read_onnx_model(bytes, "net.onnx");
    lamina::onnx_import to("net.onnx", nullptr, 1000);
    lamina::onnx_graph_import(model, operators(), to, {}).run();
    program = to.finish(constants);
  }
  /// The types of the operators, in order, without those of feeds and fetches.
  std::string types() const {
    std::string all;
    for (const lamina::operator_message& op : program.blocks[0].operators)
      if (op.type != "feed" && op.type != "fetch") all += (all.empty() ? "" : " ") + op.type;
    return all;
  }
};
std::string failure(const std::string& bytes) {
  try {
    const imported all(bytes);
  } catch (const lamina::format_error& e) {
    CHECK(e.offset() <= bytes.size());
    return e.what();
  }
  return "imported";
}

}  // namespace

TEST_CASE("onnx_graph_import: nodes follow those whose results they read, in any order of a file") {
  const std::string bytes = maker()
                                .node("Elu", {"b"}, {"y"})
                                .node("Add", {"a", "x"}, {"b"})
                                .node("Relu", {"x"}, {"a"})
                                .bytes();
  CHECK(imported(bytes).types() == "relu elementwise_add elu");
}

TEST_CASE("onnx_graph_import: operators that no output needs are left out") {
  const std::string bytes =
      maker().node("Relu", {"x"}, {"y"}).node("Elu", {"x"}, {"unused"}).bytes();
  CHECK(imported(bytes).types() == "relu");
}

TEST_CASE("onnx_graph_import: names of values become names of variables, whatever they are") {
  const std::string bytes = maker()
                                .node("Relu", {"x"}, {"/layer.0/a::b@GRAD"})
                                .node("Elu", {"/layer.0/a::b@GRAD"}, {"y"})
                                .bytes();
  const imported all(bytes);
  CHECK(all.program.blocks[0].find("/layer.0/a::b_GRAD") != nullptr);
  CHECK(all.program.blocks[0].find("y") != nullptr);
}

TEST_CASE("onnx_graph_import: cycles, missing and doubled values are errors that name the node") {
  CHECK_THAT(failure(maker().node("Add", {"x", "b"}, {"a"}).node("Relu", {"a"}, {"b"}).bytes()),
             Contains("node 'a'") && Contains("without a cycle"));
  CHECK_THAT(failure(maker().node("Relu", {"absent"}, {"y"}).bytes()),
             Contains("'absent' for node 'y'"));
  CHECK_THAT(failure(maker().node("Relu", {"x"}, {"y"}).node("Elu", {"x"}, {"y"}).bytes()),
             Contains("found a second one"));
  CHECK_THAT(failure(maker().node("Relu", {"x"}, {"other"}).bytes()),
             Contains("'y' for the outputs"));
}

TEST_CASE(
    "onnx_graph_import: one error lists all unknown operators, sorted, with domain and nodes") {
  maker m;
  m.node("Zeta", {"x"}, {"z"}).node("Relu", {"x"}, {"y"});
  for (const char* name : {"a1", "a2", "a3", "a4"}) m.node("Alpha", {"x"}, {name}, {}, "my.domain");
  CHECK_THAT(
      failure(m.bytes()),
      Contains("found Alpha (domain my.domain, 4 nodes: 'a1', 'a2', 'a3', ...); Zeta (domain "
               "ai.onnx, 1 node: 'z')"));
}

TEST_CASE("onnx_graph_import: versions of operators that are not read") {
  maker m;
  m.node("Relu", {"x"}, {"y"});
  m.opset = 5;
  CHECK_THAT(failure(m.bytes()), Contains("expected version 6 to") && Contains("found 5"));
  m.opset = 1000;
  CHECK_THAT(failure(m.bytes()), Contains("found 1000"));
}

TEST_CASE("onnx_graph_import: the branch of a constant condition") {
  const lamina::tensor yes = lamina::tensor::filled<bool>({}, true);
  maker m;
  m.graph.initializers.emplace_back("c", &yes);
  lamina::onnx_graph then, other;
  then.nodes.push_back(lamina::onnx_node("Elu", {"x"}, {"t"}, {}));
  then.outputs.push_back(model_bytes::value("t", {-1, 3}));
  other.nodes.push_back(lamina::onnx_node("Nothing", {"x"}, {"e"}, {}));
  other.outputs.push_back(model_bytes::value("e", {-1, 3}));
  m.node("If", {"c"}, {"y"}, {{"then_branch", then}, {"else_branch", other}});
  CHECK(imported(m.bytes()).types() == "elu");
}

TEST_CASE("onnx_graph_import: functions of the model, with attributes of the call") {
  std::string function;
  {
    protozero::pbf_writer to(function);
    to.add_string(1, "Twice");
    to.add_string(4, "v");
    to.add_string(5, "w");
    to.add_string(6, "slope");
    std::string node = lamina::onnx_node("Elu", {"v"}, {"h"}, {});
    protozero::pbf_writer attribute_of(node);
    {
      protozero::pbf_writer a(attribute_of, 5);
      a.add_string(1, "alpha");
      a.add_int32(20, 1);
      a.add_string(21, "slope");
    }
    to.add_message(7, node);
    to.add_message(7, lamina::onnx_node("Relu", {"h"}, {"w"}, {}));
    to.add_string(10, "my.domain");
  }
  std::string bytes = maker().node("Twice", {"x"}, {"y"}, {{"slope", 0.5F}}, "my.domain").bytes();
  protozero::pbf_writer(bytes).add_message(25, function);
  const imported all(bytes);
  REQUIRE(all.types() == "elu relu");
  CHECK(all.program.blocks[0].operators[1].attribute("alpha")->real == 0.5F);

  // A function that calls itself.
  std::string endless;
  protozero::pbf_writer to(endless);
  to.add_string(1, "Twice");
  to.add_string(4, "v");
  to.add_string(5, "w");
  to.add_message(7, lamina::onnx_node("Twice", {"v"}, {"w"}, {}, "my.domain"));
  to.add_string(10, "my.domain");
  bytes = maker().node("Twice", {"x"}, {"y"}, {}, "my.domain").bytes();
  protozero::pbf_writer(bytes).add_message(25, endless);
  CHECK_THAT(failure(bytes), Contains("do not call themselves"));
}
