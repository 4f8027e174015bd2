// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/native_row_classes.hpp - classes of the rows in a program that is written as C++:
// elements of sequences, rows of a time step, and rows that a condition selects.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <lamina/codegen/native_minimize.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Puts variables with the same rows into one class.
class native_row_classes : protected native_minimize {
 protected:
  explicit native_row_classes(const loaded_program& program) : native_minimize(program) {
    class_.assign(at(p_.count.variables), -1);
  }

  /// The kind of the rows of a class. `sequence`: the elements of sequences. `step`: the rows of
  /// one time step of the sequences `of`. `ranked`: one row per sequence of `of`, sorted by length.
  /// `chosen`: the rows of the parent for which the mask `of` has the value `truth`.
  enum class row_kind { sequence, step, ranked, chosen };
  /// A class of rows; they have one type in the source text.
  struct row_class {
    int like;  // the class that this class was merged into, or the number of this class
    // The class with one row per sequence, or from which the rows are chosen; -1: samples.
    int parent;
    int first;              // the first variable with these rows
    int feed = -1;          // the first input with these rows
    bool nested = false;    // the rows are the inner level of a nested_sequence
    std::string text = "";  // the type in the source text, or empty
    row_kind kind = row_kind::sequence;
    int of = -1;            // a class of sequences, or a variable that is a mask
    bool truth = false;     // the value of the mask
    int name_of = -1;       // the class of sequences whose name this class uses, or -1
    std::string name = "";  // the name in the type, once it is known
  };
  int level_of(int v) const { return has_rows(v) ? lod_level_of(p_, p_.variables[v].rows) : 0; }
  int root(int c) {
    while (c >= 0 && classes_[at(c)].like != c) {
      int& like = classes_[at(c)].like;
      c = like = classes_[at(like)].like;
    }
    return c;
  }
  int parent_of(int c) { return c < 0 ? -1 : root(classes_[at(root(c))].parent); }
  /// Returns the class of a variable's rows; -1 if its rows are the samples or it has no rows.
  int class_of(int v) { return root(class_[at(v)]); }
  int new_class(int v, int parent) {
    const int c = static_cast<int>(classes_.size());
    classes_.push_back({c, parent, v});
    return c;
  }
  // Makes `levels` classes of nested sequences below `parent`, and returns the innermost.
  int new_classes(int v, int levels, int parent) {
    for (int l = 0; l < levels; ++l) parent = new_class(v, parent);
    return parent;
  }
  bool is_sequence(int c) { return c >= 0 && classes_[at(root(c))].kind == row_kind::sequence; }
  /// Merges two classes of sequences, and their parents. Does nothing if one of them depends on the
  /// other.
  void unite(int a, int b) {
    a = root(a), b = root(b);
    if (a == b || !is_sequence(a) || !is_sequence(b) || lies_on(a, b) || lies_on(b, a)) return;
    if (place(a) < place(b)) std::swap(a, b);
    classes_[at(a)].like = b;
    const int pa = root(classes_[at(a)].parent), pb = root(classes_[at(b)].parent);
    if (pa >= 0 && pb >= 0 && pa != pb) unite(pa, pb);
  }
  /// Returns the class with these properties; if there is none, makes one, with v as its first
  /// variable.
  int class_like(int v, row_kind kind, int parent, int of, bool truth) {
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      const row_class& r = classes_[c];
      const bool is_mask = kind == row_kind::chosen;
      if (r.kind == kind && r.truth == truth && (is_mask ? r.of == of : root(r.of) == root(of)))
        return root(static_cast<int>(c));
    }
    const int made = new_class(v, parent);
    row_class& r = classes_[at(made)];
    r.kind = kind;
    r.of = of;
    r.truth = truth;
    return made;
  }
  /// Returns the class of the rows that c becomes if the rows `from` are replaced by `to`. c may be
  /// `from`, or sequences nested below it; if it is neither, returns c.
  int replaced(int v, int c, int from, int to) {
    c = root(c), from = root(from);
    if (c == from) return to;
    if (!is_sequence(c)) return c;
    const int parent = parent_of(c), other = replaced(v, parent, from, to);
    if (root(other) == parent) return c;
    const auto origin = [&](int k) {
      const int lends = classes_[at(k)].name_of;
      return root(lends >= 0 ? lends : k);
    };
    for (std::size_t k = 0; k < classes_.size(); ++k) {
      const int found = root(static_cast<int>(k));
      if (found != c && is_sequence(found) && origin(found) == origin(c) &&
          parent_of(found) == root(other))
        return found;
    }
    const int made = new_class(v, other);
    classes_[at(made)].name_of = origin(c);
    return made;
  }

 private:
  // Returns the position of a class among the inputs of the program. When two classes are merged,
  // the class of the earlier input stays.
  std::size_t place(int c) const {
    const int v = classes_[at(c)].feed;
    if (v < 0) return ~std::size_t{0};
    const variable_desc& d = p_.variables[v];
    return d.kind == variable_kind::data ? at(d.index) : ~std::size_t{0} - 1;
  }
  // Whether the rows c are derived from the rows `of`.
  bool lies_on(int c, int of) {
    while (c >= 0) {
      const row_class& r = classes_[at(c)];
      const bool steps = r.kind == row_kind::step || r.kind == row_kind::ranked;
      c = root(steps ? r.of : r.parent);
      if (c == of) return true;
    }
    return false;
  }

 protected:
  // For each variable, the class of its rows; -1 for the samples or no rows.
  std::vector<int> class_;
  std::vector<row_class> classes_;
};

}}}  // namespace lamina::detail
