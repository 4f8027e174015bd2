// SPDX-License-Identifier: Apache-2.0
// lamina/io/program_desc_json.hpp - reads and writes programs in protobuf's JSON mapping. Needs
// nlohmann_json.
//
// In this mapping, names are in lowerCamelCase, enumerators are names, 64-bit integers are texts,
// and floats that are not finite are "NaN", "Infinity" or "-Infinity". The reader also accepts
// names in snake_case, and each number as a number or a text. Texts must be UTF-8, as protobuf
// requires; otherwise an error is thrown.
//
// The functions are templates with nlohmann's class as parameter. If they were ordinary inline
// functions, the compiler would instantiate this class in every program that includes the header,
// which takes 1.5 times as long as parsing the class.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

// clang-format off
#include <lamina/core/simd/macros_hidden.hpp>
#include <nlohmann/json.hpp>
#include <lamina/core/simd/macros_shown.hpp>
// clang-format on

#include <lamina/core/messages/error.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/io/fluid/to_program_message.hpp>
#include <lamina/io/json/json_reader.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

inline constexpr const char* attribute_type_names[] = {"INT",    "FLOAT",   "STRING",  "INTS",
                                                       "FLOATS", "STRINGS", "BOOLEAN", "BOOLEANS",
                                                       "BLOCK",  "LONG",    "BLOCKS",  "LONGS"};
inline constexpr const char* variable_type_names[] = {"BOOL",           "INT16",
                                                      "INT32",          "INT64",
                                                      "FP16",           "FP32",
                                                      "FP64",           "LOD_TENSOR",
                                                      "SELECTED_ROWS",  "FEED_MINIBATCH",
                                                      "FETCH_LIST",     "STEP_SCOPES",
                                                      "LOD_RANK_TABLE", "LOD_TENSOR_ARRAY",
                                                      "PLACE_LIST",     "READER",
                                                      "CHANNEL",        "RAW",
                                                      "TUPLE",          "SIZE_T",
                                                      "UINT8",          "INT8"};
/// For each type of attribute, the name of the member of OpDesc.Attr that holds the value.
inline constexpr const char* value_names[] = {"i",        "f",       "s",         "ints",
                                              "floats",   "strings", "b",         "bools",
                                              "blockIdx", "l",       "blocksIdx", "longs"};

template <class Json>
Json json_of_real(float x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x < 0 ? "-Infinity" : "Infinity";
  return x;
}

template <class Json>
Json json_of(const attribute_message& a) {
  const std::size_t type = static_cast<std::size_t>(a.type);
  if (a.later_type != 0) return {{"name", a.name}, {"type", a.later_type}};
  Json j{{"name", a.name}, {"type", attribute_type_names[type]}};
  Json value = Json::array();
  switch (a.type) {
    case attribute_type::real:
      a.require_kept();
      value = json_of_real<Json>(a.real);
      break;
    case attribute_type::string:
      value = a.text;
      break;
    case attribute_type::reals:
      for (const float x : a.reals) value.push_back(json_of_real<Json>(x));
      break;
    case attribute_type::strings:
      value = a.texts;
      break;
    case attribute_type::integers:
    case attribute_type::blocks:
      value = a.integers;
      break;
    case attribute_type::booleans:
      for (const std::int64_t i : a.integers) value.push_back(i != 0);
      break;
    case attribute_type::long_integers:
      for (const std::int64_t i : a.integers) value.push_back(std::to_string(i));
      break;
    case attribute_type::boolean:
      value = a.integer != 0;
      break;
    case attribute_type::long_integer:
      value = std::to_string(a.integer);
      break;
    default:
      value = a.integer;
  }
  if (!value.is_array() || !value.empty()) j[value_names[type]] = std::move(value);
  return j;
}

template <class Json>
Json json_of(const std::vector<slot_message>& slot_list) {
  Json all = Json::array();
  for (const slot_message& s : slot_list) {
    Json& j = all.emplace_back(Json{{"parameter", s.slot}});
    if (!s.arguments.empty()) j["arguments"] = s.arguments;
  }
  return all;
}

