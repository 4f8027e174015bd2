// SPDX-License-Identifier: Apache-2.0
// lamina/io/native/native_rows.hpp - the types of variables of a program that is written as C++:
// which variables have the same rows, and the names of these rows.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/text.hpp>
#include <lamina/io/native/cpp_text.hpp>
#include <lamina/io/native/native_records.hpp>

namespace lamina::inline LAMINA_ABI::detail {

/// Rows that form sequences, and the handle types of variables.
class native_rows : protected native_records {
 protected:
  explicit native_rows(const loaded_program& program) : native_records(program) { find_rows(); }

  /// Rows that form sequences, of one type in the source text.
  struct row_class {
    int like;               // another class with the same rows, or its own number
    int parent;             // the class of the sequences' own rows; -1: the samples
    int first;              // the first variable with them
    int feed = -1;          // the first input with them
    bool nested = false;    // of nested_sequence
    std::string text = "";  // the type, when it is known
  };
  int level_of(int v) const { return has_rows(v) ? lod_level_of(p_, p_.variables[v].rows) : 0; }
  int root(int c) {
    while (c >= 0 && classes_[at(c)].like != c) {
      int& like = classes_[at(c)].like;
      c = like = classes_[at(like)].like;
    }
    return c;
  }
  int class_of(int v) { return level_of(v) == 0 ? -1 : root(class_[at(v)]); }
  int new_class(int v, int parent) {
    const int c = static_cast<int>(classes_.size());
    classes_.push_back({c, parent, v});
    return c;
  }
  // A sequence of sequences, and so on; `levels` of them are new.
  int new_classes(int v, int levels, int parent) {
    for (int l = 0; l < levels; ++l) parent = new_class(v, parent);
    return parent;
  }
  // Finds which variables have the same rows. A file does not say that two inputs have sequences of
  // the same lengths, but an operator that reads both needs them.
  void find_rows() {
    class_.assign(at(p_.count.variables), -1);
    for (int i = 0; i < p_.count.data; ++i) {
      const int v = p_.data[i], level = level_of(v);
      if (level > 2)
        fail(operators_.size(), "expected at most 2 levels of sequences in '" + name_of(v) + "'");
      if (level == 0) continue;
      class_[at(v)] = new_classes(v, level, -1);
      classes_[at(class_[at(v)])].feed = v;
      classes_[at(class_[at(v)])].nested = level == 2;
    }
    for (const operator_desc* op : all_) {
      if (sub_block_of(p_, *op) >= 0) continue;
      const operator_facts& facts = op->schema->facts;
      std::vector<int> inputs;
      each(*op, true, [&](int v) { inputs.push_back(v); });
      std::map<int, int> first;  // by level
      for (const int v : inputs) {
        if (facts.accepts_any_rows || facts.made_levels > 0 || level_of(v) == 0) continue;
        const int like = first.emplace(level_of(v), v).first->second;
        if (class_of(like) != class_of(v)) join(class_of(v), class_of(like));
      }
      std::map<int, int> made;  // by level
      each(*op, false, [&](int v) {
        const int level = level_of(v);
        if (level == 0 || class_[at(v)] >= 0) return;
        const auto [found, is_new] = made.emplace(level, -1);
        if (is_new) found->second = rows_of_result(*op, v, level, inputs);
        class_[at(v)] = found->second;
      });
    }
  }
  void join(int a, int b) {
    if (classes_[at(b)].first > classes_[at(a)].first && classes_[at(a)].feed >= 0) std::swap(a, b);
    if (classes_[at(b)].feed < 0) std::swap(a, b);
    classes_[at(a)].like = b;
    const int pa = root(classes_[at(a)].parent), pb = root(classes_[at(b)].parent);
    if (pa >= 0 && pb >= 0 && pa != pb) join(pa, pb);
  }
  int rows_of_result(const operator_desc& op, int v, int level, const std::vector<int>& inputs) {
    const operator_facts& facts = op.schema->facts;
    const int second = inputs.size() > 1 ? inputs[1] : -1;
    if (op.schema->type == std::string_view("sequence_expand") && second >= 0) {
      int copies = class_of(second);
      const double asked = number(op, "ref_level");
      for (int l = level_of(second) - 1; asked >= 0 && l > asked; --l)
        copies = root(classes_[at(copies)].parent);
      int depth = 0;
      for (int c = copies; c >= 0; c = root(classes_[at(c)].parent)) ++depth;
      return depth == level ? copies : new_class(v, copies);
    }
    if (facts.origin == row_origin::second_operand && second >= 0 && level_of(second) == level)
      return class_of(second);
    int same = -1, above = -1, below = -1;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if ((facts.apart_inputs >> i & 1) != 0) continue;
      const int l = level_of(inputs[i]);
      if (l == level && same < 0) same = class_of(inputs[i]);
      if (l == level + 1 && above < 0) above = root(classes_[at(class_of(inputs[i]))].parent);
      if (l == level - 1 && below < 0) below = class_of(inputs[i]);
    }
    if (facts.made_levels > 0) {
      if (facts.made_levels >= level) return new_classes(v, level, -1);
      return new_class(v, below >= 0 ? below : same >= 0 ? root(classes_[at(same)].parent) : -1);
    }
    if (same >= 0) return same;
    return above >= 0 ? above : new_classes(v, level, -1);
  }
  std::string rows_text(int c) {
    row_class& r = classes_[at(c)];
    if (!r.text.empty()) return r.text;
    if (r.nested) {
      r.text = "lamina::nested_tokens<" + text_literal(name_of(r.feed)) + ">";
      const int parent = root(r.parent);
      if (parent >= 0) classes_[at(parent)].text = r.text + "::parent";
      return r.text;
    }
    for (const row_class& other : classes_)  // the rows of samples of a nested input
      if (other.nested && root(other.parent) == c)
        return r.text = "lamina::nested_tokens<" + text_literal(name_of(other.feed)) + ">::parent";
    const int parent = root(r.parent);
    const std::string name = r.feed >= 0 ? name_of(r.feed) : base_of(r.first);
    std::string wanted = name;
    for (int i = 2; r.feed < 0 && !row_names_.insert(wanted).second; ++i)
      wanted = name + "_" + std::to_string(i);
    return r.text = "lamina::tokens<" + text_literal(wanted) +
                    (parent >= 0 ? ", " + rows_text(parent) : "") + ">";
  }
  std::string rows(int v) {
    if (!has_rows(v)) return "lamina::once";
    return level_of(v) == 0 ? "lamina::batch" : rows_text(class_of(v));
  }
  std::string handle_type(std::size_t k, int v) {
    if (!is_known(v))
      fail(k, "expected known dimensions behind the first of '" + name_of(v) + "', found " +
                  std::string(lamina::text().list(dims_of(v))));
    std::string made =
        std::string("lamina::variable<") + cpp_type(p_.variables[v].type) + ", " + rows(v);
    for (const int d : inner(v)) made += ", " + std::to_string(d);
    return made + ">";
  }

  std::vector<int> class_;  // by variable: its rows, -1 without sequences
  std::vector<row_class> classes_;
  std::set<std::string> row_names_;
};

}  // namespace lamina::inline LAMINA_ABI::detail
