// SPDX-License-Identifier: Apache-2.0
// lamina/expression/expression.hpp - templates that express a schedule as C++ types: one type per
// distinct group of fused operators.
//
// A group is one fused kernel: a head, which is the operation that computes the first values (for
// example a matrix product), and a flat list of numbered statements that use them. Statements refer
// to earlier statements by number, so a value that is used twice is computed once. The types define
// what is computed; the engine chooses the vector type and the tiles. Groups with equal code have
// the same type, and therefore share a kernel.
#pragma once

#include <lamina/core/config.hpp>

#include <utility>

#include <lamina/core/compile_time/type_of.hpp>
#include <lamina/plan/plan.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace expression {

/// The value of the group's head, for example a matrix product or a sum over rows.
struct head_value {};
/// The element of argument Index at the current position, that is, row and column.
template <int Index>
struct load {};
/// The element in the current column of argument Index, which has a single row.
template <int Index>
struct row {};
/// The element in the current row of argument Index, which has a single column.
template <int Index>
struct column {};
/// The element for the current channel of argument Index, which has one element per channel of an
/// image.
template <int Index>
struct channel {};
/// The value of argument Index, which is a single number.
template <int Index>
struct scalar {};
/// The scalar arguments of an optimizer's update, one per attribute; the first is argument Index.
template <int Index>
struct numbers {};
/// The value that statement J computes.
template <int J>
struct value {};

/// A statement that computes output K of operator Op. The value is also stored to argument Store,
/// unless Store is -1.
template <class Op, int K, int Store, class... Operands>
struct let {};
/// A statement that is an optimizer's equation: it reads and writes its first operands in place.
template <class Op, class... Operands>
struct update {};
/// A list of statements in the order of execution.
template <class... S>
struct statements {};

/// A group: a head and its statements.
template <fusion_anchor Head, class Statements>
struct group_expression {};
/// A group that is not fused: it calls the kernel of a single operator.
template <class Op>
struct call_expression {};

namespace detail {

template <operand_code C>
consteval auto operand_type() {
  if constexpr (C.from == source::head)
    return type_tag<head_value>{};
  else if constexpr (C.from == source::load)
    return type_tag<load<C.index>>{};
  else if constexpr (C.from == source::row)
    return type_tag<row<C.index>>{};
  else if constexpr (C.from == source::column)
    return type_tag<column<C.index>>{};
  else if constexpr (C.from == source::channel)
    return type_tag<channel<C.index>>{};
  else if constexpr (C.from == source::scalar)
    return type_tag<scalar<C.index>>{};
  else if constexpr (C.from == source::numbers)
    return type_tag<numbers<C.index>>{};
  else
    return type_tag<value<C.index>>{};
}

template <auto const& Code, int S, class Sequence>
struct statement_type;
template <auto const& Code, int S, int... Index>
struct statement_type<Code, S, std::integer_sequence<int, Index...>> {
  static constexpr statement_code s = Code.statements[S];
  using op = type_of<Code.statements[S].schema>;
  static consteval auto make() {
    if constexpr (s.update)
      return type_tag<update<
          op, typename decltype(operand_type<Code.operands[s.operands + Index]>())::type...>>{};
    else
      return type_tag<
          let<op, s.output, s.store,
              typename decltype(operand_type<Code.operands[s.operands + Index]>())::type...>>{};
  }
  using type = typename decltype(make())::type;
};

template <auto const& Code, int First, class Sequence>
struct statement_list;
template <auto const& Code, int First, int... S>
struct statement_list<Code, First, std::integer_sequence<int, S...>> {
  using type = statements<typename statement_type<
      Code, First + S,
      std::make_integer_sequence<int, Code.statements[First + S].operand_count>>::type...>;
};

template <class Plan, int G>
struct group_type {
  static constexpr int first = Plan::code.groups[G].statements;
  static constexpr int count = Plan::code.groups[G].statement_count;
  static constexpr fusion_anchor head = Plan::grouped.groups[G].head;
  static consteval auto make() {
    if constexpr (head == fusion_anchor::call)
      return type_tag<call_expression<
          type_of<Plan::lowered.instructions[Plan::grouped.order[Plan::grouped.groups[G].first]]
                      .schema>>>{};
    else
      return type_tag<group_expression<
          head, typename statement_list<Plan::code, first,
                                        std::make_integer_sequence<int, count>>::type>>{};
  }
};

}  // namespace detail

/// The expression type of group G of a plan.
template <class Plan, int G>
using group_of = typename decltype(detail::group_type<Plan, G>::make())::type;

}}}  // namespace lamina::expression
