// SPDX-License-Identifier: Apache-2.0
// lamina/operators/collective/all_reduce/executor.hpp - sums and maxima over the processes of a
// run.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/engine/common/process_calls.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/operators/collective/all_reduce/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Out = the sum, or the maximum, of X over the processes of the run (run_options::processes).
template <class Real, class Op, class OfSamples>
void all_reduce_forward(call_context<Real>& ctx) {
  tensor x = ctx.input("X");
  engine::process_calls* const others = ctx.options().processes;
  if (others == nullptr) return ctx.give("Out", std::move(x));
  const bool of_samples = same_address(&ctx.schema(), &schema_of<OfSamples>());
  ctx.give("Out", x.visit([&]<class T>(const xt::xarray<T>& a) -> tensor {
    if constexpr ((std::is_floating_point_v<T> || std::is_integral_v<T>)&&sizeof(T) >= 4) {
      xt::xarray<T> made = a;
      const std::size_t bytes = made.size() * sizeof(T);
      void* const array = others->array(bytes);
      std::memcpy(array, made.data(), bytes);
      others->reduce({Op::is_max ? engine::process_reduction::max : engine::process_reduction::sum,
                      of_samples, -1, dtype_of<T>, made.size()});
      std::memcpy(made.data(), array, bytes);
      return tensor(std::move(made));
    } else {
      ctx.fail("expected numbers of 4 or 8 bytes, found another type");
    }
  }));
}

template <class Real>
void add_all_reduce_kernels(kernel_table<Real>& table) {
  table["c_allreduce_sum"] =
      all_reduce_forward<Real, operators::c_allreduce_sum, operators::c_allreduce_sum_of_samples>;
  table["c_allreduce_max"] =
      all_reduce_forward<Real, operators::c_allreduce_max, operators::c_allreduce_max_of_samples>;
}

}}}  // namespace lamina::kernel
