// SPDX-License-Identifier: Apache-2.0
// test/io/onnx/parsed_graph.hpp - the nodes, constants and attributes of an ONNX file.
#pragma once

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "io/temporary_folder.hpp"

#include <lamina/io/export_onnx.hpp>

namespace parsed_graph {

using protozero::pbf_reader;

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

}  // namespace parsed_graph
