// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/onnx_node_attributes.hpp - the attributes of an ONNX node, with defaults for
// omitted ones, and the errors of the node.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/io/onnx/onnx_model_message.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Reads the attributes of one node and throws its errors. Each function of a name returns the
/// value of the attribute `name`, or `otherwise` (an empty list) if the node has no such attribute.
class onnx_node_attributes {
 public:
  using extents = std::vector<std::int64_t>;

  /// `file` is the name of the file in errors.
  onnx_node_attributes(const onnx_node_message& message, std::string file)
      : message_(message), file_(std::move(file)) {}

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

  /// Returns the graph of an attribute.
  const onnx_graph_message& graph(const char* name) const {
    const onnx_attribute_message* a = message_.attribute(name);
    if (a == nullptr || a->graph == nullptr)
      fail(std::string("expected a graph in attribute '") + name + "', found none");
    return *a->graph;
  }
  /// Returns the element type that an attribute states by TensorProto.DataType.
  dtype type_attribute(std::string_view name, int otherwise) const {
    const std::int64_t number = integer(name, otherwise);
    const std::optional<dtype> found =
        number < 0 || number > 1000 ? std::nullopt : dtype_of_onnx(static_cast<int>(number));
    if (!found)
      fail(text("expected numbers as element type in attribute '")
           << name << "', found data_type " << number);
    return *found;
  }

  /// Throws format_error that names the file, the node, its operator and the reason.
  [[noreturn]] void fail(const std::string& reason) const {
    throw format_error(file_, message_.offset,
                       "node '" + message_.label() + "' of operator " + type() + ": " + reason);
  }
  [[noreturn]] void fail(const text& reason) const { fail(std::string(reason)); }
  /// Returns a dimension of a value as a number from 0 to rank - 1, or to `rank` if `ends`.
  std::int64_t axis(std::int64_t given, int rank, bool ends = false) const {
    const std::int64_t n = rank + (ends ? 1 : 0);
    if (given < -n || given >= n)
      fail(text("expected an axis from ") << -n << " to " << n - 1 << ", found " << given);
    return given < 0 ? given + n : given;
  }
  /// Returns the axes as sorted numbers without a sign.
  extents axes_of(extents given, int rank) const {
    for (std::int64_t& a : given) a = axis(a, rank);
    std::sort(given.begin(), given.end());
    if (std::adjacent_find(given.begin(), given.end()) != given.end())
      fail(text("expected axes that differ, found ").list(given));
    return given;
  }
  /// Returns the order of dimensions that moves one of them to another place.
  static extents moved(int rank, std::int64_t from, std::int64_t to) {
    extents order(static_cast<std::size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    order.erase(order.begin() + from);
    order.insert(order.begin() + to, from);
    return order;
  }

 private:
  const onnx_node_message& message_;
  std::string file_;
};

}}  // namespace lamina
