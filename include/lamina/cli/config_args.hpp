// SPDX-License-Identifier: Apache-2.0
// lamina/cli/config_args.hpp - the arguments of --config_args, which a configuration reads.
#pragma once

#include <lamina/core/config.hpp>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/nearest_word.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The arguments of a flag such as `--config_args=batch_size=64,data=./reviews`. A configuration
/// reads them by name: `args.get("batch_size", 128)`. PaddlePaddle v2: get_config_arg.
class config_args {
 public:
  config_args() = default;
  /// Splits "name=value,name=value". Throws lamina::error for a part without a name or "=", and for
  /// a name that is given twice.
  LAMINA_COLD explicit config_args(std::string_view letters) {
    while (!letters.empty()) {
      const std::size_t end = (std::min)(letters.find(','), letters.size());
      const std::string_view part = letters.substr(0, end);
      letters.remove_prefix((std::min)(end + 1, letters.size()));
      const std::size_t equals = part.find('=');
      if (equals == part.npos || equals == 0)
        throw error(text() << "lamina: --config_args: expected name=value, found '" << part << "'");
      const std::string_view name = part.substr(0, equals);
      if (find(name) != nullptr)
        throw error(text() << "lamina: --config_args: expected each name once, found '" << name
                           << "' twice");
      all_.push_back({std::string(name), std::string(part.substr(equals + 1)), false});
    }
  }

  /// Returns the value of an argument, or `otherwise` if the command line does not contain the
  /// argument. The type of `otherwise` is the type of the value; throws lamina::error for a value
  /// that does not have this type.
  std::string get(std::string_view name, std::string_view otherwise) const {
    const argument* const a = note(name);
    return a == nullptr ? std::string(otherwise) : a->value;
  }
  std::string get(std::string_view name, const char* otherwise) const {
    return get(name, std::string_view(otherwise));
  }
  bool get(std::string_view name, bool otherwise) const {
    const argument* const a = note(name);
    if (a == nullptr) return otherwise;
    for (const std::string_view yes : {"true", "True", "1"})
      if (a->value == yes) return true;
    for (const std::string_view no : {"false", "False", "0"})
      if (a->value == no) return false;
    fail(*a, "true or false");
  }
  template <class T>
  requires((std::integral<T> || std::floating_point<T>)&&!std::same_as<T, bool>) T
      get(std::string_view name, T otherwise)
  const {
    const argument* const a = note(name);
    if (a == nullptr) return otherwise;
    T value{};
    const char *const begin = a->value.data(), *const end = begin + a->value.size();
    const auto [stop, status] = std::from_chars(begin, end, value);
    if (status != std::errc{} || stop != end)
      fail(*a, std::integral<T> ? "a whole number" : "a number");
    return value;
  }

  /// Throws lamina::error for an argument that no call of get() has read: its name is probably
  /// misspelt.
  LAMINA_COLD void require_all_read() const {
    for (const argument& a : all_)
      if (!a.is_read) {
        const std::vector<std::string_view> known(asked_.begin(), asked_.end());
        const std::string_view nearest = nearest_word(a.name, known);
        throw error(text() << "lamina: --config_args: the configuration reads no '" << a.name << "'"
                           << (nearest.empty() ? "; it takes no arguments" : "; the nearest is '")
                           << nearest << (nearest.empty() ? "" : "'"));
      }
  }

 private:
  struct argument {
    std::string name, value;
    mutable bool is_read;
  };
  const argument* find(std::string_view name) const {
    for (const argument& a : all_)
      if (a.name == name) return &a;
    return nullptr;
  }
  LAMINA_COLD const argument* note(std::string_view name) const {
    asked_.emplace_back(name);
    const argument* const found = find(name);
    if (found != nullptr) found->is_read = true;
    return found;
  }
  [[noreturn]] LAMINA_COLD static void fail(const argument& a, std::string_view expected) {
    throw error(text() << "lamina: --config_args: " << a.name << ": expected " << expected
                       << ", found '" << a.value << "'");
  }

  std::vector<argument> all_;
  mutable std::vector<std::string> asked_;
};

}}  // namespace lamina
