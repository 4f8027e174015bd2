// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pointwise_evaluation.hpp - evaluates pointwise definitions on arrays.
//
// These functions are not in pointwise.hpp, because every schema refers to them, but only the
// reference executor calls them: a program that does not include this header need not compile them.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <utility>

#include <lamina/operators/pointwise.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

template <class Op, int K, class T, std::size_t... Index>
void evaluate_output(std::int64_t count, const T* const* argument, const int* stride, T* out,
                     std::index_sequence<Index...>) {
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = pointwise_value<Op, K>(argument[Index][i * stride[Index]]...);
}

template <class Op, class T>
void evaluate_pointwise(int output, std::int64_t count, const T* const* argument, const int* stride,
                        T* out) {
  using arguments =
      std::make_index_sequence<Op::inputs.size() + static_cast<std::size_t>(scalars_of<Op>)>;
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    ((static_cast<int>(K) == output
          ? evaluate_output<Op, static_cast<int>(K)>(count, argument, stride, out, arguments{})
          : void()),
     ...);
  }
  (std::make_index_sequence<Op::outputs.size()>{});
}

}}}  // namespace lamina::detail
