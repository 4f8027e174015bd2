// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/native_row_classes.hpp - classifies the rows in a program that is written as
// C++: sequences, rows of a time step, rows that a condition selects.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <lamina/codegen/native_minimize.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Classes of variables with the same rows.
class native_row_classes : protected native_minimize {
 protected:
  explicit native_row_classes(const loaded_program& program) : native_minimize(program) {
    class_.assign(at(p_.count.variables), -1);
  }

  /// The kind of rows of a class: elements of sequences (sequence); rows of a time step of the
  /// sequences `of` (step); all sequences sorted by their lengths (ranked); rows of the parent for
  /// which the mask `of` has a given value (chosen).
  enum class row_kind { sequence, step, ranked, chosen };
  /// A class of rows that have one type in the source text.
  struct row_class {
    int like;       // another class with the same rows, or its own number
    int parent;     // the class whose rows have these sequences, or are chosen from; -1: samples
    int first;      // the first variable with these rows
    int feed = -1;  // the first input with these rows
    bool nested = false;    // whether it is an inner level of nested_sequence
    std::string text = "";  // the type, when it is known
    row_kind kind = row_kind::sequence;
    int of = -1;            // a class of sequences, or a variable that is a mask
    bool truth = false;     // the value of the mask
    int name_of = -1;       // the class of sequences whose name it uses
    std::string name = "";  // the name in the type, when it is known
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
  /// Returns the class of a variable's rows; -1 for the samples or for no rows.
  int class_of(int v) { return root(class_[at(v)]); }
  int new_class(int v, int parent) {
    const int c = static_cast<int>(classes_.size());
    classes_.push_back({c, parent, v});
    return c;
  }
  // Makes a class of nested sequences; `levels` levels are new.
  int new_classes(int v, int levels, int parent) {
    for (int l = 0; l < levels; ++l) parent = new_class(v, parent);
    return parent;
  }
  bool is_sequence(int c) { return c >= 0 && classes_[at(root(c))].kind == row_kind::sequence; }
  /// Merges two classes of sequences.
  void join(int a, int b) {
    a = root(a), b = root(b);
    if (a == b || !is_sequence(a) || !is_sequence(b) || lies_on(a, b) || lies_on(b, a)) return;
    if (place(a) < place(b)) std::swap(a, b);
    classes_[at(a)].like = b;
    const int pa = root(classes_[at(a)].parent), pb = root(classes_[at(b)].parent);
    if (pa >= 0 && pb >= 0 && pa != pb) join(pa, pb);
  }
  /// Returns the class of this kind, and makes it for variable v if there is none.
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
  /// Replaces the rows `from` by `to` in the rows c, which may be `from` or nested below them;
  /// returns c itself if it does not depend on `from`.
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
  // Returns the position of a class among the inputs; when classes are merged, the first input
  // defines the rows.
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
  std::vector<int> class_;  // by variable: its rows, -1 for the samples or none
  std::vector<row_class> classes_;
};

}}}  // namespace lamina::detail
