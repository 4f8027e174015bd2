// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/split_merge/layer.hpp - if_else: splits rows by a condition, computes
// the two groups of rows by different branches, and merges the results.
#pragma once

#include <lamina/core/config.hpp>

#include <tuple>
#include <type_traits>

#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/control/block/layer_conditional.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of if_else.
struct if_else_attr {
  std::string_view name{};
};

namespace detail {

template <class F>
struct yes_rows {};
template <class F>
struct no_rows {};

/// The row type Of with From replaced by To. `found` is true if Of is From, or sequences (of any
/// level) below From.
template <class Of, class From, class To>
struct replaced_rows {
  static constexpr bool found = false;
  using type = Of;
};
template <class From, class To>
struct replaced_rows<From, From, To> {
  static constexpr bool found = true;
  using type = To;
};
template <class Of, class From, class To>
requires(is_tokens<Of> && !__is_same(Of, From)) struct replaced_rows<Of, From, To> {
  using above = replaced_rows<typename Of::parent, From, To>;
  static constexpr bool found = above::found;
  using type = tokens<Of::name, typename above::type>;
};

}  // namespace detail

/// The argument of a branch function of if_else. Its member input() gives the branch its rows.
template <class R, class Key>
class if_else_branch {
 public:
  /// The row type of the values that this branch computes.
  using rows = chosen<R, Key>;

  constexpr if_else_branch(program_builder& b, int mask, int outer, bool truth)
      : b_(b), mask_(mask), outer_(outer), truth_(truth) {}

  /// Returns the rows of x for which this branch computes: in `yes` the rows for which the
  /// condition is true, in `no` the other rows. If the condition has one value per sequence of x,
  /// returns whole sequences. Fluid: IfElse.input.
  template <class T, class S, int... D>
  constexpr auto input(const variable<T, S, D...>& x, int line = __builtin_LINE()) const {
    lamina::detail::require_visible(b_, x.id, line);
    using replaced = detail::replaced_rows<S, R, rows>;
    static_assert(
        check<replaced::found, expects_type<R>, gets_type<S>>,
        "lamina: if_else: the input has the rows of the condition, or sequences below them");
    using out = variable<T, typename replaced::type, D...>;
    const int here = b_.current_block;
    b_.current_block = outer_;
    layer_helper layer(b_, "split_lod_tensor");
    const int y = layer.template output<out>().id;
    split(x.id, y);
    b_.current_block = here;
    return out{&b_, y};
  }

#ifdef LAMINA_NAMES_OPTIONS
  void input(...) const = delete;  // call yes.input(x)
#endif
  constexpr void split(int x, int y) const {
    b_.add_operator(schema_of<operators::split_lod_tensor>(), {x, mask_},
                    {truth_ ? y : -1, truth_ ? -1 : y}, b_.attribute_list(R::lod_level));
  }

 private:
  program_builder& b_;
  int mask_;
  int outer_;
  bool truth_;
};

namespace detail {

/// The type of a branch's result after the merge with the other branch; `fits` tells whether the
/// result has the rows of the branch.
template <class R, class Key, class V>
struct merged_type;
template <class R, class Key, class T, class S, int... D>
struct merged_type<R, Key, variable<T, S, D...>> {
  using replaced = replaced_rows<S, chosen<R, Key>, R>;
  static constexpr bool fits = replaced::found;
  using type = variable<T, typename replaced::type, D...>;
};
template <class R, class Key, class... V>
struct merged_type<R, Key, std::tuple<V...>> {
  static constexpr bool fits = (merged_type<R, Key, V>::fits && ...);
  using type = std::tuple<typename merged_type<R, Key, V>::type...>;
};

/// Records one branch. `made` receives, for each result of the branch, the variable of the outer
/// block that holds it.
template <class R, class Key, class F>
constexpr void record_branch(layer_helper& layer, int mask, bool truth, F& branch, int* made,
                             int line) {
  program_builder& b = layer.builder();
  const int outer = b.current_block;
  const int domain = b.open_domain(&domain_mark<chosen<R, Key>>, truth ? "true" : "false",
                                   rows_of<R>(b), domain_kind::subset, -1);
  if_else_branch<R, Key> given(b, mask, outer, truth);
  const int some = layer.template output<variable<bool, chosen<R, Key>, 1>>().id;
  b.variables[some].stop_gradient = true;
  given.split(mask, some);
  b.domains[domain].chosen_by = some;
  recorded_body body;
  body.first = b.operators.count;
  open_block opened(b);
  body.block = b.current_block;
  const auto result = as_tuple(branch(given));
  using outputs = outputs_of<std::remove_cv_t<decltype(result)>>;
  if (b.written.count > b.written_begin)
    b.report(fault_kind::branch_writes, line, {}, nullptr, 0, nullptr, 0);
  b.current_block = outer;
  outputs::make(layer, made);
  b.current_block = body.block;
  outputs::copy(b, result, made);
  opened.close();
  add_conditional(layer, body, some, false);
  --b.open_domains.count;
}

}  // namespace detail

