// SPDX-License-Identifier: Apache-2.0
// lamina/model/evaluation/activation_view.hpp - views of a variable in a machine's memory, and of
// the sequences in its rows.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>

#include <lamina/core/arrays/checked_index.hpp>
#include <lamina/engine/common/domain_rows.hpp>
#include <lamina/engine/cpu/schedule/machine.hpp>
#include <lamina/model/names/cpp_type_of.hpp>
#include <lamina/model/names/program_names.hpp>
#include <lamina/tensor/array_view.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Replaces a view after an error was reported. It accepts any number of indices, so that it causes
/// no further errors.
struct missing_view : array_view<float, 1> {
  missing_view() : array_view(nullptr, {0}, 0) {}
  template <class... Index>
  float operator()(Index...) const {
    return 0;
  }
};

/// Returns a view of variable V in a machine's memory, with the shape of the variable and without a
/// copy. The view is valid until a run with more rows allocates new memory. There is no view of a
/// weight, which is stored in panels; model::parameter returns a copy of it.
template <class P, int V, class Machine = engine::cpu::machine<P>>
auto activation_view(Machine& m) {
  using T = typename detail::cpp_type_of<P::desc.variables[V].type>::type;
  constexpr variable_desc d = P::desc.variables[V];
  constexpr auto rank = static_cast<std::size_t>(d.rank);
  std::array<std::size_t, rank> shape{};
  std::size_t inner = 1;
  for (int i = d.rank; i-- > 0;) {
    const int n =
        d.rows != 0 && i == 0 ? m.rows(d.rows) : run_time_program<P>::desc.dims[d.dims + i];
    shape[static_cast<std::size_t>(i)] = static_cast<std::size_t>(n);
    if (i > 0) inner *= static_cast<std::size_t>(n);
  }
  constexpr bool apart = d.rank > 0 && (d.rows != 0 || d.rank > 1);
  return array_view<T, rank>(
      reinterpret_cast<const T*>(m.template address<V>()), shape,
      apart ? static_cast<std::size_t>(layout_of_variable<P, V>.stride) : inner);
}

/// The result of `sequences<"name">()`. Sequence i consists of the rows from begin(i) up to, but
/// not including, end(i). An index outside of [0, count) throws lamina::error, unless NDEBUG is
/// defined.
struct sequence_view : engine::sequence_rows {
  int begin(int i) const { return sequence_rows::begin(checked(i)); }
  int end(int i) const { return sequence_rows::end(checked(i)); }
  int length(int i) const { return sequence_rows::length(checked(i)); }

 private:
  int checked(int i) const {
    return static_cast<int>(
        detail::checked_index("sequences", 0, i, static_cast<std::size_t>(count)));
  }
};

}}  // namespace lamina
