// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/onnx_message.hpp - the messages of an ONNX file and their bytes, by protozero.
//
// The numbers are those of onnx.proto. A node is serialised as soon as it is made, and a graph
// collects the bytes. So large parameters of a model are written without additional copies.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// clang-format off
#include <lamina/core/simd/macros_hidden.hpp>
#include <protozero/pbf_writer.hpp>
#include <lamina/core/simd/macros_shown.hpp>
// clang-format on

#include <lamina/core/dtype.hpp>
#include <lamina/core/files/little_endian.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/tensor/tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Returns the TensorProto.DataType of an element type.
constexpr int onnx_type_of(dtype type) {
  switch (type) {
    case dtype::boolean:
      return 9;
    case dtype::int16:
      return 5;
    case dtype::int32:
      return 6;
    case dtype::int64:
      return 7;
    case dtype::float16:
      return 10;
    case dtype::float64:
      return 11;
    case dtype::uint8:
      return 2;
    case dtype::int8:
      return 3;
    default:
      return 1;
  }
}

/// ValueInfoProto: a value with its element type and dimensions. A dimension is a number, or a name
/// if it is known only at run time.
struct onnx_value {
  struct dimension {
    std::int64_t extent = 0;
    std::string name{};  // if not empty, replaces the extent
  };

  std::string name{};
  dtype type = dtype::float32;
  bool has_shape = true;
  std::vector<dimension> dims{};

  std::string bytes() const {
    std::string shape, tensor_type;
    for (const dimension& d : dims) {
      protozero::pbf_writer all(shape);
      protozero::pbf_writer one(all, 1);
      if (d.name.empty())
        one.add_int64(1, d.extent);
      else
        one.add_string(2, d.name);
    }
    protozero::pbf_writer to_type(tensor_type);
    to_type.add_int32(1, onnx_type_of(type));
    if (has_shape) to_type.add_message(2, shape);  // empty for a value without dimensions
    std::string made;
    protozero::pbf_writer to(made);
    to.add_string(1, name);
    protozero::pbf_writer(to, 2).add_message(1, tensor_type);
    return made;
  }
};

/// GraphProto: of a model, or of a branch or loop.
struct onnx_graph {
  std::string name{};
  std::vector<std::string> nodes{};  // their bytes; each follows the nodes whose results it reads
  std::vector<std::pair<std::string, const tensor*>> initializers{};  // not owned
  std::vector<onnx_value> inputs{}, outputs{};

  void write(protozero::pbf_writer& to) const {
    for (const std::string& node : nodes) to.add_message(1, node);
    to.add_string(2, name);
    for (const auto& [value, elements] : initializers) {
      const tensor_shape shape = elements->shape();
      protozero::pbf_writer one(to, 5);
      for (const std::size_t extent : shape) one.add_int64(1, static_cast<std::int64_t>(extent));
      one.add_int32(2, onnx_type_of(elements->type()));
      one.add_string(8, value);
      const auto each = static_cast<std::size_t>(size_of(elements->type()));
      const detail::little_endian_bytes raw(elements->data(), elements->size() * each, each);
      one.add_bytes(9, raw.data(), raw.size());
    }
    for (const onnx_value& v : inputs) to.add_message(11, v.bytes());
    for (const onnx_value& v : outputs) to.add_message(12, v.bytes());
  }
};

