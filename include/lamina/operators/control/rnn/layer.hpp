// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/rnn/layer.hpp - code that static_rnn and dynamic_rnn share.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/control/array/definition.hpp>
#include <lamina/operators/control/block/layer_conditional.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/operators/fill/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A list of dimensions as a type.
template <int... D>
struct dims_list {};

/// A list of dimensions as a function argument: `step.memory(lamina::dims<128>)`.
template <int... D>
inline constexpr dims_list<D...> dims{};

namespace layer {

/// Options of a memory: a variable that carries a value from each step to the next.
struct memory_attr {
  float value = 0;  // initial value of every element
};

namespace detail {

/// The type of the options of memory(Init). Only a memory whose elements all begin with the same
/// number has options; a memory that begins with a variable has none.
struct no_memory_attr {};
template <class Init>
struct memory_options {
  using type = no_memory_attr;
};
template <int... D>
struct memory_options<dims_list<D...>> {
  using type = memory_attr;
};
template <class Init>
using memory_attr_of = typename memory_options<Init>::type;

/// The value of a memory after the last step. The step function returns it as `step.last(memory)`;
/// the recurrence turns it into a variable of type V.
template <class V>
struct last_state {
  using type = V;
  int id;  // the array that holds the memory
};
template <class E>
inline constexpr bool is_last = false;
template <class V>
inline constexpr bool is_last<last_state<V>> = true;

/// Whether a step function may return E: a variable, a last state, or a tuple of variables and last
/// states. The test is also needed after errors: if a step function does not compile, clang reports
/// the error and continues with the return type int.
template <class E>
inline constexpr bool is_step_result = is_variable<E> || is_last<E>;
template <class... E>
inline constexpr bool is_step_result<std::tuple<E...>> = sizeof...(E) > 0 &&
                                                         (is_step_result<E> && ...);

/// Variables of the block around the loop that a step needs in order to read its inputs.
struct step_numbers {
  const variable<std::int64_t, once, 1>& count;  // the step's number: 0, 1, 2, ...
  const variable<std::int64_t, once, 1>& index;  // index at which the step reads its inputs
  int zero;                                      // holds 0
};

/// The base class of the step objects of static_rnn and dynamic_rnn. It splits inputs into arrays
/// by operators that it records in the block around the loop, and reads these arrays at the index
/// of the current step. It also manages the memories. Each memory is an array: slot 0 is written
/// before the loop, and step t writes slot t + 1.
class rnn_recorder {
 public:
  constexpr rnn_recorder(program_builder& b, int outer, const step_numbers& now)
      : b_(b), outer_(outer), now_(now) {}

  /// Records the writes of the memories' new values at the end of a step. `next` is the variable
  /// that holds the number of the next step.
  constexpr void finish(int next, int line) {
    for (int i = 0; i < memories_.count; ++i) {
      if (memories_[i].next < 0) b_.report(fault_kind::no_memory, line, {}, nullptr, 0, nullptr, 0);
      const int value = memories_[i].next < 0 ? memories_[i].value : memories_[i].next;
      b_.add_operator(schema_of<operators::write_to_array>(), {value, next}, {memories_[i].array});
    }
  }

 protected:
  struct stored_memory {
    int value;  // the variable with the memory's value in this step
    int array;  // the array of the memory's values, one per step
    int next;   // the variable with the value for the next step; -1: none yet
  };

  // Makes the block around the loop the current block; returns the block of the step, which was the
  // current block.
  constexpr int leave() {
    const int here = b_.current_block;
    b_.current_block = outer_;
    return here;
  }
  // Like leave(), and reports an error unless the variable `needed` is visible in the block around
  // the loop.
  constexpr int leave(int needed, int line) {
    const int here = leave();
    lamina::detail::require_visible(b_, needed, line);
    return here;
  }
  template <class Item>
  constexpr int new_array(layer_helper& layer) {
    const int array = layer.template output<Item>().id;
    b_.variables[array].kind = variable_kind::tensor_array;
    return array;
  }
  // Records the read of slot `number` of the array of a memory or of an input.
  template <class Item>
  constexpr Item read(int array, const variable<std::int64_t, once, 1>& number) {
    layer_helper layer(b_, "array_read");
    const int made = layer.template output<Item>().id;
    b_.add_operator(schema_of<operators::read_from_array>(), {array, number.id}, {made});
    return {&b_, made};
  }
  // Creates the array of a memory in the outer block and writes variable `first` to its slot 0.
  // Returns the array.
  template <class Item>
  constexpr int memory_array(int first) {
    layer_helper layer(b_, "memory");
    const int array = new_array<Item>(layer);
    b_.add_operator(schema_of<operators::write_to_array>(), {first, now_.zero}, {array});
    return array;
  }
  constexpr void remember(int value, int array) { memories_.push({value, array, -1}); }
  constexpr void set_next(int memory, int next, int line) {
    lamina::detail::require_visible(b_, next, line);
    for (int i = 0; i < memories_.count; ++i)
      if (memories_[i].value == memory) {
        memories_[i].next = next;
        return;
      }
    b_.report(fault_kind::no_memory, line, {}, nullptr, 0, nullptr, 0);
  }

