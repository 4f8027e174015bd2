// SPDX-License-Identifier: Apache-2.0
// serve_http/infer_protocol.hpp - requests and answers in KServe's Open Inference Protocol
// (V2) with its extension for binary tensors: https://kserve.github.io/website
#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <lamina/serve/batched_model.hpp>

namespace serve_http {

namespace serve = lamina::serve;
using json = nlohmann::json;
static_assert(std::endian::native == std::endian::little, "binary tensors are little-endian");

/// The protocol's name of an element type.
inline const char* datatype_of(lamina::dtype type) {
  using lamina::dtype;
  switch (type) {
    case dtype::boolean:
      return "BOOL";
    case dtype::uint8:
      return "UINT8";
    case dtype::int8:
      return "INT8";
    case dtype::int16:
      return "INT16";
    case dtype::int32:
      return "INT32";
    case dtype::int64:
      return "INT64";
    case dtype::float16:
      return "FP16";
    case dtype::float64:
      return "FP64";
    default:
      return "FP32";
  }
}

/// Calls f with a value of the C++ type of `type`.
template <class F>
auto with_type(lamina::dtype type, F f) {
  using lamina::dtype;
  switch (type) {
    case dtype::boolean:
      return f(bool{});
    case dtype::uint8:
      return f(std::uint8_t{});
    case dtype::int8:
      return f(std::int8_t{});
    case dtype::int16:
      return f(std::int16_t{});
    case dtype::int32:
      return f(std::int32_t{});
    case dtype::int64:
      return f(std::int64_t{});
    case dtype::float64:
      return f(double{});
    default:
      return f(float{});
  }
}

/// A request, and how its answer is written.
struct infer_request {
  std::string id;
  serve::model_request model;
  std::vector<bool> binary;  // by output of `model`; empty: `all_binary` is for all
  bool all_binary = false;
};

/// Reads a request in JSON with binary tensors behind it. Throws lamina::error that says what was
/// expected and found.
class request_reader {
 public:
  request_reader(std::string_view head, std::string_view tail, const serve::request_form& form)
      : tail_(tail), form_(form) {
    if (is_deep(head))
      throw lamina::error("request: expected at most " + std::to_string(most_deep) +
                          " arrays and objects in each other, found more");
    json all;
    try {
      all = json::parse(head);
    } catch (const json::exception& e) {  // what() has the position, and a number that no double
                                          // holds
      throw lamina::error(std::string("request: expected JSON, found: ") + e.what());
    }
    if (!all.is_object()) fail("request", "a JSON object", all);
    if (all.contains("id")) read_.id = text_of(all["id"], "id");
    read_.all_binary = flag(all, "binary_data_output");
    const json& inputs = member(all, "inputs", "request");
    if (!inputs.is_array()) fail("inputs", "an array", inputs);
    for (const json& input : inputs) read_input(input);
    if (!tail_.empty())
      throw lamina::error("request: expected binary tensors of binary_data_size bytes, found " +
                          std::to_string(tail_.size()) + " more");
    if (all.contains("outputs")) {
      const json& outputs = all["outputs"];
      if (!outputs.is_array()) fail("outputs", "an array", outputs);
      for (const json& output : outputs) {
        read_.model.outputs.push_back(text_of(member(output, "name", "outputs"), "name"));
        const json* own = parameter(output, "binary_data");
        read_.binary.push_back(own == nullptr ? read_.all_binary : flag(output, "binary_data"));
      }
    }
  }

  infer_request take() { return std::move(read_); }

