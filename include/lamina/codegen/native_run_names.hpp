// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/native_run_names.hpp - the names of layers and parameters in repeated runs of
// statements. Parts of names that differ between the runs become arguments of a function.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/codegen/cpp_text.hpp>
#include <lamina/codegen/native_statement.hpp>
#include <lamina/io/fluid/program_message.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// The names in several equal runs. If the names of two runs are "block_0.first" and
/// "block_1.first", the function has the name `lamina::indexed("block", i, "first")` with the
/// argument `int i`. Other differences become arguments of type std::string_view.
class native_run_names {
 public:
  /// names[r] are the literals of run r, in order. `local` are the C++ names that the function
  /// uses.
  native_run_names(const std::vector<std::vector<std::string>>& names, std::set<std::string>& local)
      : runs_(names.size()) {
    for (std::size_t n = 0; n < names[0].size(); ++n) {
      std::vector<std::string> values;
      for (const std::vector<std::string>& run : names)
        values.push_back(run[n].substr(1, run[n].size() - 2));
      expressions_.push_back(expression_of(values, local));
    }
  }

  /// Returns the expression that the function has in place of name n. Arguments in it are marked as
  /// C++ names, so that a function of runs in this function gets them too.
  const std::string& expression(std::size_t n) const { return expressions_[n]; }
  /// Returns the declarations of the arguments.
  std::vector<std::string> parameters() const {
    std::vector<std::string> made;
    for (const argument& a : arguments_)
      made.push_back((a.is_number ? "int " : "std::string_view ") + a.name);
    return made;
  }
  /// Returns the arguments of the call that replaces a run.
  std::vector<std::string> arguments(std::size_t run) const {
    std::vector<std::string> made;
    for (const argument& a : arguments_)
      made.push_back(a.is_number ? std::to_string(a.numbers[run]) : '"' + a.texts[run] + '"');
    return made;
  }

 private:
  struct argument {
    std::string name;
    bool is_number;
    std::vector<int> numbers = {};
    std::vector<std::string> texts = {};
  };

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static std::string quoted(const std::string& text) { return '"' + text + '"'; }

  std::string expression_of(const std::vector<std::string>& values, std::set<std::string>& local) {
    const std::string& first = values[0];
    bool same = true, plain = true;
    for (const std::string& v : values) {
      same = same && v == first;
      // Escapes and multi-byte characters must not be split.
      for (const char c : v) plain = plain && c != '\\' && static_cast<unsigned char>(c) < 0x80;
    }
    if (same) return native_statement::name_mark + quoted(first) + native_statement::end_mark;
    if (!plain) return text_argument(values, local);
    // Finds the common beginning and the common end of all names; they must not split a number.
    std::size_t prefix = first.size(), suffix = first.size(), least = first.size();
    for (const std::string& v : values) {
      const auto ends = std::mismatch(first.begin(), first.end(), v.begin(), v.end());
      const auto begins = std::mismatch(first.rbegin(), first.rend(), v.rbegin(), v.rend());
      prefix = (std::min)(prefix, static_cast<std::size_t>(ends.first - first.begin()));
      suffix = (std::min)(suffix, static_cast<std::size_t>(begins.first - first.rbegin()));
      least = (std::min)(least, v.size());
    }
    while (prefix > 0 && is_digit(first[prefix - 1])) --prefix;
    suffix = (std::min)(suffix, least - prefix);
    while (suffix > 0 && is_digit(first[first.size() - suffix])) --suffix;
    const std::string before = first.substr(0, prefix), after = first.substr(first.size() - suffix);
    std::vector<std::string> middles;
    std::vector<int> numbers;
    for (const std::string& v : values) {
      middles.push_back(v.substr(prefix, v.size() - prefix - suffix));
      const std::string& m = middles.back();
      int number = 0;
      if (!m.empty() && m.size() < 9 && std::all_of(m.begin(), m.end(), is_digit) &&
          read_number(m, number) && std::to_string(number) == m)
        numbers.push_back(number);
    }
    if (numbers.size() < values.size()) {
      const std::string name = text_argument(middles, local);
      if (before.empty() && after.empty()) return name;
      return "lamina::composed_name(" + quoted(before) + ", " + name + ", " + quoted(after) + ")";
    }
    const std::string number = number_argument(numbers, local);
    if (before.size() > 1 && before.back() == '_' &&
        (after.empty() || (after[0] == '.' && after.size() > 1)))
      return "lamina::indexed(" + quoted(before.substr(0, before.size() - 1)) + ", " + number +
             (after.empty() ? "" : ", " + quoted(after.substr(1))) + ")";
    return "lamina::composed_name(" + quoted(before) + ", " + number + ", " + quoted(after) + ")";
  }
  std::string text_argument(const std::vector<std::string>& texts, std::set<std::string>& local) {
    for (const argument& a : arguments_)
      if (!a.is_number && a.texts == texts) return native_statement::identifier(a.name);
    arguments_.push_back({new_name({"name"}, local), false, {}, texts});
    return native_statement::identifier(arguments_.back().name);
  }
  std::string number_argument(const std::vector<int>& numbers, std::set<std::string>& local) {
    for (const argument& a : arguments_) {
      if (!a.is_number) continue;
      const int offset = numbers[0] - a.numbers[0];
      bool fits = true;
      for (std::size_t r = 0; r < runs_; ++r) fits = fits && numbers[r] - a.numbers[r] == offset;
      if (!fits) continue;
      const std::string name = native_statement::identifier(a.name);
      if (offset == 0) return name;
      return name + (offset > 0 ? " + " : " - ") + std::to_string(offset > 0 ? offset : -offset);
    }
    arguments_.push_back({new_name({"i", "j", "k", "n"}, local), true, numbers, {}});
    return native_statement::identifier(arguments_.back().name);
  }
  static std::string new_name(const std::vector<std::string>& usual, std::set<std::string>& local) {
    for (const std::string& name : usual)
      if (local.insert(name).second) return name;
    std::string made;
    for (int i = 2; !local.insert(made = usual[0] + "_" + std::to_string(i)).second;) ++i;
    return made;
  }

  std::size_t runs_;
  std::vector<argument> arguments_;
  std::vector<std::string> expressions_;
};

}}}  // namespace lamina::detail
