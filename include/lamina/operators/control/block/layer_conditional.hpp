// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/block/layer_conditional.hpp - conditional_block, switch_case and cond:
// operators that run only if a condition for the whole batch is true.
#pragma once

#include <lamina/core/config.hpp>

#include <tuple>
#include <utility>

#include <lamina/operators/control/block/layer.hpp>
#include <lamina/operators/control/split_merge/definition.hpp>
#include <lamina/operators/elementwise/assign/layer.hpp>
#include <lamina/operators/elementwise/compare/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of conditional_block and cond.
struct conditional_attr {
  std::string_view name{};
};

/// Runs the operators that `body` records if `condition`, a single bool, is true. If `condition` is
/// false, the handles of outer blocks to which the body assigns keep their values:
///
///   layer::conditional_block(warm, [&](lamina::block&) { rate = layer::scale(rate, 0.5f); });
///
/// The body is called more than once while the program is recorded, so it must change nothing but
/// handles. Fluid: ConditionalBlock with is_scalar_condition.
template <class T, class R, int... D, class F>
constexpr auto conditional_block(const variable<T, R, D...>& condition, F&& body,
                                 const options<conditional_attr, F>& attr = {},
                                 int line = __builtin_LINE()) {
  constexpr bool one = detail::is_condition<variable<T, R, D...>>;
  static_assert(check<one, gets_type<variable<T, R, D...>>>,
                "lamina: conditional_block: the condition is one bool for the whole batch; "
                "layer::if_else takes one per row");
  constexpr bool takes_block = !detail::takes_nothing<F>;
  static_assert(takes_block,
                "lamina: conditional_block: the body takes its block, [&](lamina::block& body) { "
                "... }");
  if constexpr (one && takes_block) {
    lamina::detail::require_visible(*condition.builder, condition.id, line);
    const int chosen_by = condition.id;  // saved first: the body may assign to the handle
    layer_helper layer(*condition.builder, "conditional_block", attr.name);
    detail::recorded_body made;
    detail::record_body(layer, body, made, line);
    detail::add_conditional(layer, made, chosen_by, true);
  }
}

/// Runs the first of several bodies whose condition is true:
///
///   layer::switch_case(early, [&](lamina::block&) { rate = slow; })
///       .when(late, [&](lamina::block&) { rate = fast; })
///       .otherwise([&](lamina::block&) { rate = usual; });
///
/// Fluid: Switch.
class switch_case {
 public:
#ifdef LAMINA_NAMES_OPTIONS
  switch_case(...) = delete;  // call switch_case(condition, [&](lamina::block&) { ... })
#endif
  template <class F>
  constexpr switch_case(const variable<bool, once, 1>& condition, F&& body,
                        int line = __builtin_LINE())
      : none_before_(none_of(condition, line)) {
    conditional_block(condition, body, {}, line);
  }
  /// Adds a case. Its body runs if its condition is true and the conditions of all previous cases
  /// are false.
  template <class F>
  constexpr switch_case& when(const variable<bool, once, 1>& condition, F&& body,
                              int line = __builtin_LINE()) {
    lamina::detail::require_visible(*condition.builder, condition.id, line);
    const auto runs = logical_and(none_before_, condition);
    none_before_ = logical_and(none_before_, logical_not(condition));
    conditional_block(runs, body, {}, line);
    return *this;
  }
  /// Adds the body that runs if the conditions of all cases are false. Fluid: Switch.default.
  template <class F>
  constexpr void otherwise(F&& body, int line = __builtin_LINE()) {
    conditional_block(none_before_, body, {}, line);
  }

 private:
  static constexpr variable<bool, once, 1> none_of(const variable<bool, once, 1>& condition,
                                                   int line) {
    lamina::detail::require_visible(*condition.builder, condition.id, line);
    return logical_not(condition);
  }

  variable<bool, once, 1> none_before_;
};

namespace detail {

/// Returns the result of a branch as a tuple.
template <class V>
constexpr auto as_tuple(const V& v) {
  if constexpr (is_variable<V>)
    return std::tuple<V>{v};
  else
    return v;
}
template <class T>
struct outputs_of;
template <class... V>
struct outputs_of<std::tuple<V...>> {
  static constexpr int count = static_cast<int>(sizeof...(V));
  /// Creates a new variable of the current block for each result.
  static constexpr void make(layer_helper& layer, int* made) {
    int i = 0;
    ((made[i++] = layer.template output<V>().id), ...);
  }
  static constexpr void copy(program_builder& b, const std::tuple<V...>& from, const int* to) {
    int i = 0;
    std::apply([&](const auto&... v) { (copy_variable(b, v.id, to[i++]), ...); }, from);
  }
  static constexpr void ids(const std::tuple<V...>& from, int* to) {
    int i = 0;
    std::apply([&](const auto&... v) { ((to[i++] = v.id), ...); }, from);
  }
  static constexpr std::tuple<V...> handles(program_builder& b, const int* from) {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return std::tuple<V...>{V{&b, from[Index]}...};
    }
    (std::index_sequence_for<V...>());
  }
};