template <class Json>
Json json_of(const operator_message& op) {
  Json j{{"type", op.type}};
  if (!op.inputs.empty()) j["inputs"] = json_of<Json>(op.inputs);
  if (!op.outputs.empty()) j["outputs"] = json_of<Json>(op.outputs);
  for (const attribute_message& a : op.attributes) j["attrs"].push_back(json_of<Json>(a));
  if (op.is_target) j["isTarget"] = true;
  return j;
}

template <class Json>
Json json_of(const variable_message& v) {
  const int kind = static_cast<int>(v.kind);
  Json type;
  if (kind < static_cast<int>(std::size(variable_type_names)))
    type["type"] = variable_type_names[kind];
  else
    type["type"] = kind;
  if (v.has_tensor()) {
    Json tensor{{"dataType", variable_type_names[static_cast<int>(v.type)]}};
    for (const std::int64_t d : v.dims) tensor["dims"].push_back(std::to_string(d));
    if (v.kind == variable_class::selected_rows) {
      type["selectedRows"] = tensor;
    } else {
      Json lod{{"tensor", tensor}, {"lodLevel", v.lod_level}};
      type[v.kind == variable_class::lod_tensor ? "lodTensor" : "tensorArray"] = lod;
    }
  }
  Json j{{"name", v.name}, {"type", type}};
  if (v.persistable) j["persistable"] = true;
  if (v.need_check_feed) j["needCheckFeed"] = true;
  if (v.is_parameter) j["isParameter"] = true;
  if (v.stop_gradient) j["stopGradient"] = true;
  return j;
}

template <class Json>
attribute_message attribute_of(const json_reader<Json>& j) {
  attribute_message a;
  a.name = j.at("name").text();
  const int type = j.at("type").name_of(attribute_type_names);
  if (type >= static_cast<int>(std::size(attribute_type_names))) {
    a.later_type = type;
    return a;
  }
  a.type = static_cast<attribute_type>(type);
  const char* name = value_names[type];
  if (!j.has(name)) return a;
  switch (a.type) {
    case attribute_type::real:
      a.real = j.at(name).real();
      break;
    case attribute_type::string:
      a.text = j.at(name).text();
      break;
    case attribute_type::reals:
      j.each(name, [&](const json_reader<Json>& x) { a.reals.push_back(x.real()); });
      break;
    case attribute_type::strings:
      j.each(name, [&](const json_reader<Json>& x) { a.texts.push_back(x.text()); });
      break;
    case attribute_type::booleans:
      j.each(name, [&](const json_reader<Json>& x) { a.integers.push_back(x.truth()); });
      break;
    case attribute_type::integers:
    case attribute_type::blocks:
    case attribute_type::long_integers:
      j.each(name, [&](const json_reader<Json>& x) { a.integers.push_back(x.integer()); });
      break;
    case attribute_type::boolean:
      a.integer = j.at(name).truth();
      break;
    default:
      a.integer = j.at(name).integer();
  }
  return a;
}

template <class Json>
std::vector<slot_message> slots_of(const json_reader<Json>& op, const char* name) {
  std::vector<slot_message> slot_list;
  op.each(name, [&](const json_reader<Json>& j) {
    slot_message& s = slot_list.emplace_back();
    s.slot = j.at("parameter").text();
    j.each("arguments", [&](const json_reader<Json>& a) { s.arguments.push_back(a.text()); });
  });
  return slot_list;
}

template <class Json>
operator_message operator_of(const json_reader<Json>& j) {
  operator_message op;
  op.type = j.at("type").text();
  op.inputs = slots_of(j, "inputs");
  op.outputs = slots_of(j, "outputs");
  j.each("attrs", [&](const json_reader<Json>& a) { op.attributes.push_back(attribute_of(a)); });
  if (j.has("isTarget")) op.is_target = j.at("isTarget").truth();
  return op;
}

