// SPDX-License-Identifier: Apache-2.0
// lamina/operators/decode/beam_search/cpu_decode.hpp - the kernel of beam_search_decode.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/decode/beam_search/definition.hpp>
#if LAMINA_DEFINES
#include <cstdint>

#include <lamina/operators/control/array/cpu.hpp>
#include <lamina/operators/decode/beam_search/common_steps.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// Reads the ids and scores in the slots of two arrays.
template <class Real>
struct slot_values {
  operand ids, scores;

  std::int64_t id(int t, int row) const { return integer_in(slot_of(ids, t), row, 0); }
  Real score(int t, int row) const { return *slot_of(scores, t).row<const Real>(row); }
};

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::beam_search_decode> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class = void>
  static std::ptrdiff_t scratch(const call_context& c) {
    return c.integer(0);
  }
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::beam_search_decode>::run(const call_context& c) {
  require_real<Real>(c, c.input(1));
  const detail::slot_values<Real> values{c.input(0), c.input(1)};
  const beam_steps steps(c, array_of(values.ids), array_of(values.scores), values);
  const auto order = [&] { return reinterpret_cast<int*>(c.scratch()); };
  make_hypotheses(c, steps, order);
  const operand id = c.output(0), score = c.output(1);
  for_each_token(c, steps, order, [&](int row, std::int64_t one, Real of_one) {
    if (id) *id.row<std::int64_t>(row) = one;
    if (score) *score.row<Real>(row) = of_one;
  });
}
LAMINA_INSTANCE(void call_kernel<operators::beam_search_decode>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::beam_search_decode>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