/// AttributeProto: a name and one value.
class onnx_attribute {
 public:
  onnx_attribute(const char* name, std::int64_t value) : onnx_attribute(name, kind{2}) {
    writer().add_int64(3, value);
  }
  onnx_attribute(const char* name, int value) : onnx_attribute(name, std::int64_t{value}) {}
  onnx_attribute(const char* name, bool value)
      : onnx_attribute(name, static_cast<std::int64_t>(value)) {}
  onnx_attribute(const char* name, float value) : onnx_attribute(name, kind{1}) {
    writer().add_float(2, value);
  }
  onnx_attribute(const char* name, double value)
      : onnx_attribute(name, static_cast<float>(value)) {}
  onnx_attribute(const char* name, const std::string& value) : onnx_attribute(name, kind{3}) {
    writer().add_bytes(4, value);
  }
  onnx_attribute(const char* name, const char* value) : onnx_attribute(name, std::string(value)) {}
  onnx_attribute(const char* name, const std::vector<std::int64_t>& values)
      : onnx_attribute(name, kind{7}) {
    for (const std::int64_t i : values) writer().add_int64(8, i);
  }
  onnx_attribute(const char* name, const std::vector<std::string>& values)
      : onnx_attribute(name, kind{8}) {
    for (const std::string& s : values) writer().add_bytes(9, s);
  }
  onnx_attribute(const char* name, const onnx_graph& body) : onnx_attribute(name, kind{5}) {
    protozero::pbf_writer to = writer();
    protozero::pbf_writer graph(to, 6);
    body.write(graph);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  struct kind {  // the number of AttributeProto.AttributeType
    int number;
  };
  onnx_attribute(const char* name, kind type) {
    writer().add_string(1, name);
    writer().add_int32(20, type.number);
  }
  protozero::pbf_writer writer() { return protozero::pbf_writer(bytes_); }

  std::string bytes_;
};

/// The values that a node reads or writes, as an argument in braces or a vector; valid during the
/// call. It copies no text, because such arguments make up most of the code of conversions.
class onnx_names {
 public:
  onnx_names() = default;
  onnx_names(std::initializer_list<std::string_view> names)  // NOLINT: braces convert
      : views_(std::data(names)), size_(names.size()) {}
  onnx_names(const std::vector<std::string>& names)  // NOLINT: a vector converts
      : texts_(names.data()), size_(names.size()) {}

  std::size_t size() const { return size_; }
  std::string_view operator[](std::size_t i) const {
    return views_ != nullptr ? views_[i] : std::string_view(texts_[i]);
  }

 private:
  const std::string_view* views_ = nullptr;
  const std::string* texts_ = nullptr;
  std::size_t size_ = 0;
};

/// The attributes of a node, as an argument in braces or a vector.
class onnx_attributes {
 public:
  onnx_attributes() = default;
  onnx_attributes(std::initializer_list<onnx_attribute> all)  // NOLINT: braces convert
      : first_(std::data(all)), size_(all.size()) {}
  onnx_attributes(const std::vector<onnx_attribute>& all)  // NOLINT: a vector converts
      : first_(all.data()), size_(all.size()) {}

  const onnx_attribute* begin() const { return first_; }
  const onnx_attribute* end() const { return first_ + size_; }

 private:
  const onnx_attribute* first_ = nullptr;
  std::size_t size_ = 0;
};

/// Returns the bytes of a NodeProto.
inline std::string onnx_node(std::string_view type, onnx_names inputs, onnx_names outputs,
                             const onnx_attributes& attributes, std::string_view domain = "") {
  std::string made;
  protozero::pbf_writer to(made);
  const auto add = [&](protozero::pbf_tag_type field, std::string_view value) {
    to.add_string(field, value.data(), value.size());
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) add(1, inputs[i]);
  for (std::size_t i = 0; i < outputs.size(); ++i) add(2, outputs[i]);
  if (outputs.size() > 0) add(3, outputs[0]);
  add(4, type);
  for (const onnx_attribute& a : attributes) to.add_message(5, a.bytes());
  if (!domain.empty()) add(7, domain);
  return made;
}

/// ModelProto.
struct onnx_model {
  onnx_graph graph{};
  int ir_version = 0;
  std::int64_t opset = 0;
  std::vector<std::pair<std::string, std::int64_t>> other_opsets{};  // domain, version
  std::string producer{}, producer_version{};
};

/// Returns the bytes of an ONNX file. Throws lamina::error for a model above 2 GiB, the limit of a
/// protobuf message.
inline std::string to_onnx(const onnx_model& model) {
  std::uint64_t size = 0;
  for (const auto& [name, value] : model.graph.initializers)
    size += value->size() * static_cast<std::uint64_t>(size_of(value->type()));
  if (size >= std::uint64_t{1} << 31)
    throw error("lamina: export_onnx: expected parameters of less than 2 GiB, found " +
                std::to_string(size) + " bytes");
  std::string made;
  protozero::pbf_writer to(made);
  to.add_int64(1, model.ir_version);
  to.add_string(2, model.producer);
  to.add_string(3, model.producer_version);
  {
    protozero::pbf_writer graph(to, 7);
    model.graph.write(graph);
  }
  const auto opset = [&](const std::string& domain, std::int64_t version) {
    protozero::pbf_writer one(to, 8);
    one.add_string(1, domain);
    one.add_int64(2, version);
  };
  opset("", model.opset);
  for (const auto& [domain, version] : model.other_opsets) opset(domain, version);
  return made;
}

}}  // namespace lamina
