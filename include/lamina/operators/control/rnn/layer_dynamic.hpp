// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/rnn/layer_dynamic.hpp - dynamic_rnn: a recurrence over sequences of
// different lengths. The user writes a function for one step.
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>

#include <lamina/operators/control/rank_table/layer.hpp>
#include <lamina/operators/control/rnn/layer.hpp>
#include <lamina/operators/control/split_merge/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of dynamic_rnn.
struct dynamic_rnn_attr {
  std::string_view name{};
};

namespace detail {
template <class F>
struct step_rows {};
template <class F>
struct ranked_rows {};
}  // namespace detail

/// The argument of the step function of a dynamic_rnn over sequences with rows S. Its members give
/// the step its inputs and memories.
template <class S, class F>
class rnn_step : public detail::rnn_recorder {
 public:
  /// The rows of step t: one row for each sequence that is longer than t.
  using rows = at_step<S, detail::step_rows<F>>;
  /// One row per sequence, the longest sequence first. The rows of a step have the same order.
  using ranked = at_step<S, detail::ranked_rows<F>>;
  /// One row per sequence, in the order of the batch.
  using parent = typename S::parent;

  constexpr rnn_step(program_builder& b, int outer, int table, const detail::step_numbers& now)
      : rnn_recorder(b, outer, now), table_(table) {}

  /// Returns the elements of `x` at this step: in step t, row t of each sequence that is longer
  /// than t. The sequences of x must have the same lengths as the sequences of the rnn. If each
  /// element is itself a sequence of x, the step gets whole inner sequences instead of rows. Fluid:
  /// DynamicRNN.step_input.
  template <class T, class R, int... D>
  constexpr auto input(const variable<T, R, D...>& x, int line = __builtin_LINE()) {
    using below = detail::replaced_rows<R, S, rows>;
    using item = variable<T, std::conditional_t<below::found, typename below::type, rows>, D...>;
    if constexpr (!below::found)
      b_.report(fault_kind::step_input, line, {}, nullptr, 0, nullptr, 0);
    const int here = leave(x.id, line);
    layer_helper layer(b_, "dynamic_rnn_input");
    const int array = new_array<item>(layer);
    b_.add_operator(schema_of<operators::lod_tensor_to_array>(), {x.id, table_}, {array});
    b_.current_block = here;
    return read<item>(array, now_.index);
  }

  /// Returns the values or sequences of `x`, which has one per sequence of the rnn. A sequence gets
  /// the same value in all its steps. Fluid: DynamicRNN.static_input.
  template <class T, class R, int... D>
  constexpr auto static_input(const variable<T, R, D...>& x, int line = __builtin_LINE()) {
    using in_rank = detail::replaced_rows<R, parent, ranked>;
    using in_step = detail::replaced_rows<R, parent, rows>;
    if constexpr (in_rank::found) {
      const int here = leave(x.id, line);
      const int ordered = reorder<variable<T, typename in_rank::type, D...>>(x.id);
      b_.current_block = here;
      return shrink<variable<T, typename in_step::type, D...>>(ordered);
    } else {
      return refused<T, D...>(line);
    }
  }

  /// Creates a memory and returns the value that `update` stored in the previous step; in the first
  /// step, the value of `init`, a variable with one value per sequence. `memory(lamina::dims<128>,
  /// {.value = 0.5f})` creates a memory with the given dimensions, whose elements all begin with
  /// `value` (default 0) and have type T (default float). Fluid: DynamicRNN.memory(init),
  /// memory(shape, value).
  template <class T = left_out, class Init>
  constexpr auto memory(const Init& init, const detail::memory_attr_of<Init>& attr = {},
                        int line = __builtin_LINE()) {
    // This is one function instead of several overloads, because for an invalid call a compiler
    // would list all overloads.
    if constexpr (__is_same(T, left_out))
      return begun(init, attr, line);
    else
      return begun<T>(init, attr, line);
  }

