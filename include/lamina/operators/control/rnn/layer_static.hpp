// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/rnn/layer_static.hpp - static_rnn: a recurrence over a dimension of
// fixed length. The user writes a function for one step.
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>

#include <lamina/layers/shape.hpp>
#include <lamina/operators/control/array/definition_step_array.hpp>
#include <lamina/operators/control/rank_table/definition.hpp>
#include <lamina/operators/control/rnn/layer.hpp>
#include <lamina/operators/fill/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of static_rnn.
struct static_rnn_attr {
  bool reverse = false;  // steps run from the last index to the first
  std::string_view name{};
};

namespace detail {

/// The dimension of a variable along which the steps of a static_rnn run: the first dimension after
/// the rows R, if the variable has rows.
template <class R>
inline constexpr int step_axis = has_rows<R> ? 1 : 0;

/// Describes a variable V whose first dimension after the rows has one index per step: the number
/// of steps, the rows, and the type `one` of the slice of a step.
template <class V>
struct stepped;
template <class T, class R, int Steps, int... D>
struct stepped<variable<T, R, Steps, D...>> {
  static constexpr int steps = Steps;
  using rows = R;
  using one = variable<T, R, D...>;
};
template <class V, int Steps>
struct all_steps;
template <class T, class R, int... D, int Steps>
struct all_steps<variable<T, R, D...>, Steps> {
  using rows = R;
  using type = variable<T, R, Steps, D...>;
};
template <class V, int Steps>
struct all_steps<last_state<V>, Steps> {
  using type = V;
};
template <class... V, int Steps>
struct all_steps<std::tuple<V...>, Steps> {
  using type = std::tuple<typename all_steps<V, Steps>::type...>;
};

}  // namespace detail

/// The argument of the step function of a static_rnn. Its members give the step its inputs and
/// memories.
template <class R, int Steps>
class static_rnn_step : public detail::rnn_recorder {
 public:
  constexpr static_rnn_step(program_builder& b, int outer, int like,
                            const detail::step_numbers& now)
      : rnn_recorder(b, outer, now), like_(like) {}

  /// Returns the slice of x at this step. x must have as many steps as the rnn. Fluid:
  /// StaticRNN.step_input.
  template <class T, class S, int... D>
  constexpr auto input(const variable<T, S, Steps, D...>& x, int line = __builtin_LINE()) {
    using item = variable<T, S, D...>;
    const int here = leave(x.id, line);
    layer_helper layer(b_, "rnn_input");
    const int array = new_array<item>(layer);
    b_.add_operator(schema_of<operators::tensor_to_tensor_array>(), {x.id}, {array},
                    b_.attribute_list(detail::step_axis<S>));
    b_.current_block = here;
    return read<item>(array, now_.index);
  }

  /// Creates a memory and returns the value that `update` stored in the previous step; in the first
  /// step, the value of the variable `init`. `memory(lamina::dims<128>, {.value = 0.5f})` creates a
  /// memory with the rows of the rnn and the given dimensions, whose elements all begin with
  /// `value` (default 0) and have type T (default float). Fluid: StaticRNN.memory(init),
  /// memory(shape, batch_ref, init_value).
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

