// SPDX-License-Identifier: Apache-2.0
// lamina/transform/gradients.hpp - gradients that a program can use as values. Fluid:
// calc_gradient.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <tuple>
#include <utility>

#include <lamina/operators/fill/definition.hpp>
#include <lamina/program/block.hpp>
#include <lamina/transform/block_gradients.hpp>
#include <lamina/transform/gradient_rules.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Records the gradients of one target in the current block.
class gradient_recorder {
 public:
  /// `weight` is the variable that serves as the gradient of the target; -1: the gradient is 1 in
  /// each element.
  constexpr gradient_recorder(program_builder& b, int target, int weight)
      : b_(b), target_(target), weight_(weight), variables_(b.variables.count) {}

  /// Sets made[i] to the variable that is the gradient of variable x[i].
  constexpr void record(const int* x, int n, int* made) {
    for (int i = 0; i < n; ++i) made[i] = x[i];  // valid results, even after an error
    if (b_.variables.items[target_].block != b_.current_block)
      return fault(fault_kind::gradient_block, target_);
    const int operators = b_.operators.count;
    bool wanted[gradient_state::capacity];
    int next[gradient_state::capacity];
    gradient_state state = new_gradient_state(variables_, wanted, next, 0);
    for (int v = 0; v < variables_; ++v) wanted[v] = false;
    for (int i = 0; i < n; ++i) wanted[x[i]] = true;
    while (mark_results(b_, wanted) && b_.blocks.count > 1) {
    }
    if (!wanted[target_]) return fault(fault_kind::gradient_unreached, x[0]);
    b_.gradients = &state;
    b_.again = &differentiate_gradient<>;
    const op_role before = b_.role;
    b_.role = op_role::gradient_value;
    seed();
    block_gradients blocks(b_, operators);
    blocks.sweep(b_.current_block, operators);
    for (int i = 0; i < n; ++i) {
      made[i] = gradient_variable(b_, x[i]);
      // Without a gradient, the target depends on x only through functions whose derivative is 0.
      if (made[i] < 0) made[i] = state.gradient[x[i]] = zero_gradient(b_, x[i]);
      if (b_.variables.items[made[i]].kind == variable_kind::selected_rows)
        fault(fault_kind::gradient_of_rows, x[i]);
    }
    for (int v = 0; v < variables_; ++v)
      if (state.partials[v] > 0 && !is_inside(b_, b_.variables.items[v].block, b_.current_block) &&
          !is_among(v, x, n))
        fault(fault_kind::gradient_block, v);
    blocks.insert_copies();
    b_.role = before;
    b_.gradients = nullptr;
    number_names();
  }

 private:
  constexpr void fault(fault_kind kind, int v) { report_variable(b_, kind, v, 0); }
  static constexpr bool is_among(int v, const int* x, int n) {
    for (int i = 0; i < n; ++i)
      if (x[i] == v) return true;
    return false;
  }

  /// Records the gradient of the target, at which the backward walk starts.
  constexpr void seed() {
    const int seed = partial_gradient(b_, target_);
    const variable_desc d = b_.variables.items[target_];
    if (weight_ >= 0) {
      b_.add_operator(schema_of<operators::scale>(), {weight_}, {seed});
    } else if (d.rows == once::domain) {
      const attribute_value shape = b_.integer_list(b_.dims.items + d.dims, d.rank);
      const int at =
          b_.attribute_list(shape, static_cast<double>(static_cast<int>(d.type)), 1.0, false);
      const int argument = b_.arguments.count;
      b_.argument(seed);
      b_.operators.push({&schema_of<operators::fill_constant>(), argument, argument, argument + 1,
                         at, b_.current_block, b_.role});
    } else {
      b_.add_operator(schema_of<operators::scale>(), {zero_gradient(b_, target_)}, {seed},
                      b_.attribute_list(1.0, 1.0, true));
    }
  }