  // Returns the array of a memory; reports an error if `memory` is not a memory of this recurrence.
  constexpr int kept(int memory, int line) {
    for (int i = 0; i < memories_.count; ++i)
      if (memories_[i].value == memory) return memories_[i].array;
    b_.report(fault_kind::no_memory, line, {}, nullptr, 0, nullptr, 0);
    return memory;
  }

  program_builder& b_;
  int outer_;
  step_numbers now_;

 private:
  constexpr_vector<stored_memory> memories_{};
};

/// Returns the results of a step as a tuple.
template <class V>
constexpr auto as_results(const V& v) {
  if constexpr (is_tuple<V>)
    return v;
  else
    return std::tuple<V>{v};
}

/// The results of a recurrence whose step returns a tuple. make_arrays() creates an array for each
/// result, with one value per step, except for last states: these are read from the arrays of their
/// memories.
template <class T>
struct step_results;
template <class... V>
struct step_results<std::tuple<V...>> {
  static constexpr int count = static_cast<int>(sizeof...(V));
  static constexpr bool is_last[bound(count)] = {detail::is_last<V>...};

  static constexpr void make_arrays(layer_helper& layer, int* made) {
    const auto make = [&layer]<class E>(const E*) {
      if constexpr (detail::is_last<E>)
        return -1;
      else
        return layer.template output<E>().id;
    };
    int k = 0;
    ((made[k++] = make(static_cast<const V*>(nullptr))), ...);
    for (k = 0; k < count; ++k)
      if (made[k] >= 0) layer.builder().variables[made[k]].kind = variable_kind::tensor_array;
  }
  static constexpr void ids(const std::tuple<V...>& from, int* to) {
    int i = 0;
    std::apply([&](const auto&... v) { ((to[i++] = v.id), ...); }, from);
  }
};

/// Records the loop of a recurrence over the steps 0 to `end` - 1. `begin(step_numbers)` makes the
/// step object that is passed to `step`. Each result of `step` has an array; a step writes it at
/// the index at which the step reads its inputs. `arrays` receives these arrays; for a last state
/// it receives the array of the memory. `last` is -1 or, if the recurrence runs in reverse, the
/// index of the first step's inputs.
template <class Results, class Begin, class F>
constexpr void record_steps(layer_helper& layer, const variable<std::int64_t, once, 1>& end,
                            int last, int (&arrays)[Results::count], const Begin& begin, F& step,
                            int line) {
  program_builder& b = layer.builder();
  block here{&b, b.current_block};
  Results::make_arrays(layer, arrays);
  auto i = fill_constant<std::int64_t>(here, 0);
  auto down = i;
  if (last >= 0) down = fill_constant<std::int64_t>(here, last);
  const auto& index = last >= 0 ? down : i;
  const int zero = i.id;
  auto going = less_than(i, end);
  while_loop(
      going,
      [&](block&) {
        auto now = begin(step_numbers{i, index, zero});
        int made[Results::count];
        Results::ids(as_results(step(now)), made);
        for (int k = 0; k < Results::count; ++k)
          if (Results::is_last[k])
            arrays[k] = made[k];
          else
            b.add_operator(schema_of<operators::write_to_array>(), {made[k], index.id},
                           {arrays[k]});
        increment(i);
        if (last >= 0) increment(down, -1);
        now.finish(i.id, line);
        less_than(i, end, going);
      },
      {}, line);
}

/// The type of a variable V whose rows From are replaced by To; `found` tells whether V has the
/// rows From.
template <class V, class From, class To>
struct with_replaced_rows;
template <class T, class R, int... D, class From, class To>
struct with_replaced_rows<variable<T, R, D...>, From, To> {
  static constexpr bool found = __is_same(R, From);
  using type = variable<T, To, D...>;
};
template <class V, class From, class To>
struct with_replaced_rows<last_state<V>, From, To> {
  static constexpr bool found = true;
  using type = V;
};
template <class... V, class From, class To>
struct with_replaced_rows<std::tuple<V...>, From, To> {
  static constexpr bool found = (with_replaced_rows<V, From, To>::found && ...);
  using type = std::tuple<typename with_replaced_rows<V, From, To>::type...>;
};

}  // namespace detail
}  // namespace layer
}}  // namespace lamina