  /// Sets the value that `memory` returns in the next step. Fluid: StaticRNN.update_memory.
  template <class T, class S, int... D>
  constexpr void update(const variable<T, S, D...>& memory, const variable<T, S, D...>& next,
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
  /// Stands for the value of `memory` after the last step. The step function can do nothing with it
  /// but return it as a result of the rnn.
  template <class T, class S, int... D>
  constexpr auto last(const variable<T, S, D...>& memory, int line = __builtin_LINE()) {
    return detail::last_state<variable<T, S, D...>>{kept(memory.id, line)};
  }

 private:
  // Creates a memory that begins with the value of a variable.
  template <class T, class S, int... D>
  constexpr variable<T, S, D...> begun(const variable<T, S, D...>& init, detail::no_memory_attr,
                                       int line) {
    const int here = leave(init.id, line);
    return stored<variable<T, S, D...>>(init.id, here);
  }
  // Creates a memory whose elements all begin with the same number.
  template <element T = float, int... D>
  constexpr variable<T, R, D...> begun(dims_list<D...>, const memory_attr& attr, int) {
    const int here = leave();
    layer_helper layer(b_, "fill_constant_batch_size_like");
    const int made = layer.template output<variable<T, R, D...>>().id;
    b_.variables[made].stop_gradient = true;
    const variable_desc v = b_.variables[made];
    const int at = b_.integers.count;
    for (int i = 0; i < v.rank; ++i) b_.integers.push(b_.dims[v.dims + i]);
    b_.add_operator(schema_of<operators::fill_constant_batch_size_like>(), {like_}, {made},
                    b_.attribute_list(attribute_value{0, at, v.rank}, static_cast<int>(dtype_of<T>),
                                      attr.value, 0, 0));
    return stored<variable<T, R, D...>>(made, here);
  }
  // Reports an error for memory(128): the size must be a template argument, memory(dims<128>).
  template <class Size>
  requires(std::is_arithmetic_v<Size>) constexpr variable<float, R, 1> begun(Size,
                                                                             detail::no_memory_attr,
                                                                             int line) {
    b_.report(fault_kind::memory_size, line, {}, nullptr, 0, nullptr, 0);
    return memory(dims<1>);
  }
  template <class Item>
  constexpr Item stored(int first, int here) {
    const int array = memory_array<Item>(first);
    b_.current_block = here;
    const Item value = read<Item>(array, now_.count);
    remember(value.id, array);
    return value;
  }

  int like_;
};

/// Runs `step` for each index of the first dimension after the rows of x, [rows, Steps, ...].
/// `step` returns a variable [rows, ...] or a tuple of variables; static_rnn returns each of them
/// for all steps, as [rows, Steps, ...]:
///
///   auto hidden = layer::static_rnn(x, [&](auto& step) {
///     auto h = step.memory(lamina::dims<64>);
///     auto next = layer::tanh(layer::fc<64>(std::tuple{step.input(x), h}));
///     step.update(h, next);
///     return next;
///   });
///
/// With `.reverse`, step t reads index Steps - 1 - t, and its results are stored at this index. If
/// the step returns `step.last(h)`, static_rnn returns the value of h after the last step, [rows,
/// ...]. Variables of outer blocks have the same value in all steps. `step` is called more than
/// once while the program is recorded. Fluid: StaticRNN; there, the time dimension comes before the
/// dimension of the samples.
template <class T, class R, int... D, class F>
constexpr auto static_rnn(const variable<T, R, D...>& x, F&& step,
                          const options<static_rnn_attr, T>& attr = {},
                          int line = __builtin_LINE()) {
  static_assert(check<(sizeof...(D) > 0), gets_type<variable<T, R, D...>>>,
                "lamina: static_rnn: the input has a dimension of steps after its rows");
  constexpr bool takes = !detail::takes_nothing<F>;
  static_assert(takes, "lamina: static_rnn: the step takes its inputs, [&](auto& step) { ... }");
  constexpr int steps = detail::stepped<variable<T, R, D...>>::steps;
  using step_type = static_rnn_step<R, steps>;
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
    using result = decltype(step(*static_cast<step_type*>(nullptr)));
    using whole = typename detail::all_steps<result, steps>::type;
    using results =
        detail::step_results<decltype(detail::as_results(*static_cast<result*>(nullptr)))>;
    using outputs = detail::outputs_of<decltype(detail::as_tuple(*static_cast<whole*>(nullptr)))>;
    program_builder& b = *x.builder;
    lamina::detail::require_visible(b, x.id, line);
    layer_helper layer(b, "rnn", attr.name);
    const int outer = b.current_block;
    block here{&b, outer};
    int arrays[results::count], made[results::count];
    const auto begin = [&](const detail::step_numbers& now) {
      return step_type(b, outer, x.id, now);
    };
    const auto end = fill_constant<std::int64_t>(here, steps);
    detail::record_steps<results>(layer, end, attr.reverse ? steps - 1 : -1, arrays, begin, step,
                                  line);
    outputs::make(layer, made);
    for (int k = 0; k < results::count; ++k) {
      const variable_desc& v = b.variables[made[k]];
      if (results::is_last[k])
        b.add_operator(schema_of<operators::read_from_array>(), {arrays[k], end.id}, {made[k]});
      else
        b.add_operator(schema_of<operators::tensor_array_to_tensor>(), {arrays[k]}, {made[k]},
                       b.attribute_list(v.rank > 0 && b.dims[v.dims] < 0 ? 1 : 0, true));
    }
    const auto all = outputs::handles(b, made);
    if constexpr (detail::is_tuple<result>)
      return all;
    else
      return layer.returns(std::get<0>(all));
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
