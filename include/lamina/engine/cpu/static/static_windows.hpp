// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/static/static_windows.hpp - the states of convolutions over a signal that a
// static evaluator keeps in windows.
//
// Such a convolution reads [state, block], the concatenation of the state and of the next samples,
// and the next state is the end of it. In a program it is
//
//   whole = concat(NAME, x);  y = conv2d(whole);  NAME_next = slice(whole)
//
// A window is memory for `whole` and some blocks more. If the address of `whole` advances by one
// block, each element of the next state lies where the state has to be, since both have the same
// distance between channels; the next block overwrites elements that no later run reads. So
// nothing is copied until the window reaches the end of its memory. Then all of it moves back.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <iterator>
#include <string_view>
#include <type_traits>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/operators/shape/concat/definition.hpp>
#include <lamina/plan/plan.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// A state in a window: the variables of the plan, and the elements of one channel.
struct static_window {
  int data = -1;              // the data layer's number; -1: it is not in a window
  int whole = -1, next = -1;  // the concatenation and the next state
  int past = 0, block = 0;    // elements of the state and of the block, per channel
  int channels = 0;           // per row
  constexpr int length() const { return past + block; }
};

/// The windows of program P, by data layer, and what the variables of its plan are to them.
template <class P>
class static_windows {
  using plan_type = plan<P>;
  static constexpr const auto& lowered = plan_type::lowered;
  static constexpr int variables = lowered.count.variables;

 public:
  static_window of[bound(counts_of<P>.data)];
  bool found = false;

  constexpr static_windows() {
    if (counts_of<P>.blocks > 1 || counts_of<P>.data < 2) return;
    int readers[bound(variables)] = {};
    for (int k = 0; k < lowered.count.instructions; ++k)
      each_operand(k, [&](int v, int) { ++readers[v]; });
    for (int k = 0; k < lowered.count.instructions; ++k) {
      const static_window w = window_at(k, readers);
      if (w.data >= 0) of[w.data] = w, found = true;
    }
  }
  /// The window that contains variable v of the plan, whose number is that of its data layer; -1 if
  /// there is none. A variable that shares the memory of `whole` is in its window.
  constexpr int containing(int v) const {
    const int root = plan_type::same.shares(v) ? plan_type::same.of[v] : v;
    for (int i = 0; found && i < counts_of<P>.data; ++i)
      if (of[i].data >= 0 && of[i].whole == root) return i;
    return -1;
  }
  /// The window whose next state is variable v, or -1.
  constexpr int before(int v) const {
    for (int i = 0; found && i < counts_of<P>.data; ++i)
      if (of[i].data >= 0 && of[i].next == v) return i;
    return -1;
  }

 private:
  static constexpr int root(int v) { return v < 0 ? -1 : lowered.variables[v].root; }
  static constexpr void each_operand(int instruction, auto&& visit) {
    const auto& i = lowered.instructions[instruction];
    for (int a = 0; a < i.input_count; ++a)
      if (const int v = root(lowered.operands[i.inputs + a].id); v >= 0) visit(v, a);
  }
  template <class Op>
  static constexpr bool calls(const instruction& i) {
    return i.head == fusion_anchor::call && same_address(i.schema, &schema_of<Op>());
  }
  static constexpr int integer(const instruction& i, int attribute) {
    const attribute_value v = P::desc.attributes[P::desc.operators[i.op].attributes + attribute];
    return v.count == 1 ? P::desc.integers[v.offset] : -1;
  }

