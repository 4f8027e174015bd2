// SPDX-License-Identifier: Apache-2.0
// lamina/model/parameters/initialise_state.hpp - sets the statistics that metrics accumulate to
// their initial values.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/fill/cpu.hpp>
#include <lamina/plan/run_time_tables.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Sets the persistent variables of a machine that are not parameters, such as the statistics of
/// metrics, to their initial values. P is the recorded program from which the machine's program was
/// made.
template <class P, class Machine>
LAMINA_COLD void initialise_state(Machine& m) {
  constexpr const program_view& p = run_time_program<P>::view;
  for (int k = 0; k < p.count.startup; ++k) {
    const int v = p.arguments[p.startup[k].outputs];
    if (p.variables[v].kind == variable_kind::parameter || m.address(v) == nullptr) continue;
    const variable_layout& lies = *m.layout(v);
    engine::cpu::detail::fill(
        {m.address(v), lies.rows, lies.columns, lies.stride, lies.type, false, nullptr, 0},
        p.attributes[p.startup[k].attributes + 2].number);
    // For a machine on a device, address() has returned a copy on the host, so store() copies the
    // values to the device.
    if constexpr (requires { m.store(lies); }) m.store(lies);
  }
}

}}}  // namespace lamina::detail
