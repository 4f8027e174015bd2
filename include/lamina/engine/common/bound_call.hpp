// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/bound_call.hpp - kernels whose members say which operands and attributes of
// a call they hold.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/common/operator_call.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The base of a kernel that declares each of its arguments once, as a member with its value:
///
///   struct scale_kernel : bound_call<> {
///     real_rows<const float> x = input(0);
///     real_rows<float> y = output(0);
///     float factor = real(0);
///     int count = input(0).rows;
///
///     LAMINA_FN void run(int row) const { ... }
///   };
///
/// bind_call<scale_kernel>(call) evaluates the initialisers in order, and the engine passes the
/// result to its threads by value. `call` is null from then on.
template <class Call = operator_call>
struct bound_call {
  const Call* call;

  operand input(int slot) const { return call->input(slot); }
  operand output(int slot) const { return call->output(slot); }
  int integer(int attribute) const { return call->integer(attribute); }
  /// A real attribute as a float, as the CUDA engine computes.
  float real(int attribute) const { return static_cast<float>(call->number(attribute)); }
};

// The number of bases between a kernel and bound_call differs, so bind_call leaves out their
// braces.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wmissing-braces"
#endif

/// Returns the kernel with the operands and attributes of a call.
template <class Kernel, class Call>
Kernel bind_call(const Call& c) {
  Kernel kernel{&c};
  kernel.call = nullptr;
  return kernel;
}

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/// Whether the program uses an output of the call. A kernel without such an output does not run.
inline bool has_output(const operator_call& c) {
  for (int slot = 0; slot < c.schema().output_count; ++slot)
    for (int i = 0; i < c.output_count(slot); ++i)
      if (c.output(slot, i)) return true;
  return false;
}

/// An array of numbers that is accessed by row. Its address is null if the array is absent.
template <class Real>
struct real_rows {
  Real* data;
  std::ptrdiff_t stride;

  real_rows() = default;
  LAMINA_INLINE LAMINA_FN real_rows(Real* d, std::ptrdiff_t s) : data(d), stride(s) {}
  real_rows(const operand& o) : data(o ? o.row<Real>(0) : nullptr), stride(o.stride) {}
  LAMINA_INLINE LAMINA_FN Real* row(int r) const { return data + r * stride; }
  LAMINA_INLINE LAMINA_FN explicit operator bool() const { return data != nullptr; }
};

}}}  // namespace lamina::engine