  /// Numbers the names of the new variables: "x@GRAD_0" is the first gradient of x that the program
  /// uses as a value. A trainer's gradient of x has the name "x@GRAD", so the names differ.
  constexpr void number_names() {
    int next[gradient_state::capacity];
    for (int v = 0; v < b_.variables.count; ++v) next[v] = 0;
    for (int v = 0; v < b_.variables.count; ++v) {
      variable_desc& d = b_.variables.items[v];
      if (d.of < 0 || (v < variables_ ? d.suffix[0] != '@' || d.suffix[5] != '_' || d.number < 0
                                      : d.suffix[1] != 'G'))
        continue;
      d.suffix = "@GRAD_";
      d.number = next[d.of]++;
    }
  }

  program_builder& b_;
  int target_, weight_;
  int variables_;  // number of variables at the beginning
};

/// A target with the weights of its elements.
template <class Y, class V>
struct weighted {
  Y target;
  V weight;
};

template <class Target>
struct gradient_target {
  static constexpr bool ok = is_variable<Target>;
  static constexpr int weight(const Target&) { return -1; }
  static constexpr const Target& target(const Target& y) { return y; }
};
template <class Y, class V>
struct gradient_target<weighted<Y, V>> {
  static constexpr bool ok = true;
  static constexpr int weight(const weighted<Y, V>& y) { return y.weight.id; }
  static constexpr const Y& target(const weighted<Y, V>& y) { return y.target; }
};

template <class V>
inline constexpr bool is_real_variable = false;
template <class R, int... D>
inline constexpr bool is_real_variable<variable<float, R, D...>> = true;
template <class R, int... D>
inline constexpr bool is_real_variable<variable<double, R, D...>> = true;

}  // namespace detail

namespace layer {

/// A target for gradients() with a weight per element; `weight` is a variable of the shape of y.
/// The gradients are then d (sum weight * y) / d x. No gradient flows into the weights. Fluid:
/// target_gradients.
template <class T, class R, int... D>
constexpr auto weighted_target(const variable<T, R, D...>& y, const variable<T, R, D...>& weight) {
  return lamina::detail::weighted<variable<T, R, D...>, variable<T, R, D...>>{y, weight};
}

/// Returns the gradients of the sum of all elements of `target` with respect to the variables x, as
/// a tuple of variables with the types of x: `auto [dx] = layer::gradients(cost, x)`. Each x is a
/// parameter, a data layer or any other variable of real numbers, of the current block or a block
/// around it. The target is a variable of the current block, or weighted_target(y, weight).
/// Variables of outer blocks other than x count as constants. The results are ordinary variables:
/// layers, other gradients and a cost may depend on them, if the operators between target and x
/// have second derivatives (docs/gradients.md lists them). A gradient of x has the name x@GRAD_N.
/// If the target depends on x only through functions whose derivative is 0, such as `floor`, the
/// result is zeros. It is a compile-time error if the target does not depend on x or depends on x
/// through a variable of an outer block, and if x is the table of an embedding with is_sparse.
/// Fluid: calc_gradient.
template <class Target, class... X>
constexpr auto gradients(const Target& target, const X&... x) {
  using found = lamina::detail::gradient_target<Target>;
  constexpr bool real =
      found::ok && sizeof...(X) > 0 && (lamina::detail::is_real_variable<X> && ...);
  static_assert(check<real, gets_type<Target>, gets_type<X>...>,
                "lamina: gradients: expected a target and one or more variables of real numbers");
  if constexpr (real) {
    const auto& y = found::target(target);
    program_builder& b = *y.builder;
    for (const auto* from : {x.builder...})
      if (from != &b) b.report(fault_kind::foreign_variable, 0, {}, nullptr, 0, nullptr, 0);
    const int ids[] = {x.id...};
    for (const int id : ids) lamina::detail::require_visible(b, id, 0);
    int made[sizeof...(X)];
    if (b.fault.kind != fault_kind::none) return std::tuple<X...>{x...};
    lamina::detail::gradient_recorder(b, y.id, found::weight(target))
        .record(ids, static_cast<int>(sizeof...(X)), made);
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return std::tuple<X...>{X(&b, made[Index])...};
    }
    (std::index_sequence_for<X...>{});
  } else {
    return std::tuple<X...>{x...};
  }
}

}  // namespace layer
}}  // namespace lamina
