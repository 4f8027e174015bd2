// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/native_statement.hpp - the statements of a program that is written as C++. Marks
// enclose C++ names, the names of layers and parameters, and the sizes of layers, so that repeated
// statements can be compared without them.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/codegen/cpp_text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// A statement, and the statements of its body, if it has one. In its text, marks enclose C++
/// names, the literals that name layers and parameters, and sizes of layers. A literal never
/// contains mark characters, because text_literal escapes them.
struct native_statement {
  static constexpr char identifier_mark = '\x01', name_mark = '\x03', size_mark = '\x04',
                        end_mark = '\x02';

  std::string text;
  std::vector<native_statement> body = {};
  std::string end = "";     // the line after the body
  bool is_call = false;     // calls a function that native_repeats made
  bool is_last = false;     // a return statement
  std::string source = "";  // the node from which it comes; a comment shows it

  static std::string identifier(std::string_view name) {
    return identifier_mark + std::string(name) + end_mark;
  }
  /// Returns the C++ name of a block in the text. Variables never get such names.
  static std::string block_name(int number) {
    return number == 0 ? "main" : "body_" + std::to_string(number);
  }
  static bool is_block_name(std::string_view name) {
    constexpr std::string_view body = "body_";
    return name == "main" || (name.starts_with(body) && name.size() > body.size() &&
                              name.find_first_not_of("0123456789", body.size()) == name.npos);
  }
  /// Returns the literal that names a layer or a parameter, with marks.
  static std::string name(std::string_view name) {
    return name_mark + text_literal(name) + end_mark;
  }
  /// Returns the size of a layer, such as the number of its filters, with marks.
  static std::string size(std::string_view number) {
    return size_mark + std::string(number) + end_mark;
  }
  static std::string plain(std::string_view marked) {
    std::string made;
    for (const char c : marked)
      if (c != identifier_mark && c != name_mark && c != size_mark && c != end_mark) made += c;
    return made;
  }
  /// Calls f(mark, word, is_made) for each marked word, in order. `is_made` tells whether this
  /// statement declares the C++ name.
  template <class F>
  static void each_word(std::string_view text, const F& f) {
    constexpr std::string_view block = "lamina::block& ";
    const std::size_t left = text.starts_with("auto ") ? text.find(" = ") : 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != identifier_mark && text[i] != name_mark && text[i] != size_mark) continue;
      const std::size_t end = text.find(end_mark, i);
      f(text[i], text.substr(i + 1, end - i - 1), i < left || text.substr(0, i).ends_with(block));
      i = end;
    }
  }
  template <class F>
  void each_word(const F& f) const {
    each_word(text, f);
    for (const native_statement& s : body) s.each_word(f);
  }
  /// Returns the statement with f(mark, word) in place of each marked word.
  template <class F>
  native_statement with_words(const F& f) const {
    native_statement made = *this;
    made.text.clear();
    std::size_t from = 0;
    each_word(text, [&](char mark, std::string_view word, bool) {
      const std::size_t at = static_cast<std::size_t>(word.data() - text.data()) - 1;
      made.text.append(text, from, at - from).append(f(mark, word));
      from = at + word.size() + 2;
    });
    made.text.append(text, from);
    for (native_statement& s : made.body) s = s.with_words(f);
    return made;
  }
  /// Returns the text of the statement without marks, in lines that begin with `indent` spaces.
  std::string lines(std::size_t indent) const {
    std::string made = wrapped(plain(text), indent) + lines_of(body, indent + 2);
    if (!end.empty()) made += wrapped(end, indent);
    return made;
  }
  /// Returns the text of statements. Where the module of the nodes from which they come changes, a
  /// comment has the name of the node.
  static std::string lines_of(const std::vector<native_statement>& all, std::size_t indent) {
    std::string made;
    std::string_view module = "-";  // not the module of any node
    for (const native_statement& s : all) {
      const std::string_view own = std::string_view(s.source).substr(0, s.source.rfind('/'));
      if (!s.source.empty() && own != module) {
        const std::size_t room = 97 - indent;
        std::string comment = in_comment(s.source);
        if (comment.size() > room) comment = "..." + comment.substr(comment.size() - room + 3);
        made += std::string(indent, ' ') + "// " + comment + '\n';
        module = own;
      }
      made += s.lines(indent);
    }
    return made;
  }
};

}}}  // namespace lamina::detail
