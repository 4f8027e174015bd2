// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/onnx_node_attributes.hpp - the attributes of an ONNX node, with defaults for those
// that the node omits.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/io/onnx/onnx_model_message.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Reads the attributes of one node. Each function returns the value of the attribute `name`, or
/// `otherwise` (an empty list) if the node has no such attribute.
class onnx_node_attributes {
 public:
  explicit onnx_node_attributes(const onnx_node_message& message) : message_(message) {}

  const onnx_node_message& message() const { return message_; }
  const std::string& type() const { return message_.type; }

  bool has_attribute(std::string_view name) const { return message_.attribute(name) != nullptr; }
  std::int64_t integer(std::string_view name, std::int64_t otherwise = 0) const {
    const onnx_attribute_message* a = message_.attribute(name);
    return a == nullptr ? otherwise : a->integer;
  }
  bool flag(std::string_view name, bool otherwise = false) const {
    return integer(name, otherwise ? 1 : 0) != 0;
  }
  float real(std::string_view name, float otherwise = 0) const {
    const onnx_attribute_message* a = message_.attribute(name);
    return a == nullptr ? otherwise : a->real;
  }
  std::string string(std::string_view name, const char* otherwise = "") const {
    const onnx_attribute_message* a = message_.attribute(name);
    return a == nullptr ? std::string(otherwise) : a->text;
  }
  std::vector<std::int64_t> integers(std::string_view name) const {
    const onnx_attribute_message* a = message_.attribute(name);
    return a == nullptr ? std::vector<std::int64_t>() : a->integers;
  }
  std::vector<float> reals(std::string_view name) const {
    const onnx_attribute_message* a = message_.attribute(name);
    return a == nullptr ? std::vector<float>() : a->reals;
  }
  std::vector<std::string> texts(std::string_view name) const {
    const onnx_attribute_message* a = message_.attribute(name);
    return a == nullptr ? std::vector<std::string>() : a->texts;
  }

 private:
  const onnx_node_message& message_;
};

}}  // namespace lamina
