// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/onnx_reader.hpp - reads the messages of an ONNX file, by protozero.
#pragma once

#include <lamina/core/config.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <lamina/io/fluid/proto_fields.hpp>
#include <lamina/io/onnx/onnx_model_message.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Reads messages; the numbers of the fields are those of onnx.proto. Fields without a meaning for
/// an import, such as texts for people, are skipped.
class onnx_reader {
 public:
  onnx_model_message model(field_reader from) {
    onnx_model_message made;
    bool has_graph = false;
    from.each([&](unsigned field) {
      if (field == 1) return made.ir_version = from.integer(), true;
      if (field == 2) return made.producer = from.string(), true;
      if (field == 7) return has_graph = true, graph(from.message("GraphProto"), made.graph), true;
      if (field == 8) return made.opsets.push_back(opset(from)), true;
      if (field == 25) return function(from, made.functions.emplace_back()), true;
      return false;
    });
    from.require(has_graph, "graph");
    return made;
  }

 private:
  // protobuf's own limit for nested messages.
  static constexpr int deepest = 100;

  static std::pair<std::string, std::int64_t> opset(field_reader& outer) {
    std::pair<std::string, std::int64_t> made{"", 0};
    field_reader from = outer.message("OperatorSetIdProto");
    from.each([&](unsigned field) {
      if (field == 1) return made.first = from.string(), true;
      if (field == 2) return made.second = from.integer(), true;
      return false;
    });
    return made;
  }

  void function(field_reader& outer, onnx_function_message& made) {
    field_reader from = outer.message("FunctionProto");
    made.offset = from.offset();
    from.each([&](unsigned field) {
      if (field == 1) return made.name = from.string(), true;
      if (field == 4) return made.inputs.push_back(from.string()), true;
      if (field == 5) return made.outputs.push_back(from.string()), true;
      if (field == 6) return made.attributes.push_back(from.string()), true;
      if (field == 7) return node(from, made.nodes.emplace_back()), true;
      if (field == 9) return made.opsets.push_back(opset(from)), true;
      if (field == 10) return made.domain = from.string(), true;
      if (field == 11) return attribute(from, made.defaults.emplace_back()), true;
      if (field == 13) return made.overload = from.string(), true;
      return false;
    });
  }

  void graph(field_reader from, onnx_graph_message& made) {
    made.offset = from.offset();
    if (++depth_ > deepest)
      from.fail("expected at most " + std::to_string(deepest) + " graphs inside each other");
    from.each([&](unsigned field) {
      if (field == 1) return node(from, made.nodes.emplace_back()), true;
      if (field == 2) return made.name = from.string(), true;
      if (field == 5) return tensor(from, made.initializers.emplace_back()), true;
      if (field == 11) return value(from, made.inputs.emplace_back()), true;
      if (field == 12) return value(from, made.outputs.emplace_back()), true;
      if (field == 15) made.has_sparse_initializers = true;
      return false;
    });
    --depth_;
  }

  void node(field_reader& outer, onnx_node_message& made) {
    field_reader from = outer.message("NodeProto");
    made.offset = from.offset();
    from.each([&](unsigned field) {
      if (field == 1) return made.inputs.push_back(from.string()), true;
      if (field == 2) return made.outputs.push_back(from.string()), true;
      if (field == 3) return made.name = from.string(), true;
      if (field == 4) return made.type = from.string(), true;
      if (field == 5) return attribute(from, made.attributes.emplace_back()), true;
      if (field == 7) return made.domain = from.string(), true;
      if (field == 8) return made.overload = from.string(), true;
      return false;
    });
    if (made.domain == "ai.onnx") made.domain.clear();
  }

