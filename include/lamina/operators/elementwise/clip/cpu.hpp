// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/clip/cpu.hpp - clip_by_norm: scales an array down if its L2 norm
// exceeds a limit.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/elementwise/clip/definition.hpp>
#if LAMINA_DEFINES
#include <cmath>

#include <lamina/engine/cpu/vector/row_math.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::clip_to_norm> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);

 private:
  /// Returns the L2 norm of an array whose sum of squares overflows or underflows: scales the
  /// elements before they are squared.
  template <class Real>
  LAMINA_COLD static double norm_of_all(const operand& in) {
    double whole = 0;
    for (int r = 0; r < in.rows; ++r)
      whole =
          std::hypot(whole, static_cast<double>(scaled_norm(in.row<const Real>(r), in.columns)));
    return whole;
  }
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::clip_to_norm>::run(const call_context& c) {
  const operand in = c.input(0), out = c.output(0);
  require_real<Real>(c, in);
  double square = 0;
  for (int r = 0; r < in.rows; ++r)
    square += static_cast<double>(dot(in.row<const Real>(r), in.row<const Real>(r), in.columns));
  const double most = c.number(0);
  const double whole =
      holds_squares(static_cast<Real>(square)) ? std::sqrt(square) : norm_of_all<Real>(in);
  const Real factor = whole > most ? static_cast<Real>(most / whole) : Real(1);
  for (int r = 0; r < in.rows; ++r)
    for (int j = 0; j < in.columns; ++j) out.row<Real>(r)[j] = factor * in.row<const Real>(r)[j];
}
LAMINA_INSTANCE(void call_kernel<operators::clip_to_norm>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::clip_to_norm>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
