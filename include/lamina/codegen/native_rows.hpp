// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/native_rows.hpp - finds the types of the variables of a program that is written as
// C++. A type contains the name of the variable's rows, so the header finds which variables have
// the same rows.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/codegen/cpp_text.hpp>
#include <lamina/codegen/native_steps.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Finds which variables have the same rows, and the types of the handles of variables.
class native_rows : protected native_steps {
 protected:
  explicit native_rows(const loaded_program& program) : native_steps(program) { find_rows(); }

  // Finds which variables have the same rows. A file does not say which inputs have sequences of
  // the same lengths; but if an operator reads two inputs, their sequences must have the same
  // lengths.
  void find_rows() {
    const auto feed = [&](int v) {
      const int level = level_of(v);
      if (level > 2)
        fail(operators_.size(), "expected at most 2 levels of sequences in '" + name_of(v) + "'");
      if (level == 0 || class_[at(v)] >= 0) return;
      class_[at(v)] = new_classes(v, level, -1);
      classes_[at(class_[at(v)])].feed = v;
      classes_[at(class_[at(v)])].nested = level == 2;
    };
    for (int i = 0; i < p_.count.data; ++i) feed(p_.data[i]);
    for (const operator_desc* op : all_) {
      if (sub_block_of(p_, *op) >= 0 || rows_of_step(*op)) continue;
      const operator_facts& facts = op->schema->facts;
      std::vector<int> inputs;
      each(*op, true, [&](int v) { inputs.push_back(v); });
      std::map<int, int> first;  // the first class with each number of levels
      for (const int v : inputs) {
        if (facts.accepts_any_rows || facts.made_levels > 0 || level_of(v) == 0) continue;
        const int like = first.emplace(level_of(v), v).first->second;
        unite(class_of(v), class_of(like));
      }
      // All items of a tensor array have rows of the same type, and so do all values of a variable.
      const std::string_view type = op->schema->type;
      const bool copies = type == "assign" || type == "write_to_array";
      if (const int x = input(*op, "X"), out = output(*op, "Out");
          copies && x >= 0 && out >= 0 && level_of(x) == level_of(out))
        unite(class_of(x), class_of(out));
      std::map<int, int> made;  // the new class with each number of levels
      each(*op, false, [&](int v) {
        const int level = level_of(v);
        if (!has_rows(v) || class_[at(v)] >= 0) return;
        const auto [found, is_new] = made.emplace(level, -1);
        if (is_new)
          found->second = level == 0 ? rows_outside(inputs) : rows_of_result(*op, v, level, inputs);
        class_[at(v)] = found->second;
      });
    }
  }
  // Returns the class of the rows of a result without sequences. These are the rows of an input
  // without sequences, or else the rows above the outermost sequences of the first input with rows.
  int rows_outside(const std::vector<int>& inputs) {
    for (const int v : inputs)
      if (has_rows(v) && level_of(v) == 0) return class_of(v);
    for (const int v : inputs) {
      if (!has_rows(v)) continue;
      int c = class_of(v);
      while (is_sequence(c)) c = parent_of(c);
      return c;
    }
    return -1;
  }
  int rows_of_result(const operator_desc& op, int v, int level, const std::vector<int>& inputs) {
    const operator_facts& facts = op.schema->facts;
    const int second = inputs.size() > 1 ? inputs[1] : -1;
    if (op.schema->type == std::string_view("sequence_expand") && second >= 0) {
      int copies = class_of(second);
      const double asked = number(op, "ref_level");
      for (int l = level_of(second) - 1; asked >= 0 && l > asked; --l) copies = parent_of(copies);
      int depth = 0;
      for (int c = copies; is_sequence(c); c = parent_of(c)) ++depth;
      return depth == level ? copies : new_class(v, copies);
    }
    if (facts.origin == row_origin::second_operand && second >= 0 && level_of(second) == level)
      return class_of(second);
    int same = -1, above = -1, below = -1;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if ((facts.apart_inputs >> i & 1) != 0) continue;
      const int l = level_of(inputs[i]);
      if (l == level && same < 0) same = class_of(inputs[i]);
      if (l == level + 1 && above < 0) above = parent_of(class_of(inputs[i]));
      if (l == level - 1 && below < 0) below = class_of(inputs[i]);
    }
    if (facts.made_levels > 0) {
      if (facts.made_levels >= level) return new_classes(v, level, rows_outside(inputs));
      return new_class(v, below >= 0 ? below : same >= 0 ? parent_of(same) : -1);
    }
    if (same >= 0) return same;
    return above >= 0 ? above : new_classes(v, level, rows_outside(inputs));
  }
  std::string rows_text(int c) {
    if (c < 0) return "lamina::batch";
    row_class& r = classes_[at(c)];  // this function makes no class, so the reference stays valid
    if (!r.text.empty()) return r.text;
    if (r.kind == row_kind::chosen) {
      r.name = new_name(base_of(r.first) + (r.truth ? ".true" : ".false"));
      return r.text = "lamina::chosen<" + rows_text(root(r.parent)) + ", lamina::row_key<" +
                      text_literal(r.name) + ">>";
    }
    if (r.kind != row_kind::sequence)
      return r.text = "lamina::rank_table_of<" + rows_text(root(r.of)) +
                      (r.kind == row_kind::step ? ">::step" : ">::ranked");
    if (r.nested) {
      r.name = name_of(r.feed);
      r.text = "lamina::nested_tokens<" + text_literal(name_of(r.feed)) + ">";
      const int parent = root(r.parent);
      if (parent >= 0) {
        classes_[at(parent)].text = r.text + "::parent";
        classes_[at(parent)].name = r.name + "/sequences";
      }
      return r.text;
    }
    for (const row_class& other : classes_)  // if c is the outer level of a nested input
      if (other.nested && root(other.parent) == c) {
        r.name = name_of(other.feed) + "/sequences";
        return r.text = "lamina::nested_tokens<" + text_literal(name_of(other.feed)) + ">::parent";
      }
    if (r.name_of >= 0) {
      rows_text(root(r.name_of));
      r.name = classes_[at(root(r.name_of))].name;
    } else {
      r.name = r.feed >= 0 ? name_of(r.feed) : new_name(base_of(r.first));
    }
    const int parent = root(r.parent);
    return r.text = "lamina::tokens<" + text_literal(r.name) +
                    (parent >= 0 ? ", " + rows_text(parent) : "") + ">";
  }
  std::string new_name(const std::string& name) {
    std::string wanted = name;
    for (int i = 2; !row_names_.insert(wanted).second; ++i) wanted = name + "_" + std::to_string(i);
    return wanted;
  }
  std::string rows(int v) {
    if (!has_rows(v)) return "lamina::once";
    return rows_text(class_of(v));
  }
  std::string handle_type(std::size_t k, int v) {
    if (!is_known(v))
      fail(k, "expected known dimensions after the first of '" + name_of(v) + "', found " +
                  std::string(lamina::text().list(dims_of(v))));
    std::string made =
        std::string("lamina::variable<") + cpp_type(p_.variables[v].type) + ", " + rows(v);
    for (const int d : inner(v)) made += ", " + std::to_string(d);
    return made + ">";
  }

  std::set<std::string> row_names_;
};

}}}  // namespace lamina::detail