  void attribute(field_reader& outer, onnx_attribute_message& made) {
    field_reader from = outer.message("AttributeProto");
    int found = 0;  // the kind by the field, for files of the first versions, which state none
    const auto is = [&](int kind) {
      found = kind;
      return true;
    };
    from.each([&](unsigned field) {
      if (field == 1) return made.name = from.string(), true;
      if (field == 2) return made.real = from.real(), is(1);
      if (field == 3) return made.integer = from.integer(), is(2);
      if (field == 4) return made.text = from.string(), is(3);
      if (field == 5) {
        auto read = std::make_shared<onnx_tensor_message>();
        tensor(from, *read);
        made.tensor = std::move(read);
        return is(4);
      }
      if (field == 6) {
        auto read = std::make_shared<onnx_graph_message>();
        graph(from.message("GraphProto"), *read);
        made.graph = std::move(read);
        return is(5);
      }
      if (field == 7) return from.reals(made.reals), is(6);
      if (field == 8) return from.integers(made.integers), is(7);
      if (field == 9) return made.texts.push_back(from.string()), is(8);
      if (field == 20) return made.kind = from.integer32(), true;
      if (field == 21) return made.reference = from.string(), true;
      return false;
    });
    if (made.kind == 0) made.kind = found;
  }

  void tensor(field_reader& outer, onnx_tensor_message& made) {
    field_reader from = outer.message("TensorProto");
    made.offset = from.offset();
    from.each([&](unsigned field) {
      if (field == 1) return from.integers(made.dims), true;
      if (field == 2) return made.type = from.integer32(), true;
      if (field == 4) return from.reals(made.floats), true;
      if (field == 5 || field == 7 || field == 11) return from.integers(made.integers), true;
      if (field == 8) return made.name = from.string(), true;
      if (field == 9) return made.raw = from.bytes(), true;
      if (field == 10) return from.doubles(made.doubles), true;
      if (field == 13) return made.external.push_back(entry(from)), true;
      if (field == 14) return made.is_external = from.integer() == 1, true;
      return false;
    });
  }
  static std::pair<std::string, std::string> entry(field_reader& outer) {
    std::pair<std::string, std::string> made;
    field_reader from = outer.message("StringStringEntryProto");
    from.each([&](unsigned field) {
      if (field == 1) return made.first = from.string(), true;
      if (field == 2) return made.second = from.string(), true;
      return false;
    });
    return made;
  }

  static void value(field_reader& outer, onnx_value_message& made) {
    field_reader from = outer.message("ValueInfoProto");
    made.offset = from.offset();
    from.each([&](unsigned field) {
      if (field == 1) return made.name = from.string(), true;
      if (field == 2) return value_type(from, made), true;
      return false;
    });
  }
  static void value_type(field_reader& outer, onnx_value_message& made) {
    field_reader from = outer.message("TypeProto");
    from.each([&](unsigned field) {
      if (field != 1) return false;
      made.is_tensor = true;
      field_reader type = from.message("TypeProto.Tensor");
      type.each([&](unsigned inner) {
        if (inner == 1) return made.type = type.integer32(), true;
        if (inner == 2) return shape(type, made), true;
        return false;
      });
      return true;
    });
  }
  static void shape(field_reader& outer, onnx_value_message& made) {
    made.has_shape = true;
    field_reader from = outer.message("TensorShapeProto");
    from.each([&](unsigned field) {
      if (field != 1) return false;
      std::int64_t extent = -1;
      std::string& name = made.dim_names.emplace_back();
      field_reader dimension = from.message("TensorShapeProto.Dimension");
      dimension.each([&](unsigned inner) {
        if (inner == 1) return extent = dimension.integer(), true;
        return inner == 2 ? (name = dimension.string(), true) : false;
      });
      made.dims.push_back(extent < 0 ? -1 : extent);
      return true;
    });
  }

  int depth_ = 0;
};

}}}  // namespace lamina::detail

namespace lamina { inline namespace LAMINA_ABI {

/// Returns the messages of an ONNX file from its bytes, which must live as long as the messages.
/// Throws format_error, with `file` as the name and an offset, for bytes that are not such a file.
inline onnx_model_message read_onnx_model(std::string_view bytes, const std::string& file) {
  const detail::message_source source{file, bytes.data()};
  return detail::onnx_reader().model(
      detail::field_reader(source, protozero::data_view(bytes.data(), bytes.size()), "ModelProto"));
}

}}  // namespace lamina