template <class Json>
void read_tensor(const json_reader<Json>& tensor, variable_message& v) {
  const json_reader<Json> type = tensor.at("dataType");
  const int number = type.name_of(variable_type_names);
  if (number > 6 && number != 20 && number != 21) type.expected("an element type");
  v.type = static_cast<dtype>(number);
  tensor.each("dims", [&](const json_reader<Json>& d) { v.dims.push_back(d.integer()); });
}

template <class Json>
variable_message variable_of(const json_reader<Json>& j) {
  variable_message v;
  v.name = j.at("name").text();
  const json_reader<Json> type = j.at("type"), kind = type.at("type");
  const int number = kind.name_of(variable_type_names);
  if (number < 7) kind.expected("the type of a variable");
  v.kind = static_cast<variable_class>(number);
  if (v.kind == variable_class::selected_rows) {
    if (type.has("selectedRows")) read_tensor(type.at("selectedRows"), v);
  } else if (v.has_tensor()) {
    const char* name = v.kind == variable_class::lod_tensor ? "lodTensor" : "tensorArray";
    if (type.has(name)) {
      const json_reader<Json> lod = type.at(name);
      read_tensor(lod.at("tensor"), v);
      if (lod.has("lodLevel"))
        v.lod_level = static_cast<std::int32_t>(lod.at("lodLevel").integer(0, 16));
    }
  }
  const auto flag = [&](const char* name) { return j.has(name) && j.at(name).truth(); };
  v.persistable = flag("persistable");
  v.need_check_feed = flag("needCheckFeed");
  v.is_parameter = flag("isParameter");
  v.stop_gradient = flag("stopGradient");
  return v;
}

}  // namespace detail

/// Returns a ProgramDesc in protobuf's JSON mapping: `to_json(net).dump(2)`. Omits the fields that
/// lamina does not know.
template <class Json = nlohmann::json>
Json to_json(const program_message& p) {
  Json all;
  all["blocks"] = Json::array();
  for (const block_message& b : p.blocks) {
    Json j{{"idx", b.index}, {"parentIdx", b.parent}};
    for (const variable_message& v : b.variables) j["vars"].push_back(detail::json_of<Json>(v));
    for (const operator_message& op : b.operators) j["ops"].push_back(detail::json_of<Json>(op));
    if (b.forward_block != -1) j["forwardBlockIdx"] = b.forward_block;
    all["blocks"].push_back(std::move(j));
  }
  all["version"] = {{"version", std::to_string(p.version)}};
  return all;
}
template <program_type P>
nlohmann::json to_json(P program) {
  return to_json(to_program_message(program));
}

/// Reads JSON that to_json or protobuf wrote. Throws format_error with the path of the member if a
/// member is missing or has another type. It does not check whether the program makes sense;
/// loaded_program does.
template <std::same_as<nlohmann::json> Json>
program_message from_json(const Json& json, const std::string& file = "JSON") {
  using reader = detail::json_reader<Json>;
  const reader all(json, "$", file);
  program_message p;
  all.each("blocks", [&](const reader& j) {
    block_message& b = p.blocks.emplace_back();
    b.index = j.at("idx").integer32();
    b.parent = j.at("parentIdx").integer32();
    j.each("vars", [&](const reader& v) { b.variables.push_back(detail::variable_of(v)); });
    j.each("ops", [&](const reader& op) { b.operators.push_back(detail::operator_of(op)); });
    if (j.has("forwardBlockIdx")) b.forward_block = j.at("forwardBlockIdx").integer32();
  });
  if (all.has("version") && all.at("version").has("version"))
    p.version = all.at("version").at("version").integer();
  if (p.blocks.empty()) all.fail("expected at least one block, found none");
  return p;
}
/// Reads JSON from text. Throws format_error with the offset if the text is not JSON.
template <class Json = nlohmann::json>
program_message from_json_text(std::string_view text, const std::string& file = "JSON") {
  return from_json(detail::parse_json_text<Json>(text, file), file);
}

}}  // namespace lamina
