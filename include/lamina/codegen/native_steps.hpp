// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/native_steps.hpp - finds the rows of the results of two kinds of operators: those
// that process sequences step by step, and those that split rows by a mask.
#pragma once

#include <lamina/core/config.hpp>

#include <map>
#include <string_view>

#include <lamina/codegen/native_row_classes.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Finds rows of time steps and of branches.
class native_steps : protected native_row_classes {
 protected:
  using native_row_classes::native_row_classes;

  /// If the results of an operator have the rows of a time step or of a branch, finds the classes
  /// of these rows and returns true; otherwise returns false.
  bool rows_of_step(const operator_desc& op) {
    const std::string_view type = op.schema->type;
    const int x = input(op, "X"), out = output(op, "Out");
    if (type == "lod_rank_table" && x >= 0 && out >= 0) {
      int c = class_of(x);
      for (int l = level_of(x) - 1; l > number(op, "level") && is_sequence(c); --l)
        c = parent_of(c);
      if (is_sequence(c)) {
        tables_[out] = c;
        class_[at(out)] = parent_of(c);
      }
      return true;
    }
    if (type == "split_lod_tensor") return rows_of_split(op, x);
    if (type == "merge_lod_tensor") return rows_of_merge(op, out);
    const bool fills = type == "fill_constant_batch_size_like";
    const auto found = tables_.find(input(op, fills ? "Input" : "RankTable"));
    if (found == tables_.end() || out < 0 || type == "max_sequence_len") return false;
    const int s = root(found->second), above = parent_of(s);
    const auto step = [&] { return class_like(out, row_kind::step, above, s, false); };
    const auto ranked = [&] { return class_like(out, row_kind::ranked, above, s, false); };
    if (fills) {
      set(out, ranked());
    } else if (type == "lod_tensor_to_array" && x >= 0) {
      int c = class_of(x);  // becomes the level of x that has the sequences of the table
      for (int l = depth_of(c) - depth_of(s); l > 0; --l) c = parent_of(c);
      if (depth_of(c) == depth_of(s)) unite(c, s);
      set(out, replaced(out, class_of(x), s, step()));
    } else if (type == "array_to_lod_tensor" && x >= 0) {
      set(out, replaced(out, class_of(x), step(), root(s)));
    } else if (type == "shrink_rnn_memory" && x >= 0) {
      set(out, replaced(out, class_of(x), ranked(), step()));
    } else if (type == "reorder_lod_tensor_by_rank" && x >= 0) {
      set(out, replaced(out, class_of(x), above, ranked()));
    } else if (type == "last_rnn_memory") {
      set(out, above);
    } else {
      return false;
    }
    return true;
  }
  /// Returns the class of the rows that a mask selects.
  int chosen_rows(int mask, bool truth, int v) {
    return class_like(v, row_kind::chosen, class_of(mask), mask, truth);
  }

 private:
  void set(int v, int c) {
    if (class_[at(v)] < 0) class_[at(v)] = c;
  }
  int depth_of(int c) {
    int depth = 0;
    for (; is_sequence(c); c = parent_of(c)) ++depth;
    return depth;
  }
  bool rows_of_split(const operator_desc& op, int x) {
    const int mask = input(op, "Mask");
    if (mask < 0 || x < 0) return false;
    for (const bool truth : {true, false})
      if (const int v = output(op, truth ? "OutTrue" : "OutFalse"); v >= 0 && !is_left_out(v))
        set(v, replaced(v, class_of(x), class_of(mask), chosen_rows(mask, truth, v)));
    return true;
  }
  bool rows_of_merge(const operator_desc& op, int out) {
    const int mask = input(op, "Mask"), yes = input(op, "InTrue"), no = input(op, "InFalse");
    if (mask < 0 || out < 0 || (yes < 0 && no < 0)) return false;
    const int side = yes >= 0 ? yes : no;
    set(out, replaced(out, class_of(side), chosen_rows(mask, yes >= 0, side), class_of(mask)));
    return true;
  }

  std::map<int, int> tables_;  // for each rank table, the class of its sequences
};

}}}  // namespace lamina::detail