/// Splits the rows by `condition`, one bool per row. `yes` computes on the rows for which it is
/// true, `no` on the other rows, and the results are merged in the original order of the rows:
///
///   auto y = layer::if_else(positive, [&](auto& yes) { return layer::fc<10>(yes.input(x)); },
///                           [&](auto& no) { return -layer::fc<10>(no.input(x)); });
///
/// A branch gets its rows of x by input(x). It returns a variable with these rows or a tuple of
/// such variables; both branches must return the same element types and dimensions. A branch
/// without rows does not run. A branch must not assign to handles of outer blocks, because both
/// branches may run. Fluid: IfElse.
template <class T, class R, int... D, class Yes, class No>
constexpr auto if_else(const variable<T, R, D...>& condition, Yes&& yes, No&& no,
                       const options<if_else_attr, R>& attr = {}, int line = __builtin_LINE()) {
  constexpr bool mask_of_rows =
      has_rows<R> && __is_same(variable<T, R, D...>, variable<bool, R, 1>);
  static_assert(
      check<mask_of_rows, gets_type<variable<T, R, D...>>>,
      "lamina: if_else: the condition is one bool per row; layer::cond takes one for all rows");
  constexpr bool takes = !detail::takes_nothing<Yes> && !detail::takes_nothing<No>;
  static_assert(takes, "lamina: if_else: a branch takes its inputs, [&](auto& yes) { ... }");
  if constexpr (detail::takes_nothing<Yes>) {
    return yes();
  } else if constexpr (detail::takes_nothing<No>) {
    return no();
  } else if constexpr (has_rows<R>) {
    using yes_key = detail::yes_rows<std::remove_cvref_t<Yes>>;
    using no_key = detail::no_rows<std::remove_cvref_t<No>>;
#if defined(__clang__)
    constexpr bool compile = true;  // a branch that does not compile returns int
#else
    constexpr bool compile = requires {
      yes(*static_cast<if_else_branch<R, yes_key>*>(nullptr));
      no(*static_cast<if_else_branch<R, no_key>*>(nullptr));
    };
#endif
    if constexpr (!compile) {
      condition.builder->report(fault_kind::unfinished, line, {}, nullptr, 0, nullptr, 0);
      return condition;
    } else {
      using yes_result = decltype(yes(*static_cast<if_else_branch<R, yes_key>*>(nullptr)));
      using no_result = decltype(no(*static_cast<if_else_branch<R, no_key>*>(nullptr)));
      if constexpr (!detail::is_branch_result<yes_result> || !detail::is_branch_result<no_result>) {
        // If the body of a branch has an error, clang still deduces a result type in the first call
        // and rejects later calls. `called` is false in this case: clang has printed the error
        // already.
        constexpr bool called = requires {
          yes(*static_cast<if_else_branch<R, yes_key>*>(nullptr));
          no(*static_cast<if_else_branch<R, no_key>*>(nullptr));
        };
        condition.builder->report(called ? fault_kind::branch_result : fault_kind::unfinished, line,
                                  {}, nullptr, 0, nullptr, 0);
        return detail::unmade<yes_result, no_result>(*condition.builder);
      } else {
        using yes_merged = detail::merged_type<R, yes_key, yes_result>;
        using no_merged = detail::merged_type<R, no_key, no_result>;
        constexpr bool own = yes_merged::fits && no_merged::fits;
        static_assert(check<own, gets_type<yes_result, no_result>>,
                      "lamina: if_else: a branch returns variables of its own rows");
        using result = typename yes_merged::type;
        using other = typename no_merged::type;
        static_assert(
            check<(!own || __is_same(result, other)), expects_type<result>, gets_type<other>>,
            "lamina: if_else: both branches return the same types");
        program_builder& b = *condition.builder;
        if constexpr (own && !__is_same(result, other))
          b.report(fault_kind::unfinished, line, {}, nullptr, 0, nullptr, 0);
        lamina::detail::require_visible(b, condition.id, line);
        layer_helper layer(b, "if_else", attr.name);
        const int mask = condition.id;
        using outputs =
            detail::outputs_of<decltype(detail::as_tuple(*static_cast<result*>(nullptr)))>;
        int in_true[outputs::count], in_false[outputs::count], merged[outputs::count];
        detail::record_branch<R, yes_key>(layer, mask, true, yes, in_true, line);
        detail::record_branch<R, no_key>(layer, mask, false, no, in_false, line);
        outputs::make(layer, merged);
        for (int i = 0; i < outputs::count; ++i)
          b.add_operator(schema_of<operators::merge_lod_tensor>(),
                         {mask, mask, in_true[i], in_false[i]}, {merged[i]},
                         b.attribute_list(R::lod_level));
        const auto all = outputs::handles(b, merged);
        if constexpr (is_variable<result>)
          return layer.returns(std::get<0>(all));
        else
          return all;
      }
    }
  } else {
    return condition;
  }
}
#ifdef LAMINA_NAMES_OPTIONS
// clang-format off
constexpr no_match<if_else_attr>
if_else(...) = delete;  // call if_else(mask, [&](auto& yes) { ... }, [&](auto& no) { ... })
// clang-format on
#endif

}}}  // namespace lamina::layer
