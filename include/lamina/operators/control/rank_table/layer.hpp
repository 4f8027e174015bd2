// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/rank_table/layer.hpp - the layers of which a dynamic_rnn consists, for
// programs with their own loop over the steps of sequences of different lengths.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>
#include <type_traits>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/rank_table/definition.hpp>
#include <lamina/operators/control/split_merge/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace layer::detail {
struct table_step {};
struct table_ranked {};
}  // namespace layer::detail

/// The handle of a rank table: the sequences S in the order of their lengths, longest first.
template <class S>
struct rank_table_of {
  /// The rows of time step t: one row for each sequence that is longer than t, the longest sequence
  /// first.
  using step = at_step<S, layer::detail::table_step>;
  /// One row for each sequence, the longest sequence first; also the rows of an earlier time step,
  /// which are the first of these rows.
  using ranked = at_step<S, layer::detail::table_ranked>;
  /// One row for each sequence, in the order of the batch.
  using parent = typename S::parent;

  program_builder* builder;
  int id;
};

namespace layer {

namespace detail {

/// Creates the row domain for the row type R, unless the program has it already. All rank tables
/// over the same sequences share it.
template <class R>
constexpr void open_step_rows(program_builder& b, const char* name, int parent) {
  for (int i = b.open_domains.count; i-- > 0;)
    if (same_address(b.open_domains[i].mark, &domain_mark<R>)) {
      const domain_desc& d = b.domains[b.open_domains[i].domain];
      if (d.kind == domain_kind::step && d.parent == parent) return;
    }
  b.open_domain(&domain_mark<R>, name, parent, domain_kind::step, -1);
}

/// `type` is the row type of the sequences of LoD level Level among S and the parents of S.
template <class S, int Level, bool Found = S::lod_level == Level + 1>
struct sequences_at {
  using type = S;
};
template <class S, int Level>
struct sequences_at<S, Level, false> : sequences_at<typename S::parent, Level> {};

template <class S, class X>
constexpr rank_table_of<S> rank_table_over(const X& x, std::string_view name, int line) {
  program_builder& b = *x.builder;
  lamina::detail::require_visible(b, x.id, line);
  layer_helper layer(b, "lod_rank_table", name);
  const auto table = layer.template output<variable<std::int64_t, typename S::parent, 2>>();
  without_gradient(layer, table.id);
  b.add_operator(schema_of<operators::lod_rank_table>(), {x.id}, {table.id},
                 b.attribute_list(S::lod_level - 1));
  const int parents = rows_of<typename S::parent>(b);
  open_step_rows<typename rank_table_of<S>::step>(b, "step", parents);
  open_step_rows<typename rank_table_of<S>::ranked>(b, "ranked", parents);
  return {&b, table.id};
}

}  // namespace detail

/// Ranks the sequences of x by length, longest first; sequences of equal length keep their order.
/// Returns the handle of the rank table. Fluid: lod_rank_table.
template <class T, class S, int... D>
constexpr auto lod_rank_table(const variable<T, S, D...>& x,
                              const options<array_attr, T>& attr = {},
                              int line = __builtin_LINE()) {
  static_assert(check<is_tokens<S>, gets_type<variable<T, S, D...>>>,
                "lamina: lod_rank_table: the rows of the input form sequences");
  if constexpr (is_tokens<S>) return detail::rank_table_over<S>(x, attr.name, line);
}
/// Ranks the sequences of LoD level Level of nested sequences x; level 0 is the outermost.
template <int Level, class T, class S, int... D>
constexpr auto lod_rank_table(const variable<T, S, D...>& x,
                              const options<array_attr, T>& attr = {},
                              int line = __builtin_LINE()) {
  constexpr bool exists = is_tokens<S> && 0 <= Level && Level < S::lod_level;
  static_assert(check<exists, gets<Level>, gets_type<variable<T, S, D...>>>,
                "lamina: lod_rank_table: the level is one of the levels of the input's sequences");
  if constexpr (exists)
    return detail::rank_table_over<typename detail::sequences_at<S, Level>::type>(x, attr.name,
                                                                                  line);
}

/// Returns the length of the longest sequence, which is the number of steps. Fluid:
/// max_sequence_len.
template <class S>
constexpr variable<std::int64_t, once, 1> max_sequence_len(const rank_table_of<S>& table,
                                                           int line = __builtin_LINE()) {
  lamina::detail::require_visible(*table.builder, table.id, line);
  layer_helper layer(*table.builder, "max_sequence_len");
  const auto n = layer.template output<variable<std::int64_t, once, 1>>();
  table.builder->add_operator(schema_of<operators::max_sequence_len>(), {table.id}, {n.id});
  return layer.returns(n);
}

/// Returns an array whose slot t holds the rows of x at step t: one row for each sequence that is
/// longer than t, in the order of the table. If the sequences of the table consist of sub-sequences
/// of x, slot t holds the sub-sequences instead. Fluid: lod_tensor_to_array.
template <class T, class R, int... D, class S>
constexpr auto lod_tensor_to_array(const variable<T, R, D...>& x, const rank_table_of<S>& table,
                                   int line = __builtin_LINE()) {
  using in_step = detail::replaced_rows<R, S, typename rank_table_of<S>::step>;
  static_assert(check<in_step::found, gets_type<variable<T, R, D...>>>,
                "lamina: lod_tensor_to_array: x has the sequences of the rank table");
  using item = variable<
      T,
      std::conditional_t<in_step::found, typename in_step::type, typename rank_table_of<S>::step>,
      D...>;
  require_one_program(x, table, line);
  layer_helper layer(*x.builder, "lod_tensor_to_array");
  const auto array = detail::array_of(layer, layer.template output<item>());
  x.builder->add_operator(schema_of<operators::lod_tensor_to_array>(), {x.id, table.id},
                          {array.id});
  return array;
}

/// The inverse of lod_tensor_to_array: returns sequences whose rows of step t come from slot t of
/// the array. A slot without a value counts as zeros. Fluid: array_to_lod_tensor.
template <class T, class R, int... D, class S>
constexpr auto array_to_lod_tensor(const tensor_array<T, R, D...>& array,
                                   const rank_table_of<S>& table, int line = __builtin_LINE()) {
  constexpr bool steps = __is_same(R, typename rank_table_of<S>::step);
  static_assert(check<steps, gets_type<variable<T, R, D...>>>,
                "lamina: array_to_lod_tensor: the array has the rows of the table's steps");
  require_one_program(array, table, line);
  layer_helper layer(*array.builder, "array_to_lod_tensor");
  const auto y = layer.template output<variable<T, S, D...>>();
  array.builder->add_operator(schema_of<operators::array_to_lod_tensor>(), {array.id, table.id},
                              {y.id});
  return layer.returns(y);
}

/// Returns the rows or sequences of x in the order of the table. x has one row or sequence for each
/// sequence of the table. Fluid: reorder_lod_tensor_by_rank.
template <class T, class R, int... D, class S>
constexpr auto reorder_lod_tensor_by_rank(const variable<T, R, D...>& x,
                                          const rank_table_of<S>& table,
                                          int line = __builtin_LINE()) {
  using in_rank = detail::replaced_rows<R, typename S::parent, typename rank_table_of<S>::ranked>;
  static_assert(
      check<in_rank::found, gets_type<variable<T, R, D...>>>,
      "lamina: reorder_lod_tensor_by_rank: x has one row or sequence for each sequence of "
      "the table");
  require_one_program(x, table, line);
  layer_helper layer(*x.builder, "reorder_lod_tensor_by_rank");
  const auto y = layer.template output<variable<
      T,
      std::conditional_t<in_rank::found, typename in_rank::type, typename rank_table_of<S>::ranked>,
      D...>>();
  x.builder->add_operator(schema_of<operators::reorder_lod_tensor_by_rank>(), {x.id, table.id},
                          {y.id});
  return layer.returns(y);
}

/// Returns the first n rows or sequences of x, where n is the number of sequences of the table that
/// are longer than i. The rows or sequences of x must be in the order of the table, either for all
/// its sequences or for the sequences of an earlier step. Fluid: shrink_memory.
template <class T, class R, int... D, class S>
constexpr auto shrink_memory(const variable<T, R, D...>& x,
                             const variable<std::int64_t, once, 1>& i,
                             const rank_table_of<S>& table, int line = __builtin_LINE()) {
  using table_type = rank_table_of<S>;
  using in_step = detail::replaced_rows<R, typename table_type::ranked, typename table_type::step>;
  static_assert(check<in_step::found, gets_type<variable<T, R, D...>>>,
                "lamina: shrink_memory: x has the rows of the table's order");
  require_one_program(x, table, line);
  require_one_program(x, i, line);
  layer_helper layer(*x.builder, "shrink_memory");
  const auto y = layer.template output<variable<
      T, std::conditional_t<in_step::found, typename in_step::type, typename table_type::step>,
      D...>>();
  x.builder->add_operator(schema_of<operators::shrink_rnn_memory>(), {x.id, i.id, table.id},
                          {y.id});
  return layer.returns(y);
}

/// a[i] = x for an array `a` that holds the memory of a loop. x has the rows of a time step; when
/// the slot is read, its type is that of the rows of an earlier step, and shrink_memory selects the
/// rows that the current step needs.
template <class T, class S, int... D>
constexpr void array_write(const variable<T, at_step<S, detail::table_step>, D...>& x,
                           const variable<std::int64_t, once, 1>& i,
                           const tensor_array<T, at_step<S, detail::table_ranked>, D...>& a,
                           int line = __builtin_LINE()) {
  require_one_program(x, i, line);
  require_one_program(x, a, line);
  x.builder->add_operator(schema_of<operators::write_to_array>(), {x.id, i.id}, {a.id});
}

}  // namespace layer
}}  // namespace lamina
