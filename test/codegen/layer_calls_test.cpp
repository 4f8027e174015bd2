// SPDX-License-Identifier: Apache-2.0
// Every row of the table names an operator, and slots and attributes that this operator has.
#include <cctype>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include <lamina/codegen/layer_calls.hpp>
#include <lamina/executor/operator_registry.hpp>

namespace {

bool has_slot(const lamina::operator_schema& schema, std::string_view name) {
  for (int i = 0; i < schema.input_count; ++i)
    if (schema.inputs[i].name == name) return true;
  for (int i = 0; i < schema.output_count; ++i)
    if (schema.outputs[i].name == name) return true;
  return false;
}
bool has_attribute(const lamina::operator_schema& schema, std::string_view name) {
  for (int i = 0; i < schema.attribute_count; ++i)
    if (schema.attributes[i].name == name) return true;
  return false;
}

/// The words of a call behind its function, without values and names of its own.
std::string unknown_word(const lamina::operator_schema& schema, std::string call) {
  if (const std::size_t key = call.find("key "); key != std::string::npos) call.resize(key);
  std::size_t at = call.find_first_of("<(");
  while (at < call.size()) {
    const char before = call[at - 1 + (at == 0 ? 1 : 0)];
    if (std::isalpha(static_cast<unsigned char>(call[at])) == 0) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < call.size() &&
           (std::isalnum(static_cast<unsigned char>(call[end])) != 0 || call[end] == '_'))
      ++end;
    const std::string word = call.substr(at, end - at);
    const char behind = end < call.size() ? call[end] : ' ';
    at = end;
    // A value, a word of native_calls.hpp, the option's own name, the kind of a parameter.
    const bool own = behind == ':' || behind == '@' || behind == '?';
    if (before == '=' || before == '-' || before == '$' || before == '&' || before == '.' || own ||
        std::isdigit(static_cast<unsigned char>(before)) != 0)
      continue;
    if (!has_slot(schema, word) && !has_attribute(schema, word)) return word;
  }
  return {};
}

}  // namespace

TEST_CASE("layer calls: types, slots and attributes are those of the library") {
  std::set<std::string_view> types;
  for (const lamina::detail::layer_call& row : lamina::detail::layer_calls) {
    INFO(row.type);
    CHECK(types.insert(row.type).second);
    const auto& forms = lamina::known_operators().forms(row.type);
    REQUIRE(!forms.empty());
    CHECK(unknown_word(*forms[0], std::string(row.call)) == "");
  }
  // What the check notices.
  const lamina::operator_schema& schema = *lamina::known_operators().forms("leaky_relu").at(0);
  CHECK(unknown_word(schema, "leaky_relu(X; alpha=0.02)") == "");
  CHECK(unknown_word(schema, "leaky_relu(Y; alpha)") == "Y");
  CHECK(unknown_word(schema, "leaky_relu<axis=-1>(X)") == "axis");
  CHECK(unknown_word(schema, "leaky_relu(X; own:beta=1)") == "beta");
}
