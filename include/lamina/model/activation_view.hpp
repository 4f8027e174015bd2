// SPDX-License-Identifier: Apache-2.0
// lamina/model/activation_view.hpp - a machine's memory as an xtensor view.
#pragma once

#include <cstddef>
#include <vector>

#include <lamina/engine/cpu/machine.hpp>
#include <lamina/model/element_of.hpp>
#include <lamina/model/program_names.hpp>
#include <lamina/tensor/xadapt.hpp>

namespace lamina {

/// Variable V of a machine in its own shape, without a copy; valid until the next run with more
/// rows. Weights in panels have no such view: model::parameter copies them.
template <class P, int V>
auto activation_view(engine::cpu::machine<P>& m) {
  using T = typename detail::element_of<P::desc.variables[V].type>::type;
  constexpr variable_desc d = P::desc.variables[V];
  std::vector<std::size_t> shape(static_cast<std::size_t>(d.rank));
  std::vector<std::ptrdiff_t> strides(shape.size());
  std::ptrdiff_t inner = 1;
  for (int i = d.rank; i-- > 0;) {
    const auto k = static_cast<std::size_t>(i);
    const bool outermost = i == 0 && (d.rows != 0 || d.rank > 1);
    shape[k] = static_cast<std::size_t>(
        d.rows != 0 && i == 0 ? m.rows(d.rows) : run_time_program<P>::desc.dims[d.dims + i]);
    strides[k] = outermost ? place_of_variable<P, V>.stride : inner;
    inner *= static_cast<std::ptrdiff_t>(shape[k]);
  }
  // xtensor takes the number of elements; strides decide how far they reach.
  std::size_t count = 1;
  for (const std::size_t n : shape) count *= n;
  const T* data = reinterpret_cast<const T*>(m.template address<V>());
  return xt::adapt(data, count, xt::no_ownership(), shape, strides);
}

}  // namespace lamina