  /// Sets the value that `memory` returns in the next step. Fluid: DynamicRNN.update_memory.
  template <class T, int... D>
  constexpr void update(const variable<T, rows, D...>& memory, const variable<T, rows, D...>& next,
                        int line = __builtin_LINE()) {
    set_next(memory.id, next.id, line);
  }
  /// Reports an error: `next` must have the type, rows and dimensions of `memory`.
  template <class Memory, class Next>
  constexpr void update(const Memory&, const Next&, int line = __builtin_LINE()) {
    b_.report(fault_kind::memory_type, line, {}, nullptr, 0, nullptr, 0);
  }
#ifdef LAMINA_NAMES_OPTIONS
  // clang-format off
  void input(...) = delete;   // call step.input(x)
  void update(...) = delete;  // call step.update(memory, next)
  // clang-format on
#endif
  /// Stands for the value of `memory` after the last step of each sequence. The step function can
  /// do nothing with it but return it as a result: the rnn then returns one value per sequence, in
  /// the order of the batch. A sequence without elements has the initial value.
  template <class T, int... D>
  constexpr auto last(const variable<T, rows, D...>& memory, int line = __builtin_LINE()) {
    return detail::last_state<variable<T, parent, D...>>{kept(memory.id, line)};
  }

 private:
  // Creates a memory that begins with one value per sequence.
  template <class T, class R, int... D>
  constexpr auto begun(const variable<T, R, D...>& init, detail::no_memory_attr, int line) {
    if constexpr (__is_same(R, parent)) {
      const int here = leave(init.id, line);
      const int ordered = reorder<variable<T, ranked, D...>>(init.id);
      return stored<T, D...>(ordered, here);
    } else {
      return refused<T, D...>(line);
    }
  }
  // Creates a memory whose elements all begin with the same number.
  template <element T = float, int... D>
  constexpr variable<T, rows, D...> begun(dims_list<D...>, const memory_attr& attr, int) {
    const int here = leave();
    layer_helper layer(b_, "fill_constant_batch_size_like");
    const int made = layer.template output<variable<T, ranked, D...>>().id;
    b_.variables[made].stop_gradient = true;
    const int extents[] = {-1, D...};
    const attribute_value shape = b_.integer_list(extents, static_cast<int>(sizeof...(D)) + 1);
    b_.add_operator(schema_of<operators::fill_constant_batch_size_like>(), {table_}, {made},
                    b_.attribute_list(shape, static_cast<int>(dtype_of<T>), attr.value, 0, 0));
    return stored<T, D...>(made, here);
  }
  // Reports an error for memory(128): the size must be a template argument, memory(dims<128>).
  template <class Size>
  requires(std::is_arithmetic_v<Size>) constexpr variable<float, rows, 1> begun(
      Size, detail::no_memory_attr, int line) {
    b_.report(fault_kind::memory_size, line, {}, nullptr, 0, nullptr, 0);
    return memory(dims<1>);
  }
  // Returns a placeholder if an initial value has wrong rows. The error is reported at the end of
  // the recording, because the compiler's message for an error in this function would also list the
  // instantiations of the step function and of the rnn.
  template <class T, int... D>
  constexpr variable<T, rows, D...> refused(int line) {
    b_.report(fault_kind::first_memory, line, {}, nullptr, 0, nullptr, 0);
    return memory<T>(dims_list<D...>{});
  }
  template <class Out>
  constexpr int reorder(int x) {
    layer_helper layer(b_, "reorder_lod_tensor_by_rank");
    const int made = layer.template output<Out>().id;
    b_.add_operator(schema_of<operators::reorder_lod_tensor_by_rank>(), {x, table_}, {made});
    return made;
  }
  template <class Out>
  constexpr Out shrink(int x) {
    layer_helper layer(b_, "shrink_memory");
    const int made = layer.template output<Out>().id;
    b_.add_operator(schema_of<operators::shrink_rnn_memory>(), {x, now_.count.id, table_}, {made});
    return {&b_, made};
  }
  // Creates the array of a memory, writes the initial value `first` into it before the loop, and
  // returns the memory's value in the step, which is block `here`.
  template <class T, int... D>
  constexpr variable<T, rows, D...> stored(int first, int here) {
    using item = variable<T, ranked, D...>;
    const int array = memory_array<item>(first);
    b_.current_block = here;
    const auto value = shrink<variable<T, rows, D...>>(read<item>(array, now_.count).id);
    remember(value.id, array);
    return value;
  }

