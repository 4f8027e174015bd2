// SPDX-License-Identifier: Apache-2.0
// read_onnx_model: the messages that the writer wrote, and damaged bytes.
#include <string>
#include <vector>

#include "io/onnx/model_bytes.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/onnx/onnx_reader.hpp>

namespace {

std::string small_model() {
  model_bytes::maker m;
  const lamina::tensor w({2}, std::vector<float>{0.5F, -1});
  m.graph.initializers.emplace_back("w", &w);
  lamina::onnx_graph body;
  body.nodes.push_back(lamina::onnx_node("Relu", {"x"}, {"inner"}, {}));
  body.outputs.push_back(model_bytes::value("inner", {}));
  m.node("Elu", {"x"}, {"h"}, {{"alpha", 0.25F}});
  m.node("If", {"h"}, {"y"}, {{"then_branch", body}});
  m.node("Own", {"x", ""}, {"z"}, {{"axes", std::vector<std::int64_t>{1, -2}}}, "my.domain");
  return m.bytes();
}

}  // namespace

TEST_CASE("onnx_reader: reads what the writer wrote") {
  const std::string bytes = small_model();
  const lamina::onnx_model_message m = lamina::read_onnx_model(bytes, "net.onnx");
  CHECK(m.ir_version == 10);
  CHECK(lamina::version_of(m.opsets, "ai.onnx") == 21);
  REQUIRE(m.graph.nodes.size() == 3);
  const lamina::onnx_node_message& elu = m.graph.nodes[0];
  CHECK(elu.type == "Elu");
  CHECK(elu.label() == "h");
  CHECK(bytes.substr(elu.offset, 3) == std::string("\x0a\x01x", 3));
  REQUIRE(elu.attribute("alpha") != nullptr);
  CHECK(elu.attribute("alpha")->real == 0.25F);
  REQUIRE(m.graph.nodes[1].attribute("then_branch") != nullptr);
  REQUIRE(m.graph.nodes[1].attribute("then_branch")->graph != nullptr);
  CHECK(m.graph.nodes[1].attribute("then_branch")->graph->nodes.at(0).type == "Relu");
  CHECK(m.graph.nodes[2].domain == "my.domain");
  CHECK(m.graph.nodes[2].inputs == std::vector<std::string>{"x", ""});
  CHECK(m.graph.nodes[2].attribute("axes")->integers == std::vector<std::int64_t>{1, -2});
  REQUIRE(m.graph.initializers.size() == 1);
  CHECK(m.graph.initializers[0].name == "w");
  CHECK(m.graph.initializers[0].raw.value().size() == 8);
  REQUIRE(m.graph.inputs.size() == 1);
  CHECK(m.graph.inputs[0].dims == std::vector<std::int64_t>{-1, 3});
}

TEST_CASE("onnx_reader: bytes that end early are errors with an offset in the file [damage]") {
  const std::string whole = small_model();
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const std::string part = whole.substr(0, n);
    try {
      (void)lamina::read_onnx_model(part, "cut.onnx");
      // A file that ends between two fields of the model may still have a graph.
    } catch (const lamina::format_error& e) {
      CHECK(e.file() == "cut.onnx");
      CHECK(e.offset() <= n);
    }
  }
  CHECK_THROWS_AS(lamina::read_onnx_model("", "empty.onnx"), lamina::format_error);
}

TEST_CASE("onnx_reader: graphs inside each other end at protobuf's depth") {
  lamina::onnx_graph graph;
  for (int i = 0; i < 120; ++i) {
    lamina::onnx_graph outer;
    outer.nodes.push_back(lamina::onnx_node("If", {"c"}, {"y"}, {{"then_branch", graph}}));
    graph = outer;
  }
  lamina::onnx_model model;
  model.graph = graph;
  CHECK_THROWS_AS(lamina::read_onnx_model(lamina::to_onnx(model), "deep.onnx"),
                  lamina::format_error);
}
