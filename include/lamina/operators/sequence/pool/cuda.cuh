// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/pool/cuda.cuh - sequence_pool, which pools the rows of each sequence
// into one row.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/operators/sequence/cuda.cuh>
#include <lamina/operators/sequence/pool/common.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct sequence_pool_lines {
  using arguments = sequence_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const argument_view& x = a.in[0];
    const int begin = a.all.begin(s), end = a.all.end(s), n = a.columns.divisor();
    const float factor = end > begin ? pool_factor(a.type, end - begin) : 0;
    float* const to = a.out[0].row<float>(s);
    std::int32_t* const index = a.out[1] ? a.out[1].row<std::int32_t>(s) : nullptr;
    for (int j = team.rank(); j < n; j += team.size()) {
      float value = a.pad;
      int from = -1;
      if (begin < end && a.type == pooling_type::max) {
        from = begin;
        value = x.row<const float>(begin)[j];
        for (int r = begin + 1; r < end; ++r) {
          const float v = x.row<const float>(r)[j];
          const bool more = math::is_above(v, value);
          from = more ? r : from;
          value = more ? v : value;
        }
      } else if (begin < end && (a.type == pooling_type::first || a.type == pooling_type::last)) {
        value = x.row<const float>(a.type == pooling_type::first ? begin : end - 1)[j];
      } else if (begin < end) {
        double sum = 0;
        for (int r = begin; r < end; ++r) sum += static_cast<double>(x.row<const float>(r)[j]);
        value = static_cast<float>(sum) * factor;
      }
      to[j] = value;
      if (index != nullptr) index[j] = from;
    }
  }
};

struct sequence_pool_grad_lines {
  using arguments = sequence_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s), end = a.all.end(s);
    const float factor = end > begin ? pool_factor(a.type, end - begin) : 0;
    const float* const grad = a.in[2].row<const float>(s);
    const std::int32_t* const index =
        a.type == pooling_type::max ? a.in[1].row<const std::int32_t>(s) : nullptr;
    for (int i = team.rank(); i < (end - begin) * a.columns.divisor(); i += team.size()) {
      int j = i;
      const int r = begin + a.columns.divide(j);
      const bool receives = index != nullptr                ? index[j] == r
                            : a.type == pooling_type::first ? r == begin
                            : a.type == pooling_type::last  ? r == end - 1
                                                            : true;
      a.out[0].row<float>(r)[j] = receives ? grad[j] * factor : 0.0f;
    }
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::sequence_pool> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0);
    require_float(c, x);
    detail::sequence_arguments a{};
    a.in[0] = view_of_operand(x);
    a.out[0] = c.out(0);
    a.out[1] = c.out(1);
    a.type = sequence_pool_of(c);
    a.pad = static_cast<float>(c.number(1));
    detail::run_sequences<detail::sequence_pool_lines>(b, c, a, x.domain, x);
  }
};
template <>
struct call_kernel<gradient_of<operators::sequence_pool>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand dx = c.output(0);
    if (!dx) return;
    detail::sequence_arguments a{};
    for (int i = 0; i < 3; ++i) a.in[i] = c.in(i);
    a.out[0] = view_of_operand(dx);
    a.type = sequence_pool_of(c);
    detail::run_sequences<detail::sequence_pool_grad_lines>(b, c, a, dx.domain, dx);
  }
};

}}}  // namespace lamina::engine::cuda