/// Whether a branch may return V: a variable, or a tuple of variables. The test is also needed
/// after errors: if a branch does not compile, clang reports the error and continues with the
/// return type int.
template <class V>
inline constexpr bool is_branch_result = is_variable<V>;
template <class... V>
inline constexpr bool is_branch_result<std::tuple<V...>> = sizeof...(V) > 0 &&
                                                           (is_variable<V> && ...);

/// Returns placeholder handles after an error in the program, so that compilation continues. Their
/// type is V or, if V is not a valid result of a branch, Other.
template <class V, class Other>
constexpr auto unmade(program_builder& b) {
  if constexpr (is_variable<V>) {
    return V{&b, 0};
  } else if constexpr (is_branch_result<V>) {
    const int none[std::tuple_size_v<V>] = {};
    return outputs_of<V>::handles(b, none);
  } else if constexpr (is_branch_result<Other>) {
    return unmade<Other, V>(b);
  } else {
    return variable<float, once, 1>{&b, 0};
  }
}

}  // namespace detail

/// Returns the result of `yes` if `condition`, a single bool, is true, else the result of `no`.
/// Each function is called with a block and returns a variable or a tuple of variables; both must
/// return the same types. During a run, only the operators of the chosen function are computed.
/// Fluid: layers.cond.
template <class T, class R, int... D, class Yes, class No>
constexpr auto cond(const variable<T, R, D...>& condition, Yes&& yes, No&& no,
                    const options<conditional_attr, Yes>& attr = {}, int line = __builtin_LINE()) {
  constexpr bool one = detail::is_condition<variable<T, R, D...>>;
  static_assert(check<one, gets_type<variable<T, R, D...>>>,
                "lamina: cond: the condition is one bool for the whole batch; layer::if_else "
                "takes one per row");
  constexpr bool take_block = !detail::takes_nothing<Yes> && !detail::takes_nothing<No>;
  static_assert(take_block,
                "lamina: cond: a branch takes its block, [&](lamina::block& branch) { ... }");
  if constexpr (detail::takes_nothing<Yes>) {
    return yes();
  } else if constexpr (detail::takes_nothing<No>) {
    return no();
  } else {
    program_builder& b = *condition.builder;
    lamina::detail::require_visible(b, condition.id, line);
    using result = decltype(yes(*static_cast<block*>(nullptr)));
    using other = decltype(no(*static_cast<block*>(nullptr)));
    constexpr bool made_both = detail::is_branch_result<result> && detail::is_branch_result<other>;
    constexpr bool alike = !made_both || __is_same(result, other);
    static_assert(check<alike, expects_type<result>, gets_type<other>>,
                  "lamina: cond: both branches return variables of the same types");
    if constexpr (!made_both || !alike) {
      // If the body of a branch has an error, clang still deduces a result type in the first call
      // and rejects later calls. `called` is false in this case: clang has printed the error
      // already.
      constexpr bool called = requires {
        yes(*static_cast<block*>(nullptr));
        no(*static_cast<block*>(nullptr));
      };
      b.report(alike && called ? fault_kind::branch_result : fault_kind::unfinished, line, {},
               nullptr, 0, nullptr, 0);
      return detail::unmade<result, other>(b);
    } else {
      using outputs =
          detail::outputs_of<decltype(detail::as_tuple(*static_cast<result*>(nullptr)))>;
      layer_helper layer(b, "cond", attr.name);
      const variable<bool, once, 1> holds{&b, condition.id};
      const auto not_holds = logical_not(holds);
      const auto number = cast<std::int32_t>(holds);
      int made[2][outputs::count];  // results of `no` in [0], of `yes` in [1]
      for (auto& side : made) outputs::make(layer, side);
      conditional_block(
          holds, [&](block& inner) { outputs::copy(b, detail::as_tuple(yes(inner)), made[1]); }, {},
          line);
      conditional_block(
          not_holds, [&](block& inner) { outputs::copy(b, detail::as_tuple(no(inner)), made[0]); },
          {}, line);
      int merged[outputs::count];
      outputs::make(layer, merged);
      for (int i = 0; i < outputs::count; ++i) {
        const int sides[] = {made[0][i], made[1][i]};
        operator_desc op = b.begin(schema_of<operators::select_input>());
        b.list(sides, 2);
        b.argument(number.id);
        op.outputs = b.arguments.count;
        b.argument(merged[i]);
        op.end = b.arguments.count;
        b.operators.push(op);
      }
      const auto all = outputs::handles(b, merged);
      if constexpr (is_variable<result>)
        return layer.returns(std::get<0>(all));
      else
        return all;
    }
  }
}

}}}  // namespace lamina::layer