  int table_;
};

namespace detail {

/// Records a dynamic_rnn over the sequences W: the rows S of x, or parents of S. The two
/// dynamic_rnn functions check the type that the step returns themselves. A helper function for
/// this check would lengthen error messages, because clang lists every function between an error in
/// a step and the user's line.
template <class W, class T, class S, int... D, class F>
constexpr auto walk_sequences(const variable<T, S, D...>& x, F& step, std::string_view name,
                              int line) {
  using step_type = rnn_step<W, std::remove_cvref_t<F>>;
  using rows = typename step_type::rows;
  using result = decltype(step(*static_cast<step_type*>(nullptr)));
  using whole = detail::with_replaced_rows<result, rows, W>;
  static_assert(check<whole::found, gets_type<result>>,
                "lamina: dynamic_rnn: the step returns variables of its own rows");
  using results =
      detail::step_results<decltype(detail::as_results(*static_cast<result*>(nullptr)))>;
  using outputs =
      detail::outputs_of<decltype(detail::as_tuple(*static_cast<typename whole::type*>(nullptr)))>;
  program_builder& b = *x.builder;
  lamina::detail::require_visible(b, x.id, line);
  layer_helper layer(b, "dynamic_rnn", name);
  const int outer = b.current_block;
  const auto table = layer.template output<variable<std::int64_t, typename W::parent, 2>>();
  detail::without_gradient(layer, table.id);
  b.add_operator(schema_of<operators::lod_rank_table>(), {x.id}, {table.id},
                 b.attribute_list(W::lod_level - 1));
  const auto longest = layer.template output<variable<std::int64_t, once, 1>>();
  b.add_operator(schema_of<operators::max_sequence_len>(), {table.id}, {longest.id});
  const int parents = rows_of<typename W::parent>(b);
  b.open_domain(&domain_mark<rows>, "step", parents, domain_kind::step, -1);
  b.open_domain(&domain_mark<typename step_type::ranked>, "ranked", parents, domain_kind::step, -1);
  int arrays[results::count], made[results::count];
  const auto begin = [&](const detail::step_numbers& now) {
    return step_type(b, outer, table.id, now);
  };
  detail::record_steps<results>(layer, longest, -1, arrays, begin, step, line);
  b.open_domains.count -= 2;
  outputs::make(layer, made);
  for (int k = 0; k < results::count; ++k)
    b.add_operator(results::is_last[k] ? schema_of<operators::last_rnn_memory>()
                                       : schema_of<operators::array_to_lod_tensor>(),
                   {arrays[k], table.id}, {made[k]});
  const auto all = outputs::handles(b, made);
  if constexpr (detail::is_tuple<result>)
    return all;
  else
    return layer.returns(std::get<0>(all));
}

}  // namespace detail