  // The window whose `whole` instruction k computes.
  static constexpr static_window window_at(int k, const int* readers) {
    const auto& join = lowered.instructions[k];
    if (!calls<operators::concat>(join) || join.input_count != 2) return {};
    const int v = root(lowered.operands[join.inputs].id);
    if (v < 0 || v >= P::desc.count.variables) return {};
    const variable_desc& d = P::desc.variables[v];
    static_window w{d.index, root(lowered.results[join.outputs])};
    const int attributes = P::desc.operators[join.op].attributes;
    if (d.kind != variable_kind::data || d.type != dtype::float32 || d.rows != batch::domain ||
        readers[v] != 1 || attributes < 0 || w.whole >= P::desc.count.variables)
      return {};
    const variable_desc& all = P::desc.variables[w.whole];
    const int last = d.rank - 1, axis = static_cast<int>(P::desc.attributes[attributes].number);
    if (last < 1 || all.rank != d.rank || (axis != last && axis != -1)) return {};
    w.past = P::desc.dims[d.dims + last];
    w.block = P::desc.dims[all.dims + last] - w.past;
    w.channels = lowered.variables[v].columns / w.past;
    return is_kept_by(w, v, readers) ? w : static_window{};
  }
  // Whether only convolutions and the slice that makes the next state read the window, and nothing
  // else reads the next state. Sets w.next.
  static constexpr bool is_kept_by(static_window& w, int state, const int* readers) {
    const auto shares = [&](int v) {
      return plan_type::same.shares(v) && plan_type::same.of[v] == w.whole;
    };
    for (int i = 0; i < plan_type::pinned.count; ++i)
      if (root(plan_type::pinned.ids[i]) == w.whole || shares(root(plan_type::pinned.ids[i])))
        return false;
    bool sound = true;
    for (int k = 0; k < lowered.count.instructions; ++k) {
      const auto& i = lowered.instructions[k];
      each_operand(k, [&](int v, int position) {
        if (v != w.whole && !shares(v)) return;
        const int made = i.output_count > 0 ? root(lowered.results[i.outputs]) : -1;
        if (i.head == fusion_anchor::conv) {
          sound = sound && position == 0;
        } else if (v == w.whole && calls<operators::slice>(i) && w.next < 0) {
          w.next = made;
          sound = sound && made >= 0 && readers[made] == 0 && is_end(w, i) && is_next(state, made);
        } else {
          sound = sound && made >= 0 && shares(made);
        }
      });
    }
    return sound && w.next >= 0;
  }
  static constexpr bool is_end(const static_window& w, const instruction& slice) {
    const int rank = P::desc.variables[w.whole].rank;
    const int axis = integer(slice, 0), start = integer(slice, 1);
    return (axis == rank - 1 || axis == -1) && start == w.block &&
           P::desc.variables[w.next].rank == rank &&
           P::desc.dims[P::desc.variables[w.next].dims + rank - 1] == w.past;
  }
  // Whether the data layer has the name NAME, and a layer NAME_next returned the other variable.
  static constexpr bool is_next(int state, int next) {
    constexpr auto& p = P::desc;
    constexpr std::string_view suffix = "_next";
    const name_desc& name = p.names[p.variables[state].base];
    const auto letter = [&](int i) {
      return i < name.length ? p.characters[name.offset + i]
                             : suffix[static_cast<std::size_t>(i - name.length)];
    };
    for (int n = 0; n < p.count.names; ++n) {
      const name_desc& d = p.names[n];
      if (name.key != nullptr || d.key != nullptr || d.output != next ||
          d.length != name.length + static_cast<int>(suffix.size()))
        continue;
      int i = 0;
      while (i < d.length && p.characters[d.offset + i] == letter(i)) ++i;
      if (i == d.length) return true;
    }
    return false;
  }
};

/// The elements of a state in a window, in the order of the data layer: [Rows, channels, Past].
template <class T, int Rows, int Columns, int Past>
class window_view {
 public:
  /// The distances from one channel to the next, and from one row to the next, in elements.
  struct steps {
    int channel, row;
  };
  class iterator {
   public:
    using value_type = std::remove_const_t<T>;
    using difference_type = std::ptrdiff_t;
    using reference = T&;
    using pointer = T*;
    using iterator_category = std::forward_iterator_tag;

    iterator() = default;
    iterator(const window_view& of, int at) : of_(of), at_(at) {}
    T& operator*() const { return of_.at(at_); }
    iterator& operator++() { return ++at_, *this; }
    iterator operator++(int) { return {of_, at_++}; }
    friend iterator operator+(const iterator& i, difference_type n) {
      return {i.of_, i.at_ + static_cast<int>(n)};
    }
    bool operator==(const iterator& other) const { return at_ == other.at_; }

   private:
    window_view of_{};
    int at_ = 0;
  };

  static constexpr std::size_t extent = std::size_t{Rows} * Columns;

  window_view() = default;
  window_view(T* first, steps by) : first_(first), by_(by) {}
  static constexpr std::size_t size() { return extent; }
  T& operator[](std::size_t i) const { return at(static_cast<int>(i)); }
  iterator begin() const { return {*this, 0}; }
  iterator end() const { return {*this, Rows * Columns}; }

 private:
  T& at(int i) const {
    const int column = i % Columns;
    return first_[i / Columns * by_.row + column / Past * by_.channel + column % Past];
  }

  T* first_ = nullptr;
  steps by_{};
};

}}}  // namespace lamina::engine::cpu
