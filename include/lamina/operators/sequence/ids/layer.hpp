// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/ids/layer.hpp - layers on sequences of ids: sequence_enumerate makes
// windows, sequence_erase removes ids, sequence_scatter adds updates at ids.
#pragma once

#include <lamina/core/config.hpp>

#include <initializer_list>

#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/sequence/ids/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of sequence_enumerate.
struct sequence_enumerate_attr {
  int pad_value = 0;  // fills the positions after the end of a sequence
  std::string_view name{};
};

/// Returns, for each id, a window of the id and the next Window - 1 ids of its sequence; after the
/// end of the sequence, the window has pad_value: `sequence_enumerate<3>(words)`. For ids [-1, 1],
/// the result is [-1, Window] with the same rows. Fluid: layers.sequence_enumerate.
template <int Window, class Index, class R, int... D>
constexpr auto sequence_enumerate(variable<Index, R, D...> x,
                                  const options<sequence_enumerate_attr, Index>& attr = {}) {
  using in = variable<Index, R, D...>;
  constexpr bool fits = is_tokens<R> && one_id_a_row<in> && Window > 0;
  static_assert(
      check<fits, gets_type<in>, gets<Window>>,
      "lamina: sequence_enumerate: the input is sequences of one whole number per row, and "
      "the window is positive");
  program_builder& b = *x.builder;
  layer_helper layer(b, "sequence_enumerate", attr.name);
  const auto y = layer.template output<variable<Index, R, Window>>();
  detail::without_gradient(layer, y.id);
  b.add_operator(schema_of<operators::sequence_enumerate>(), {x.id}, {y.id},
                 b.attribute_list(Window, attr.pad_value));
  return layer.returns(y);
}

/// Options of sequence_erase.
struct sequence_erase_attr {
  std::string_view name{};
};

/// Returns sequences without the ids in `erased`: `sequence_erase<"cleaned">(words, {0, 1})`. If
/// the rows are tokens<"a", Parent>, the result has rows tokens<"cleaned", Parent>. Fluid:
/// sequence_erase.
template <fixed_string Name, class Index, class R, int... D>
constexpr auto sequence_erase(variable<Index, R, D...> x, std::initializer_list<int> erased,
                              const options<sequence_erase_attr, Index>& attr = {}) {
  using in = variable<Index, R, D...>;
  static_assert(check<(is_tokens<R> && one_id_a_row<in>), gets_type<in>>,
                "lamina: sequence_erase: the input is sequences of one whole number per row");
  program_builder& b = *x.builder;
  layer_helper layer(b, "sequence_erase", attr.name);
  const auto y = layer.template output<variable<Index, tokens<Name, parent_rows<R>>, 1>>();
  detail::without_gradient(layer, y.id);
  const attribute_value ids = b.integer_list(erased.begin(), static_cast<int>(erased.size()));
  b.add_operator(schema_of<operators::sequence_erase>(), {x.id}, {y.id}, b.attribute_list(ids));
  return layer.returns(y);
}

/// Options of sequence_scatter.
struct sequence_scatter_attr {
  std::string_view name{};
};

/// Returns x after the addition x[s, ids[t]] += updates[t] for each row t of each sequence s:
/// `sequence_scatter(x, ids, updates)`. x [-1, W] has rows Parent; ids and updates are [-1, 1] with
/// rows tokens<"a", Parent>. If an id is not a column of x, the run fails. Fluid:
/// layers.sequence_scatter.
template <class T, class P, int... D, class Index, class R, int... E, class U, class S, int... F>
constexpr auto sequence_scatter(variable<T, P, D...> x, variable<Index, R, E...> ids,
                                variable<U, S, F...> updates,
                                const options<sequence_scatter_attr, T>& attr = {},
                                int line = __builtin_LINE()) {
  using in = variable<T, P, D...>;
  using numbers = variable<Index, R, E...>;
  using added = variable<U, S, F...>;
  constexpr bool fits = detail::is_real<T> && sizeof...(D) == 1 && is_tokens<R> &&
                        one_id_a_row<numbers> && __is_same(parent_rows<R>, P) &&
                        __is_same(added, variable<T, R, 1>);
  static_assert(check<fits, gets_type<in, numbers, added>>,
                "lamina: sequence_scatter: one sequence of ids and updates [-1, 1] for each row of "
                "the input [-1, width]");
  require_one_program(x, ids, line);
  require_one_program(x, updates, line);
  program_builder& b = *x.builder;
  layer_helper layer(b, "sequence_scatter", attr.name);
  const auto y = layer.template output<in>();
  b.add_operator(schema_of<operators::sequence_scatter>(), {x.id, ids.id, updates.id}, {y.id});
  return layer.returns(y);
}

}}}  // namespace lamina::layer
