// SPDX-License-Identifier: Apache-2.0
// lamina/io/json/json_reader.hpp - parses JSON, reads members of objects and checks
// their types. Errors contain the path of the member.
#pragma once

#include <lamina/core/config.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

// clang-format off
#include <lamina/core/simd/macros_hidden.hpp>
#include <nlohmann/json.hpp>
#include <lamina/core/simd/macros_shown.hpp>
// clang-format on

#include <lamina/core/messages/error.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Parses JSON. Throws format_error, with the offset in `file`, for other texts.
template <class Json>
Json parse_json_text(std::string_view text, const std::string& file) {
  try {
    return Json::parse(text);
  } catch (const typename Json::parse_error& e) {
    throw format_error(file, e.byte == 0 ? 0 : e.byte - 1,
                       std::string("expected JSON, found text that is none (") + e.what() + ")");
  } catch (const typename Json::out_of_range& e) {
    throw format_error(file, 0,
                       std::string("expected numbers of 64 bits, found others (") + e.what() + ")");
  }
}

/// Reads the members of one JSON object; errors contain the path of the wrong member. It is a
/// template, like all code that uses nlohmann's class, so that a program that includes this header
/// but reads no JSON does not instantiate that class.
template <class Json>
class json_reader {
 public:
  json_reader(const Json& value, std::string path, const std::string& file)
      : value_(&value), path_(std::move(path)), file_(&file) {}

  const Json& value() const { return *value_; }
  const std::string& path() const { return path_; }
  const std::string& file() const { return *file_; }

  bool has(const char* name) const { return member(name) != nullptr; }
  json_reader at(const char* name) const {
    const Json* found = member(name);
    if (found == nullptr) fail("expected the member '" + std::string(name) + "', found none");
    return {*found, path_ + "." + name, *file_};
  }
  /// Calls f with each element of a member that is a list. A member that is absent counts as an
  /// empty list.
  template <class F>
  void each(const char* name, F f) const {
    const Json* found = member(name);
    if (found == nullptr) return;
    const std::string path = path_ + "." + name;
    if (!found->is_array()) json_reader(*found, path, *file_).expected("a list");
    for (std::size_t i = 0; i < found->size(); ++i)
      f(json_reader((*found)[i], path + "[" + std::to_string(i) + "]", *file_));
  }
  const json_reader& object() const {
    if (!value_->is_object()) expected("an object");
    return *this;
  }

  std::string text() const {
    if (!value_->is_string()) expected("text");
    return value_->template get<std::string>();
  }
  bool truth() const {
    if (!value_->is_boolean()) expected("true or false");
    return value_->template get<bool>();
  }
  std::int64_t integer(std::int64_t low = (std::numeric_limits<std::int64_t>::min)(),
                       std::int64_t high = (std::numeric_limits<std::int64_t>::max)()) const {
    std::int64_t found = 0;
    if (value_->is_string()) {
      const std::string digits = value_->template get<std::string>();
      const auto [end, status] =
          std::from_chars(digits.data(), digits.data() + digits.size(), found);
      if (status != std::errc{} || end != digits.data() + digits.size()) expected("a whole number");
    } else if (value_->is_number_unsigned() &&
               value_->template get<std::uint64_t>() > std::uint64_t{0x7fffffffffffffff}) {
      expected("a number of 64 bits");
    } else if (value_->is_number_integer()) {
      found = value_->template get<std::int64_t>();
    } else {
      expected("a whole number");
    }
    if (found < low || found > high) expected("a number of the field's range");
    return found;
  }
  std::int32_t integer32() const {
    return static_cast<std::int32_t>(integer((std::numeric_limits<std::int32_t>::min)(),
                                             (std::numeric_limits<std::int32_t>::max)()));
  }
  float real() const {
    if (value_->is_number()) {
      const double found = value_->template get<double>();
      if (std::abs(found) > (std::numeric_limits<float>::max)()) expected("a number of 32 bits");
      return static_cast<float>(found);
    }
    const std::string word = text();
    if (word == "NaN") return std::numeric_limits<float>::quiet_NaN();
    if (word == "Infinity") return std::numeric_limits<float>::infinity();
    if (word == "-Infinity") return -std::numeric_limits<float>::infinity();
    float found = 0;
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), found);
    if (status != std::errc{} || end != word.data() + word.size()) expected("a number");
    return found;
  }
  /// Reads an enumerator that is given by its name or number; returns its number.
  template <std::size_t N>
  int name_of(const char* const (&names)[N]) const {
    if (!value_->is_string()) return static_cast<int>(integer(0, 1000));
    const std::string found = text();
    for (std::size_t i = 0; i < N; ++i)
      if (found == names[i]) return static_cast<int>(i);
    expected("the name of an enumerator");
  }
  [[noreturn]] void expected(const std::string& what) const {
    // Lists and objects are not printed, because printing a value that is a million levels deep
    // would overflow the stack.
    const bool nested = value_->is_structured() && !value_->empty();
    std::string found = nested ? (value_->is_array() ? "a list" : "an object")
                               : value_->dump(-1, ' ', false, Json::error_handler_t::replace);
    if (found.size() > 40) found = found.substr(0, 40) + "...";
    fail("expected " + what + ", found " + found);
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw format_error(*file_, 0, path_ + ": " + what);
  }

 private:
  // "blockIdx" is also read as "block_idx".
  const Json* member(const char* name) const {
    if (!value_->is_object()) expected("an object");
    auto found = value_->find(name);
    if (found == value_->end()) {
      std::string other;
      for (const char* c = name; *c != 0; ++c) {
        if (*c >= 'A' && *c <= 'Z') other += '_';
        other += static_cast<char>(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
      }
      found = value_->find(other);
    }
    return found == value_->end() || found->is_null() ? nullptr : &*found;
  }

  const Json* value_;
  std::string path_;
  const std::string* file_;
};

}}}  // namespace lamina::detail
