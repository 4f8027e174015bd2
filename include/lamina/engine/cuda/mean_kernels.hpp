// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/mean_kernels.hpp - sums over all elements, and their mean.
#pragma once

#include <cstdint>
#include <limits>

#include <lamina/engine/cuda/part_copy.hpp>
#include <lamina/operators/mean.hpp>

namespace lamina::engine::cuda {

namespace detail {

/// A kernel of one number for all elements of X: one team adds something of each up, in double.
struct whole_sum_kernel {
  static void prepare(const call_site& c, call_arguments& a) {
    c.set_arrays(a, 1, 1);
    require_float(c, c.input(0));
    a.lines = 1;
    constexpr int most = std::numeric_limits<int>::max();
    const std::int64_t all = elements_of(a.in[0]);
    a.width = all < most ? static_cast<int>(all) : most;
  }

 protected:
  static LAMINA_FN std::int64_t elements_of(const argument_view& x) {
    return static_cast<std::int64_t>(x.rows) * x.columns;
  }
  /// The sum of f(element), which the first thread of the team has.
  template <class Team, class F>
  static LAMINA_INLINE LAMINA_FN double total_of(const argument_view& x, const Team& team,
                                                 const F& f) {
    const std::int64_t all = elements_of(x);
    double sum = 0;
    for (std::int64_t i = team.rank(); i < all; i += team.size())
      sum += f(
          static_cast<double>(x.row<const float>(static_cast<int>(i / x.columns))[i % x.columns]));
    return sum_of(team, sum);
  }
};

}  // namespace detail

template <>
struct call_kernel<mean> : detail::whole_sum_kernel {
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int, const Team& team) {
    const double total = total_of(a.in[0], team, [](double x) { return x; });
    const std::int64_t all = elements_of(a.in[0]);
    if (team.rank() == 0)
      store_number(a.out[0].data, a.out[0].type, 0,
                   all > 0 ? total / static_cast<double>(all) : 0.0);
  }
};

}  // namespace lamina::engine::cuda
