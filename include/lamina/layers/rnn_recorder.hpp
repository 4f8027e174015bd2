// SPDX-License-Identifier: Apache-2.0
// lamina/layers/rnn_recorder.hpp - what the steps of static_rnn and dynamic_rnn have in common.
#pragma once

#include <lamina/layers/conditional.hpp>
#include <lamina/layers/while_loop.hpp>
#include <lamina/operators/tensor_array.hpp>

namespace lamina {

/// Dimensions as an argument: `step.memory(lamina::dims<128>)`.
template <int... D>
inline constexpr dims_list<D...> dims{};

namespace layer {

/// Options of a step's memory.
struct memory_attr {
  float value = 0;  // of every element before the first step
};

namespace detail {

/// A step records some operators into the block around the loop, reads arrays at the number of the
/// step, and keeps memories: arrays whose value 0 is written outside, value t + 1 by step t.
class rnn_recorder {
 public:
  constexpr rnn_recorder(program_builder& b, int outer, const variable<std::int64_t, once, 1>& i,
                         int zero)
      : b_(b), outer_(outer), zero_(zero), i_(i) {}

  /// Stores what was updated; `next` is the number of the next step.
  constexpr void finish(int next, int line) {
    for (int i = 0; i < memories_.count; ++i) {
      if (memories_[i].next < 0) b_.report(fault_kind::no_memory, line, {}, nullptr, 0, nullptr, 0);
      const int value = memories_[i].next < 0 ? memories_[i].value : memories_[i].next;
      b_.add_operator(schema_of<write_to_array>(), {value, next}, {memories_[i].array});
    }
  }

 protected:
  struct stored_memory {
    int value;  // in this step
    int array;  // by step
    int next;   // or -1
  };

  // To the block around the loop; returns that of the step.
  constexpr int leave() {
    const int here = b_.current_block;
    b_.current_block = outer_;
    return here;
  }
  template <class Item>
  constexpr int new_array(layer_helper& layer) {
    const int array = layer.template output<Item>().id;
    b_.variables[array].kind = variable_kind::tensor_array;
    return array;
  }
  template <class Item>
  constexpr Item read(int array) {
    layer_helper layer(b_, "array_read");
    const int made = layer.template output<Item>().id;
    b_.add_operator(schema_of<read_from_array>(), {array, i_.id}, {made});
    return {&b_, made};
  }
  // An array, made in the outer block, with a first value.
  template <class Item>
  constexpr int memory_array(int first) {
    layer_helper layer(b_, "memory");
    const int array = new_array<Item>(layer);
    b_.add_operator(schema_of<write_to_array>(), {first, zero_}, {array});
    return array;
  }
  constexpr void remember(int value, int array) { memories_.push({value, array, -1}); }
  constexpr void set_next(int memory, int next, int line) {
    for (int i = 0; i < memories_.count; ++i)
      if (memories_[i].value == memory) {
        memories_[i].next = next;
        return;
      }
    b_.report(fault_kind::no_memory, line, {}, nullptr, 0, nullptr, 0);
  }

  program_builder& b_;
  int outer_;
  int zero_;
  const variable<std::int64_t, once, 1>& i_;

 private:
  growing<stored_memory> memories_{};
};

/// Records the loop over the steps 0 to `end` of a recurrence. `begin(i, zero)` is what `step` is
/// called with: `i` is the number of the step, `zero` a variable that holds 0. What `step` returns,
/// `Items`, is written to an array each, at the number of the step; `arrays` are these.
template <class Items, class Begin, class F>
constexpr void record_steps(layer_helper& layer, const variable<std::int64_t, once, 1>& end,
                            int (&arrays)[Items::count], const Begin& begin, F& step, int line) {
  program_builder& b = layer.builder();
  block here{&b, b.current_block};
  Items::make(layer, arrays);
  for (const int array : arrays) b.variables[array].kind = variable_kind::tensor_array;
  auto i = fill_constant<std::int64_t>(here, 0);
  const int zero = i.id;
  auto going = less_than(i, end);
  while_loop(
      going,
      [&](block&) {
        auto now = begin(i, zero);
        int made[Items::count];
        Items::ids(as_tuple(step(now)), made);
        for (int k = 0; k < Items::count; ++k)
          b.add_operator(schema_of<write_to_array>(), {made[k], i.id}, {arrays[k]});
        increment(i);
        now.finish(i.id, line);
        less_than(i, end, going);
      },
      {}, line);
}

/// The type with rows To instead of From.
template <class V, class From, class To>
struct with_replaced_rows;
template <class T, class R, int... D, class From, class To>
struct with_replaced_rows<variable<T, R, D...>, From, To> {
  static constexpr bool found = __is_same(R, From);
  using type = variable<T, To, D...>;
};
template <class... V, class From, class To>
struct with_replaced_rows<std::tuple<V...>, From, To> {
  static constexpr bool found = (with_replaced_rows<V, From, To>::found && ...);
  using type = std::tuple<typename with_replaced_rows<V, From, To>::type...>;
};

}  // namespace detail
}  // namespace layer
}  // namespace lamina