 private:
  static constexpr int most_deep = 32;
  /// Whether arrays and objects are in each other so often that functions which call themselves,
  /// as json::dump does, would use up the stack.
  static bool is_deep(std::string_view text) {
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '[' || text[i] == '{') {
        if (++depth > most_deep) return true;
      } else if (text[i] == ']' || text[i] == '}') {
        --depth;
      } else if (text[i] == '"') {
        while (++i < text.size() && text[i] != '"')
          if (text[i] == '\\') ++i;
      }
    }
    return false;
  }
  [[noreturn]] static void fail(const std::string& of, const std::string& expected,
                                const json& found) {
    std::string text = found.dump(-1, ' ', false, json::error_handler_t::replace);
    if (text.size() > 60) text = text.substr(0, 60) + "...";
    throw lamina::error(of + ": expected " + expected + ", found " + text);
  }
  static const json& member(const json& of, const char* name, const std::string& place) {
    if (!of.is_object() || !of.contains(name))
      fail(place, std::string("an object with '") + name + "'", of);
    return of[name];
  }
  static std::string text_of(const json& value, const char* name) {
    if (!value.is_string()) fail(name, "a string", value);
    return value.get<std::string>();
  }
  static const json* parameter(const json& of, const char* name) {
    if (!of.contains("parameters")) return nullptr;
    const json& all = of["parameters"];
    if (!all.is_object()) fail("parameters", "an object", all);
    return all.contains(name) ? &all[name] : nullptr;
  }
  static bool flag(const json& of, const char* name) {
    const json* found = parameter(of, name);
    if (found == nullptr) return false;
    if (!found->is_boolean()) fail(name, "true or false", *found);
    return found->get<bool>();
  }
  template <class T>
  static T whole(const json& value, const std::string& place) {
    if constexpr (std::is_same_v<T, bool>) {
      if (!value.is_boolean()) fail(place, "true or false", value);
      return value.get<bool>();
    } else {
      const bool is_right = value.is_number_integer() &&
                            (value.is_number_unsigned()
                                 ? value.get<std::uint64_t>() <=
                                       static_cast<std::uint64_t>((std::numeric_limits<T>::max)())
                                 : value.get<std::int64_t>() >=
                                       static_cast<std::int64_t>((std::numeric_limits<T>::min)()));
      if (!is_right) fail(place, "an integer of " + std::to_string(8 * sizeof(T)) + " bits", value);
      return static_cast<T>(value.get<std::int64_t>());
    }
  }
  template <class T>
  static T element(const json& value, const std::string& place) {
    if constexpr (std::is_floating_point_v<T>) {
      if (!value.is_number()) fail(place, "a number", value);
      const T number = static_cast<T>(value.get<double>());
      if (!std::isfinite(number))
        fail(place, std::string("a number that ") + (sizeof(T) == 4 ? "FP32" : "FP64") + " holds",
             value);
      return number;
    } else {
      return whole<T>(value, place);
    }
  }
  /// Elements of `data`, an array of them, or arrays in arrays as the shape says.
  template <class T>
  static void append(const json& data, const std::vector<std::int64_t>& shape, std::size_t depth,
                     const std::string& place, std::string& to) {
    const bool is_nested = !data.empty() && data[0].is_array();
    if (is_nested || depth > 0) {
      const bool is_last = depth + 1 >= shape.size();
      if (is_nested ? is_last : !is_last)
        fail(place,
             "elements in one array, or arrays in " + std::to_string(shape.size()) +
                 " levels as the shape has dimensions",
             data);
      if (static_cast<std::uint64_t>(shape[depth]) != data.size())
        fail(place,
             "as the shape says, arrays of " + std::to_string(shape[depth]) + " in level " +
                 std::to_string(depth + 1) + " of data",
             data);
    }
    for (const json& inner : data) {
      if (inner.is_array() != is_nested)
        fail(place, is_nested ? "arrays alone in an array" : "elements alone in an array", data);
      if (is_nested) {
        append<T>(inner, shape, depth + 1, place, to);
      } else {
        const T value = element<T>(inner, place);
        to.append(reinterpret_cast<const char*>(&value), sizeof value);
      }
    }
  }

  void read_input(const json& input) {
    serve::named_values v;
    v.name = text_of(member(input, "name", "inputs"), "name");
    const std::string place = "input " + v.name;
    // The type is known from the model; without it, an unknown name would be no error of its own.
    const lamina::any_variable* const wanted = form_.input(v.name);
    if (wanted == nullptr)
      throw lamina::error("inputs: expected " + lamina::detail::names_of(form_.inputs) +
                          ", found '" + v.name + "'");
    v.type = wanted->type;
    const json& type = member(input, "datatype", place);
    if (type != datatype_of(v.type))
      fail(place, std::string("the datatype ") + datatype_of(v.type), type);
    const json& shape = member(input, "shape", place);
    if (!shape.is_array() || shape.size() > 16) fail(place, "a shape, an array of integers", shape);
    for (const json& d : shape) v.shape.push_back(whole<std::int64_t>(d, place + ": shape"));
    if (const json* lengths = parameter(input, "lengths")) {
      if (!lengths->is_array()) fail(place, "lengths, an array of integers", *lengths);
      for (const json& n : *lengths) v.lengths.push_back(whole<int>(n, place + ": lengths"));
    }
    if (const json* size = parameter(input, "binary_data_size")) {
      const auto bytes = whole<std::int64_t>(*size, place + ": binary_data_size");
      if (bytes < 0 || static_cast<std::uint64_t>(bytes) > tail_.size())
        fail(place,
             "at most " + std::to_string(tail_.size()) + " bytes, which are left of the body",
             *size);
      v.bytes = tail_.substr(0, static_cast<std::size_t>(bytes));
      tail_.remove_prefix(static_cast<std::size_t>(bytes));
      require_finite(v);
    } else {
      const json& data = member(input, "data", place);
      if (!data.is_array()) fail(place, "data, an array", data);
      with_type(v.type,
                [&](auto zero) { append<decltype(zero)>(data, v.shape, 0, place, v.bytes); });
    }
    read_.model.inputs.push_back(std::move(v));
  }

 public:
  /// Refuses NaN and infinite numbers in a binary tensor; JSON has none.
  static void require_finite(const serve::named_values& v) {
    with_type(v.type, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_floating_point_v<T>)
        for (std::size_t i = 0; i + sizeof(T) <= v.bytes.size(); i += sizeof(T)) {
          T value;
          std::memcpy(&value, v.bytes.data() + i, sizeof value);
          if (!std::isfinite(value))
            throw lamina::error("input " + v.name + ": expected finite numbers, found " +
                                (std::isnan(value) ? "NaN" : "infinity") + " as element " +
                                std::to_string(i / sizeof(T)));
        }
    });
  }

 private:
  std::string_view tail_;
  const serve::request_form& form_;
  infer_request read_;
};