/// Runs `step` for element 0 of all sequences of x, then for element 1 of all sequences that have
/// one, and so on. `step` returns a variable or a tuple of variables; dynamic_rnn returns each of
/// them as sequences that are as long as the sequences of x:
///
///   auto hidden = layer::dynamic_rnn(embed, [&](auto& step) {
///     auto x = step.input(embed);
///     auto h = step.memory(lamina::dims<128>, {.value = 0.f});
///     auto next = layer::tanh(layer::fc<128>(std::tuple{x, h}));
///     step.update(h, next);
///     return next;
///   });
///
/// If the step returns `step.last(h)`, alone or in a tuple as in `return std::tuple{next,
/// step.last(h)};`, dynamic_rnn returns the final value of h, one row per sequence. Sequences are
/// independent of each other, and a sequence without elements runs no step. `step` is called more
/// than once while the program is recorded. Fluid: DynamicRNN.
template <class T, class S, int... D, class F>
constexpr auto dynamic_rnn(const variable<T, S, D...>& x, F&& step,
                           const options<dynamic_rnn_attr, T>& attr = {},
                           int line = __builtin_LINE()) {
  static_assert(check<is_tokens<S>, gets_type<variable<T, S, D...>>>,
                "lamina: dynamic_rnn: the rows of the input form sequences");
  constexpr bool takes = !detail::takes_nothing<F>;
  static_assert(takes, "lamina: dynamic_rnn: the step takes its inputs, [&](auto& step) { ... }");
  using step_type = rnn_step<S, std::remove_cvref_t<F>>;
#if defined(__clang__)
  constexpr bool compiles = true;  // a step that does not compile returns int
#else
  constexpr bool compiles = requires { step(*static_cast<step_type*>(nullptr)); };
#endif
  if constexpr (!takes) {
    return x;
  } else if constexpr (!compiles) {
    x.builder->report(fault_kind::unfinished, line, {}, nullptr, 0, nullptr, 0);
    return x;
  } else if constexpr (detail::is_step_result<decltype(step(*static_cast<step_type*>(nullptr)))>) {
    return detail::walk_sequences<S>(x, step, attr.name, line);
  } else {
    // If the body of a step has an error, clang still deduces a result type in the first call and
    // rejects later calls. `called` is false in this case: clang has printed the error already.
    constexpr bool called = requires { step(*static_cast<step_type*>(nullptr)); };
    x.builder->report(called ? fault_kind::step_result : fault_kind::unfinished, line, {}, nullptr,
                      0, nullptr, 0);
    return x;
  }
}
/// Runs a dynamic_rnn over the sequences of LoD level Level of nested sequences x; level 0 is the
/// outermost. For example, if `words` are the words of the sentences of documents,
/// `dynamic_rnn<0>(words, ...)` has one step per sentence: `step.input(words)` is a sentence of
/// each document, and the results have one row per sentence.
template <int Level, class T, class S, int... D, class F>
constexpr auto dynamic_rnn(const variable<T, S, D...>& x, F&& step,
                           const options<dynamic_rnn_attr, T>& attr = {},
                           int line = __builtin_LINE()) {
  constexpr bool exists = is_tokens<S> && 0 <= Level && Level < S::lod_level;
  static_assert(check<exists, gets<Level>, gets_type<variable<T, S, D...>>>,
                "lamina: dynamic_rnn: the level is one of the levels of the input's sequences");
  constexpr bool takes = !detail::takes_nothing<F>;
  static_assert(takes, "lamina: dynamic_rnn: the step takes its inputs, [&](auto& step) { ... }");
  using walked = typename detail::sequences_at<S, exists ? Level : 0>::type;
  using step_type = rnn_step<walked, std::remove_cvref_t<F>>;
#if defined(__clang__)
  constexpr bool compiles = true;  // a step that does not compile returns int
#else
  constexpr bool compiles = requires { step(*static_cast<step_type*>(nullptr)); };
#endif
  if constexpr (!takes || !exists) {
    return x;
  } else if constexpr (!compiles) {
    x.builder->report(fault_kind::unfinished, line, {}, nullptr, 0, nullptr, 0);
    return x;
  } else if constexpr (detail::is_step_result<decltype(step(*static_cast<step_type*>(nullptr)))>) {
    return detail::walk_sequences<walked>(x, step, attr.name, line);
  } else {
    // If the body of a step has an error, clang still deduces a result type in the first call and
    // rejects later calls. `called` is false in this case: clang has printed the error already.
    constexpr bool called = requires { step(*static_cast<step_type*>(nullptr)); };
    x.builder->report(called ? fault_kind::step_result : fault_kind::unfinished, line, {}, nullptr,
                      0, nullptr, 0);
    return x;
  }
}

}}}  // namespace lamina::layer
