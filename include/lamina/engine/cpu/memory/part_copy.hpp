// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/memory/part_copy.hpp - copies and sums between parts of arrays with arbitrary
// strides.
#pragma once

#include <lamina/core/config.hpp>

#include <cstring>

#include <lamina/engine/common/part_layout.hpp>
#include <lamina/engine/cpu/vector/long_sums.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {
inline loop_nest<2> nest_of(int rank, const std::ptrdiff_t* extent, const array_part& from,
                            const array_part& to) {
  loop_nest<2> loops;
  for (int d = 0; d < rank; ++d) loops.add(extent[d], from.step[d], to.step[d]);
  return loops;
}
}  // namespace detail

/// to = from, for extent[d] elements along each dimension d. Along a dimension whose stride in
/// `from` is 0, all elements of `to` are set to the same element.
inline void copy_part(dtype type, int rank, const std::ptrdiff_t* extent, const array_part& from,
                      const array_part& to) {
  const loop_nest<2> loops = detail::nest_of(rank, extent, from, to);
  with_word(type, [&]<class T>(T) {
    const T* source = static_cast<const T*>(from.data) + from.offset;
    T* target = static_cast<T*>(to.data) + to.offset;
    const std::ptrdiff_t s = loops.inner_step(0), t = loops.inner_step(1);
    loops.run([&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
      const T* a = source + at[0];
      T* b = target + at[1];
      if (s == 1 && t == 1)
        std::memcpy(b, a, static_cast<std::size_t>(n) * sizeof(T));
      else
        for (std::ptrdiff_t i = 0; i < n; ++i) b[i * t] = a[i * s];
    });
  });
}

/// to += from, element by element; both have the element type Real. Along a dimension whose stride
/// in `to` is 0, the elements of `from` are first summed in double.
template <class Real>
inline void add_part(int rank, const std::ptrdiff_t* extent, const array_part& from,
                     const array_part& to) {
  loop_nest<2> kept, over;
  for (int d = 0; d < rank; ++d)
    (to.step[d] == 0 ? over : kept).add(extent[d], from.step[d], to.step[d]);
  const Real* const source = static_cast<const Real*>(from.data) + from.offset;
  Real* const target = static_cast<Real*>(to.data) + to.offset;
  const std::ptrdiff_t t = kept.inner_step(1);
  detail::sum_over(kept, over, source, [=](const std::ptrdiff_t* at, std::ptrdiff_t k, double sum) {
    Real& y = target[at[1] + k * t];
    y = static_cast<Real>(static_cast<double>(y) + sum);
  });
}

}}}  // namespace lamina::engine::cpu
