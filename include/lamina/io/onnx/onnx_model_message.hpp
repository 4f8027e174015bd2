// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/onnx_model_message.hpp - the contents of an ONNX file as plain structures: what a
// reader makes and an import takes.
//
// `offset` is the position of a message in the file, for errors. Elements of tensors are views into
// the bytes of the file, which must live as long as the messages.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/dtype.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Returns the element type in which lamina holds elements of a TensorProto.DataType, or nothing if
/// it has none. Types without arithmetic become the next wider one: float16, bfloat16 and the
/// floats of 8 and 4 bits become float32, unsigned integers of 16 and 32 bits int32 and int64,
/// those of 64 bits int64, and integers of 4 and 2 bits int8 or uint8.
constexpr std::optional<dtype> dtype_of_onnx(int type) {
  switch (type) {
    case 1:   // FLOAT
    case 10:  // FLOAT16
    case 16:  // BFLOAT16
    case 17:  // FLOAT8E4M3FN
    case 18:  // FLOAT8E4M3FNUZ
    case 19:  // FLOAT8E5M2
    case 20:  // FLOAT8E5M2FNUZ
    case 23:  // FLOAT4E2M1
    case 24:  // FLOAT8E8M0
      return dtype::float32;
    case 11:
      return dtype::float64;
    case 2:   // UINT8
    case 21:  // UINT4
    case 25:  // UINT2
      return dtype::uint8;
    case 3:   // INT8
    case 22:  // INT4
    case 26:  // INT2
      return dtype::int8;
    case 5:
      return dtype::int16;
    case 4:  // UINT16
    case 6:
      return dtype::int32;
    case 7:
    case 12:  // UINT32
    case 13:  // UINT64
      return dtype::int64;
    case 9:
      return dtype::boolean;
    default:
      return std::nullopt;
  }
}

/// TensorProto.
struct onnx_tensor_message {
  std::string name{};
  std::vector<std::int64_t> dims{};
  int type = 0;  // TensorProto.DataType
  std::optional<std::string_view> raw{};
  std::vector<float> floats{};
  std::vector<std::int64_t> integers{};  // int32_data, int64_data or uint64_data
  std::vector<double> doubles{};
  bool is_external = false;
  std::vector<std::pair<std::string, std::string>> external{};  // external_data: key, value
  std::uint64_t offset = 0;
};

struct onnx_graph_message;

/// AttributeProto. `kind` is AttributeProto.AttributeType and determines the member with the value.
struct onnx_attribute_message {
  std::string name{};
  int kind = 0;
  std::int64_t integer = 0;
  float real = 0;
  std::string text{};
  std::vector<std::int64_t> integers{};
  std::vector<float> reals{};
  std::vector<std::string> texts{};
  std::shared_ptr<const onnx_tensor_message> tensor{};
  std::shared_ptr<const onnx_graph_message> graph{};
  std::string reference{};  // in a function: the attribute of the call whose value this one has
};

/// NodeProto.
struct onnx_node_message {
  std::string type{}, domain{}, name{}, overload{};
  std::vector<std::string> inputs{}, outputs{};
  std::vector<onnx_attribute_message> attributes{};
  std::uint64_t offset = 0;

  /// Returns the attribute with this name, or null.
  const onnx_attribute_message* attribute(std::string_view wanted) const {
    for (const onnx_attribute_message& a : attributes)
      if (a.name == wanted) return &a;
    return nullptr;
  }
  /// Returns the name of the node, or the value that it computes if it has no name.
  const std::string& label() const { return name.empty() && !outputs.empty() ? outputs[0] : name; }
};

/// ValueInfoProto: an input or output of a graph.
struct onnx_value_message {
  std::string name{};
  bool is_tensor = false;  // else a sequence, a map, an optional, or of no type
  int type = 0;            // TensorProto.DataType
  bool has_shape = false;
  std::vector<std::int64_t> dims{};      // -1: known at run time
  std::vector<std::string> dim_names{};  // of each dimension; "": no name
  std::uint64_t offset = 0;
};

/// GraphProto.
struct onnx_graph_message {
  std::string name{};
  std::vector<onnx_node_message> nodes{};
  std::vector<onnx_tensor_message> initializers{};
  std::vector<onnx_value_message> inputs{}, outputs{};
  bool has_sparse_initializers = false;
  std::uint64_t offset = 0;
};

/// OperatorSetIdProto: a domain and the version of its operators.
using onnx_opsets = std::vector<std::pair<std::string, std::int64_t>>;

/// FunctionProto: an operator that the model itself defines by nodes.
struct onnx_function_message {
  std::string name{}, domain{}, overload{};
  std::vector<std::string> inputs{}, outputs{}, attributes{};
  std::vector<onnx_attribute_message> defaults{};  // attributes that a call may omit
  std::vector<onnx_node_message> nodes{};
  onnx_opsets opsets{};
  std::uint64_t offset = 0;
};

/// ModelProto.
struct onnx_model_message {
  std::int64_t ir_version = 0;
  std::string producer{};
  onnx_opsets opsets{};
  onnx_graph_message graph{};
  std::vector<onnx_function_message> functions{};
};

/// Returns the version of a domain, or 0. ONNX's own domain has the names "" and "ai.onnx".
inline std::int64_t version_of(const onnx_opsets& opsets, std::string_view domain) {
  const auto plain = [](std::string_view d) { return d == "ai.onnx" ? std::string_view() : d; };
  for (const auto& [name, version] : opsets)
    if (plain(name) == plain(domain)) return version;
  return 0;
}

}}  // namespace lamina
