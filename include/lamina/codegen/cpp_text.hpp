// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/cpp_text.hpp - pieces of C++ source text: names, literals, lines of 100 columns.
#pragma once

#include <lamina/core/config.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include <lamina/core/dtype.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Returns text as a string literal, with escapes, so that no name in a file can end the literal.
inline std::string text_literal(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      made += '\\';
      made += c;
    } else if (code < 0x20 || code == 0x7f || c == '?') {
      constexpr char digit[] = "01234567";
      made += {'\\', digit[code >> 6], digit[code >> 3 & 7], digit[code & 7]};
    } else {
      made += c;
    }
  }
  return made + "\"";
}

/// Replaces control characters and backslashes by '?', so that the text cannot end or continue the
/// one-line comment into which it is written.
inline std::string in_comment(std::string_view text) {
  std::string made;
  for (const char c : text) {
    const bool ends = static_cast<unsigned char>(c) < 0x20 || c == '\\' || c == 0x7f;
    made += ends ? '?' : c;
  }
  return made;
}

/// Whether a word cannot be the name of a variable in a generated function.
inline bool is_taken_word(std::string_view word) {
  constexpr std::string_view words[] = {"alignas",       "alignof",     "and",
                                        "and_eq",        "asm",         "auto",
                                        "bitand",        "bitor",       "bool",
                                        "break",         "case",        "catch",
                                        "char",          "char16_t",    "char32_t",
                                        "char8_t",       "class",       "co_await",
                                        "co_return",     "co_yield",    "compl",
                                        "concept",       "const",       "consteval",
                                        "constexpr",     "constinit",   "const_cast",
                                        "continue",      "decltype",    "default",
                                        "delete",        "do",          "double",
                                        "dynamic_cast",  "else",        "enum",
                                        "explicit",      "export",      "extern",
                                        "false",         "float",       "for",
                                        "friend",        "goto",        "if",
                                        "inline",        "int",         "long",
                                        "mutable",       "namespace",   "new",
                                        "noexcept",      "not",         "not_eq",
                                        "nullptr",       "operator",    "or",
                                        "or_eq",         "private",     "protected",
                                        "public",        "register",    "reinterpret_cast",
                                        "requires",      "return",      "short",
                                        "signed",        "sizeof",      "static",
                                        "static_assert", "static_cast", "struct",
                                        "switch",        "template",    "this",
                                        "thread_local",  "throw",       "true",
                                        "try",           "typedef",     "typeid",
                                        "typename",      "union",       "unsigned",
                                        "using",         "virtual",     "void",
                                        "volatile",      "wchar_t",     "while",
                                        "xor",           "xor_eq",      "main",
                                        "lamina",        "layer",       "std"};
  for (const std::string_view w : words)
    if (w == word) return true;
  return false;
}

/// Converts the name of a variable of a program to a C++ name: characters other than letters and
/// digits become '_'.
inline std::string identifier_of(std::string_view name) {
  std::string made;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    if (made.empty() && c == '/') continue;  // ONNX names begin with the path of a module
    if (made.empty() && !letter) made = "v";
    if (letter || digit)
      made += c;
    else if (made.back() != '_')  // names with two underscores in a row are reserved
      made += '_';
  }
  if (made.empty()) made = "v";
  if (is_taken_word(made)) made += made.back() == '_' ? "v" : "_";
  return made;
}

/// Writes a number that C++ reads back unchanged, as a float if that is exact.
inline std::string number_text(double value) {
  if (std::isnan(value)) return "std::numeric_limits<float>::quiet_NaN()";
  if (std::isinf(value))
    return std::string(value < 0 ? "-" : "") + "std::numeric_limits<float>::infinity()";
  char digits[40];
  const auto written = [&](auto number) {
    return std::string(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  };
  const bool is_whole = value == std::floor(value) && std::abs(value) < 1e7;
  if (is_whole && !(value == 0 && std::signbit(value)))
    return written(static_cast<long long>(value));
  const bool is_float = static_cast<double>(static_cast<float>(value)) == value;
  std::string text = is_float ? written(static_cast<float>(value)) : written(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return is_float ? text + "f" : text;
}

/// Returns the C++ name of an element type.
inline const char* cpp_type(dtype type) {
  switch (type) {
    case dtype::boolean:
      return "bool";
    case dtype::int16:
      return "std::int16_t";
    case dtype::int32:
      return "std::int32_t";
    case dtype::int64:
      return "std::int64_t";
    case dtype::float64:
      return "double";
    case dtype::uint8:
      return "std::uint8_t";
    case dtype::int8:
      return "std::int8_t";
    default:
      return "float";
  }
}

/// Breaks a statement into lines of at most 100 columns. A line ends after the last of the
/// outermost commas that fit, or else after the last bracket that fits, but never inside a string
/// literal.
inline std::string wrapped(std::string_view statement, std::size_t indent) {
  std::string made;
  std::size_t column = indent;
  for (;;) {
    made += std::string(column, ' ');
    std::size_t end = statement.size(), least = 1000, depth = 0, bracket = 0;
    bool in_text = false;
    for (std::size_t i = 0; column + statement.size() > 100 && i < statement.size(); ++i) {
      const char c = statement[i];
      if (in_text && c == '\\') {
        ++i;
        continue;
      }
      if (c == '"') in_text = !in_text;
      if (in_text) continue;
      if (c == '(' || c == '{' || c == '[' || c == '<') ++depth;
      if ((c == '(' || c == '{') && column + i < 100) bracket = i + 1;
      if ((c == ')' || c == '}' || c == ']' || c == '>') && depth > 0) --depth;
      if (c != ',') continue;
      const bool fits = column + i < 100;
      if (!fits && least < 1000) break;
      if (depth <= least) end = i + 1, least = depth;
      if (!fits) break;
    }
    if (column + end > 100 && bracket > 0 && indent + 4 + end - bracket <= 100) end = bracket;
    made.append(statement.substr(0, end)) += '\n';
    if (end == statement.size()) return made;
    statement.remove_prefix(end);
    while (statement.starts_with(' ')) statement.remove_prefix(1);
    column = indent + 4;
  }
}

}}}  // namespace lamina::detail