/// The body of a raw request: the elements of the model's only input, and nothing else.
inline infer_request read_raw(std::string body, const serve::request_form& form) {
  if (form.inputs.size() != 1 || form.inputs[0].levels != 0)
    throw lamina::error(
        "request: expected JSON, as the model has several inputs, or sequences, found raw "
        "elements");
  const lamina::any_variable& wanted = form.inputs[0];
  serve::named_values v{wanted.name, wanted.type, wanted.shape, std::move(body), {}};
  auto row = static_cast<std::size_t>(lamina::size_of(v.type));
  for (std::size_t i = 1; i < v.shape.size(); ++i) row *= static_cast<std::size_t>(v.shape[i]);
  if (row == 0 || v.bytes.size() % row != 0)
    throw lamina::error("input " + v.name + ": expected a multiple of " + std::to_string(row) +
                        " bytes, found " + std::to_string(v.bytes.size()));
  v.shape[0] = static_cast<std::int64_t>(v.bytes.size() / row);
  request_reader::require_finite(v);
  infer_request made;
  made.model.inputs.push_back(std::move(v));
  return made;
}

/// A JSON string.
inline std::string quoted(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}
inline std::string error_body(const std::string& what) {
  return "{\"error\":" + quoted(what) + "}";
}

/// An answer: JSON, then the bytes of binary outputs.
struct infer_answer {
  std::string body;
  std::size_t json_bytes = 0;
};

namespace detail {
template <class T>
void append_number(std::string& to, T value) {
  if constexpr (std::is_same_v<T, bool>) {
    to += value ? "true" : "false";
  } else {
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(value))
        throw std::range_error(
            "expected finite numbers for JSON, found another one; ask for "
            "binary_data");
    char text[40];
    to.append(text, std::to_chars(text, text + sizeof text, value).ptr);  // the shortest exact one
  }
}
template <class Numbers>
std::string list(const Numbers& numbers) {
  std::string made = "[";
  for (const auto n : numbers) {
    if (made.size() > 1) made += ',';
    append_number(made, n);
  }
  return made + "]";
}
}  // namespace detail

/// Writes an answer. Throws std::range_error for NaN and infinity in an output that is not binary.
inline infer_answer write_answer(const infer_request& request, const serve::model_answer& answer,
                                 const std::string& model) {
  infer_answer made;
  std::string& to = made.body;
  to = "{\"model_name\":" + quoted(model) + ",\"model_version\":\"" +
       std::to_string(answer.version) + "\"";
  if (!request.id.empty()) to += ",\"id\":" + quoted(request.id);
  to += ",\"outputs\":[";
  std::string tail;
  for (std::size_t i = 0; i < answer.outputs.size(); ++i) {
    const serve::named_values& v = answer.outputs[i];
    if (i > 0) to += ',';
    to += "{\"name\":" + quoted(v.name) + ",\"datatype\":\"" + datatype_of(v.type) +
          "\",\"shape\":" + detail::list(v.shape);
    if (i < request.binary.size() ? request.binary[i] : request.all_binary) {
      to += ",\"parameters\":{\"binary_data_size\":" + std::to_string(v.bytes.size()) + "}}";
      tail += v.bytes;
      continue;
    }
    to += ",\"data\":[";
    with_type(v.type, [&](auto value) {
      for (std::size_t at = 0; at < v.bytes.size(); at += sizeof value) {
        std::memcpy(&value, v.bytes.data() + at, sizeof value);
        if (at > 0) to += ',';
        detail::append_number(to, value);
      }
    });
    to += "]}";
  }
  to += "]}";
  made.json_bytes = to.size();
  to += tail;
  return made;
}

/// What GET /v2/models/NAME says of a model.
inline std::string describe(const serve::request_form& form, const std::string& model,
                            std::uint64_t version) {
  const auto all = [](const std::vector<lamina::any_variable>& from) {
    std::string made;
    for (const lamina::any_variable& v : from)
      made += (made.empty() ? "" : ",") + ("{\"name\":" + quoted(v.name)) + ",\"datatype\":\"" +
              datatype_of(v.type) + "\",\"shape\":" + detail::list(v.shape) + "}";
    return "[" + made + "]";
  };
  return "{\"name\":" + quoted(model) + ",\"versions\":[\"" + std::to_string(version) +
         "\"],\"platform\":\"lamina\",\"inputs\":" + all(form.inputs) +
         ",\"outputs\":" + all(form.outputs) + "}";
}

}  // namespace serve_http
